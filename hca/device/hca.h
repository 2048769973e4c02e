/*
 * hca: one host channel adapter with one port, as its driver sees it: doorbell (UAR) pages in a BAR, and a
 * command interface that creates the objects whose rings the driver's user-space half fills.
 *
 *     emulated kernel --commands--> hca <--UAR writes-- program (or a YAML workload's driver)
 *           ^-- events (EQ) ---------'
 *
 * Ring, WQE, CQE and doorbell formats are those of the ConnectX family (mlx5): device/wqe.h, device/cqe.h.
 * Calls return 0 or a negative errno: -EINVAL for a number that nothing has, or an attribute that is none of those its
 * struct allows; -ENOMEM where the adapter has as many as its parameters say (device.qps, cqs, srqs, regions). Commands take effect at the instant of the call; what they cost in time is
 * the caller's to add (params.command_latency).
 */
#ifndef HCA_DEVICE_HCA_H
#define HCA_DEVICE_HCA_H

#include "fabric/port.h"
#include "hca/context/mr_table.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

struct hca;
struct llc;
struct hca_params; /* hca/device/hca_params.h: gathers the lists of all blocks of the adapter */

/* QP_DCR, a responder context of DC, is the adapter's own: no driver makes one. */
enum qp_type { QP_RC, QP_UC, QP_UD, QP_XRC_INI, QP_XRC_TGT, QP_GSI, QP_DCI, QP_DCT, QP_DCR };
enum qp_state {
	STATE_RESET,
	STATE_INIT,
	STATE_RTR,
	STATE_RTS,
	STATE_SQD,
	STATE_SQE,
	STATE_ERR
}; /* verbs' order */

enum hca_async {                 /* what async_event() reports */
		 ASYNC_CQ_ERROR, /* overrun; number: CQN */
		 ASYNC_QP_FATAL, /* number: QPN, as in all QP events */
		 ASYNC_QP_REQUEST_ERROR,
		 ASYNC_QP_ACCESS_ERROR,
		 ASYNC_COMM_ESTABLISHED,
		 ASYNC_SQ_DRAINED,
		 ASYNC_PATH_MIGRATED,
		 ASYNC_LAST_WQE_REACHED,
		 ASYNC_SRQ_LIMIT, /* number: SRQN */
		 ASYNC_SRQ_ERROR,
		 ASYNC_PORT_ACTIVE, /* number: 1 */
		 ASYNC_PORT_ERROR,
};

/* The driver. Called from an event, at the instant the interrupt reaches the CPU; the driver's block outlives the HCA. */
struct hca_driver {
	void (*completion_event)(struct hca_driver *driver, uint32_t cqn);
	void (*async_event)(struct hca_driver *driver, enum hca_async what, uint32_t number);
};

/* May CQEs that are alike be written as one with an array of mini-CQEs? What the first word of these is for receives: nothing (a hash
 * that there is not), or the stride of a multi-packet WQE. */
enum hca_cq_compress { CQ_PLAIN, CQ_MINI_HASH, CQ_MINI_STRIDE };

struct hca_cq_attr {
	struct memory *memory;
	uint64_t buffer;          /* address of the first CQE */
	uint64_t doorbell_record; /* address of two 32-bit words: consumer index, arm */
	/* A power of two; every CQE of a fresh buffer has owner bit 1, opcode 0xf. */
	uint32_t entries;
	uint32_t cqe_bytes; /* 64 or 128 */
	bool ignore_overrun;
	enum hca_cq_compress compress; /* CQEs of 64 bytes */
};

/* Fields of a CQ's context on ConnectX: 16 bits, and 12 bits of a microsecond each. */
#define HCA_MODERATION_COUNT_MAX  UINT16_MAX
#define HCA_MODERATION_PERIOD_MAX (4095 * US)

struct hca_srq_attr {
	struct memory *memory;
	uint64_t buffer;
	uint64_t doorbell_record;
	uint32_t entries; /* a power of two; linked by next_wqe_index in each WQE's first segment */
	uint32_t stride_bytes;
	uint32_t pd;
	uint32_t limit;
	bool xrc;
	uint32_t xrcd, cqn;  /* XRC */
	uint32_t user_index; /* XRC: goes into CQEs (CQE version 1) in the place of the QP's */
};

struct hca_qp_attr { /* fixed at creation */
	enum qp_type type;
	struct memory *memory;
	uint64_t rq_buffer, sq_buffer; /* addresses */
	uint64_t doorbell_record;      /* address of two 32-bit words: RQ counter, SQ counter */
	uint32_t rq_entries;           /* a power of two; 0: none, or SRQ */
	uint32_t rq_stride_bytes;
	/* UD: multi-packet receive WQEs: the memory of each is so many strides of so many bytes, and a packet takes as many as
	 * it needs; 0: a WQE a packet. */
	uint32_t packet_strides, packet_stride_bytes;
	uint32_t sq_blocks; /* a power of two, of 64 bytes; 0: none */
	uint32_t pd, send_cqn, recv_cqn;
	uint32_t srqn; /* 0: none */
	uint32_t xrcd;
	uint64_t dc_key;     /* DCT: what initiators must name to be let in */
	uint32_t user_index; /* goes into CQEs (CQE version 1) */
	bool signal_all;     /* every send WQE completes with a CQE */
	/* What is short enough goes into the CQE and not to memory: SENDs received (UD: needs CQEs of 128 bytes), and
	 * responses to READs and atomics that have a CQE. */
	bool receives_to_cqe, responses_to_cqe;
	uint32_t max_inline_bytes;
};

/* What modify_qp changes; one bit per field in `mask`, named like the field. */
enum hca_qp_mask {
	QP_SET_STATE = 1 << 0,
	QP_SET_PATH = 1 << 1,
	QP_SET_DEST_QP = 1 << 2,
	QP_SET_MTU = 1 << 3,
	QP_SET_RQ_PSN = 1 << 4,
	QP_SET_SQ_PSN = 1 << 5,
	QP_SET_ACCESS = 1 << 6,
	QP_SET_QKEY = 1 << 7,
	QP_SET_PKEY = 1 << 8,
	QP_SET_TIMEOUT = 1 << 9,
	QP_SET_RETRY = 1 << 10,
	QP_SET_RNR_RETRY = 1 << 11,
	QP_SET_MIN_RNR_TIMER = 1 << 12,
	QP_SET_MAX_RD_ATOMIC = 1 << 13,
	QP_SET_MAX_DEST_RD_ATOMIC = 1 << 14,
	QP_SET_RATE_LIMIT = 1 << 15,
};

struct hca_qp_state {
	uint32_t mask; /* enum hca_qp_mask */
	enum qp_state state;
	const struct path *path;
	uint32_t dest_qp;
	uint32_t mtu_bytes;
	uint32_t rq_psn, sq_psn;
	uint32_t access; /* enum mr_access bits the responder grants */
	uint32_t qkey;
	uint16_t pkey;
	uint8_t timeout;   /* local ACK timeout = 4.096 us << timeout; 0: never */
	uint8_t retry;     /* 0..7 */
	uint8_t rnr_retry; /* 0..7; 7: for ever */
	uint8_t min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint64_t rate_limit_bps; /* 0: none */
};

/* What an address vector of a UD or DC WQE leads to: asked at the WQE's execution. NULL: unreachable. */
struct hca_resolver {
	/* DCT: where ways back to initiators are interned; NULL: no DCT can be made. */
	struct paths *paths;
	/* Fills in *path from a 48-byte mlx5 address vector and the port's own addresses, and interns it. */
	const struct path *(*resolve)(struct hca_resolver *resolver,
				      const uint8_t address_vector[48]);
};

/* Who follows connected queue pairs beside their driver, as studies do: told from within events, and changes nothing. */
struct hca_watcher {
	/* A packet is handed to the port. */
	void (*sent)(struct hca_watcher *watcher, const struct packet *packet);
	/* The message of that PSN, a WRITE or SEND to this queue pair, is all visible in memory. */
	void (*delivered)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
	/* What this queue pair has sent before that PSN is acknowledged, or answered. */
	void (*acknowledged)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
};

/* NULL: nobody. */
void hca_set_watcher(struct hca *hca, struct hca_watcher *watcher);

/* What congestion control says of a connected queue pair, and has heard. */
struct hca_qp_congestion {
	uint64_t rate_bps; /* the line rate: no limit */
	uint32_t cnps;     /* that it was sent; InfiniBand: with BECNs */
	uint32_t marks;    /* marked packets that came to it */
};
struct hca_qp_congestion hca_qp_congestion(struct hca *hca, uint32_t qpn);

/* An adapter with a port that is not linked yet, and all its blocks, whose names begin with `name`. The parameters are copied; pool,
 * driver and resolver outlive it. Destroyed with nothing under way. */
struct hca *hca_create(struct sim *sim, const char *name, const struct hca_params *params,
		       enum link_layer link_layer, struct packet_pool *pool,
		       struct hca_driver *driver, struct hca_resolver *resolver);
void hca_destroy(struct hca *hca);
struct port *hca_port(struct hca *hca);
const struct hca_params *hca_params(const struct hca *hca);

/* Of its host, for what its CPUs use; NULL: none is modelled. */
struct llc *hca_llc(const struct hca *hca);

/* A CPU's store to the UAR BAR leaves the core now. offset: page << 12 | offset in the page. At most 64 bytes. */
void hca_uar_write(struct hca *hca, uint64_t offset, const void *bytes, uint32_t length);
/* A program of the host ran until then, by its clock. */
void hca_host_ran(struct hca *hca, sim_time until);
/* The HCA has not got a store sooner than that. */
sim_time hca_uar_delay(const struct hca *hca);

/* Where in the BAR the clock is: 64 bits, big endian (core_clock.h). Only it can be loaded; what else is loaded is 0. */
#define HCA_CLOCK_AT UINT64_C(0x1000)
/* A CPU's load from the BAR begins now: read->offset, length and done. The caller owns it until done(), or cancels it. */
void hca_load(struct hca *hca, struct pcie_mmio_read *read);

/* *mr is copied (hca/context/mr_table.h); *key out: its L_Key and R_Key. -ENOMEM also for an on-demand region above 1 TiB. */
int hca_mr_create(struct hca *hca, const struct mr *mr, uint32_t *key);
/* Another protection domain, other rights; the key stays. */
int hca_mr_modify(struct hca *hca, uint32_t key, uint32_t pd, uint32_t access);
/* Pages of an on-demand region, before the HCA needs them; *latency: until they are there. -EFAULT: not within the region. */
int hca_mr_prefetch(struct hca *hca, uint32_t key, uint64_t address, uint64_t length,
		    sim_time *latency);
/* A window's key may be the one that it was created with, though it was bound since. */
int hca_mr_destroy(struct hca *hca, uint32_t key);
/* NULL: no region has that key now. */
struct mr *hca_mr_find(struct hca *hca, uint32_t key);

/* *attr is copied; what it points to, and the memory of its rings, outlives the object: so with all that are created. */
int hca_cq_create(struct hca *hca, const struct hca_cq_attr *attr, uint32_t *cqn);
/* Entries and bytes as in struct hca_cq_attr, buffer in the same memory. -EINVAL also where unread CQEs have no room. */
int hca_cq_resize(struct hca *hca, uint32_t cqn, uint64_t buffer, uint32_t entries,
		  uint32_t cqe_bytes);
/* An event stands for so many completions, or for what came within the period; 0 of either: for one. */
int hca_cq_moderate(struct hca *hca, uint32_t cqn, uint32_t count, sim_time period);
int hca_cq_destroy(struct hca *hca, uint32_t cqn);

/* ASYNC_SRQ_LIMIT comes once, when fewer WQEs than the limit are left; 0: never. */
int hca_srq_create(struct hca *hca, const struct hca_srq_attr *attr, uint32_t *srqn);
int hca_srq_arm(struct hca *hca, uint32_t srqn, uint32_t limit);
int hca_srq_query(struct hca *hca, uint32_t srqn, uint32_t *limit);
int hca_srq_destroy(struct hca *hca, uint32_t srqn);

/* *qpn in: 0: the HCA chooses, 1: the port's GSI QP; -EBUSY: there is one, or any other number. */
int hca_qp_create(struct hca *hca, const struct hca_qp_attr *attr, uint32_t *qpn);
/* Which fields which transition needs is for the caller to have checked (kernel/qp_transition.h). */
int hca_qp_modify(struct hca *hca, uint32_t qpn, const struct hca_qp_state *state);
int hca_qp_query(struct hca *hca, uint32_t qpn, struct hca_qp_state *state); /* fills all fields */
int hca_qp_destroy(struct hca *hca, uint32_t qpn);

/* A UD queue pair gets what comes to that GID, in network order; detach: -EINVAL if it did not. */
int hca_multicast_attach(struct hca *hca, uint32_t qpn, const uint8_t gid[16]);
int hca_multicast_detach(struct hca *hca, uint32_t qpn, const uint8_t gid[16]);

/* Packets dropped so far as their P_Key or Q_Key is not their queue pair's. */
uint64_t hca_pkey_violations(const struct hca *hca);
uint64_t hca_qkey_violations(const struct hca *hca);

#endif
