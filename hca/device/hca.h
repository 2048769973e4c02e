/* SPDX-License-Identifier: Apache-2.0 */
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
#include "hca/formats/contexts.h"
#include "hca/formats/services.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

struct hca;
struct llc;
struct hca_params; /* hca/device/hca_params.h: gathers the lists of all blocks of the adapter */

/* NULL: nobody. */
void hca_set_watcher(struct hca *hca, struct hca_watcher *watcher);

/* What congestion control says of a connected queue pair, and has heard. */
struct hca_qp_congestion {
	uint64_t rate_bps; /* the line rate: no limit */
	uint32_t cnps;     /* that it was sent; InfiniBand: with BECNs */
	uint32_t marks;    /* marked packets that came to it */
};
struct hca_qp_congestion hca_qp_congestion(struct hca *hca, uint32_t qpn);

/* How far a queue pair is: as a responder, by the packets that have come to its adapter, and as a requester whose requests were
 * acknowledged or complete. */
struct hca_qp_psns {
	bool known; /* there is such a queue pair */
	uint32_t expected, unacked;
};
struct hca_qp_psns hca_qp_psns(const struct hca *hca, uint32_t qpn);

/* An adapter with a port that is not linked yet, and all its blocks, whose names begin with `name`. The parameters are copied; pool,
 * driver and address resolver outlive it. Destroyed with nothing under way. */
struct hca *hca_create(struct sim *sim, const char *name, const struct hca_params *params,
		       enum link_layer link_layer, struct packet_pool *pool,
		       struct hca_driver *driver, struct address_resolver *resolver);
void hca_destroy(struct hca *hca);

/* Who is on the fabric, and how they are joined: what congestion control takes for the delay of an empty path. Before the first queue
 * pair; without it, and with base_rtt auto, that is CONGESTION_RTT_UNKNOWN. */
struct endpoints;
void hca_set_endpoints(struct hca *hca, const struct endpoints *endpoints);
struct port *hca_port(struct hca *hca);
const struct hca_params *hca_params(const struct hca *hca);

/* Of its host, for what its CPUs use; NULL: none is modelled. */
struct llc *hca_llc(const struct hca *hca);

/* A CPU's store to the UAR BAR leaves the core now. offset: page << 12 | offset in the page. At most 64 bytes. */
void hca_uar_write(struct hca *hca, uint64_t offset, const void *bytes, uint32_t length);
/* Messages over loopback whose sender had its ACK before their data were on their way to memory. */
uint64_t hca_acked_before_data(const struct hca *hca);
/* Returns false if a core has to wait with its store, since those before it are not taken; *ask_at is when to ask again. */
bool hca_uar_has_room(struct hca *hca, sim_time *ask_at);
/* A program of the host ran until then, by its clock. */
void hca_host_ran(struct hca *hca, sim_time until);
/* The HCA has not got a store sooner than that. */
sim_time hca_uar_delay(const struct hca *hca);

/* The clock alone can be loaded (hca/host/core_clock.h). Another offset loads 0. */
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
