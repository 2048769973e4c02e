/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca: one host channel adapter with one port, as its driver sees it. It has doorbell (UAR) pages
 * in a BAR, and a command interface that creates queues and regions. The driver's user-space part
 * writes to the rings of the queues.
 *
 *     emulated kernel --commands--> hca <--UAR writes-- program (or a YAML workload's driver)
 *           ^-- events (EQ) ---------'
 *
 * Rings, WQEs, CQEs and doorbells have the formats of the ConnectX family (mlx5): hca/formats/.
 * Commands return 0 or a negative errno. -EINVAL: the number names no object, or an attribute has a
 * value that its struct does not allow. -ENOMEM: the limit of the parameters is reached
 * (device.qps, cqs, srqs, regions). Commands take effect during the call. The caller adds their
 * time (device.command_latency).
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
struct hca_params; /* hca/device/hca_params.h: the parameters of all blocks */

/* Sets the observer of connected queue pairs, or removes it if `watcher` is NULL. */
void hca_set_watcher(struct hca *hca, struct hca_watcher *watcher);

/* State of congestion control of a connected queue pair. */
struct hca_qp_congestion {
	uint64_t rate_bps;       /* current rate; the line rate if there is no limit */
	uint64_t cwnd_bytes;     /* congestion window; CWND_UNLIMITED: no limit */
	uint64_t inflight_bytes; /* payload of requests that was sent and is not acknowledged */
	sim_time rtt;            /* round-trip time of the latest ACK with one; 0: none so far */
	uint32_t cnps;           /* CNPs received; on InfiniBand, packets with BECN */
	uint32_t marks;          /* marked packets received */
};
struct hca_qp_congestion hca_qp_congestion(struct hca *hca, uint32_t qpn);

/* Progress of a queue pair. `expected` is the responder's next PSN, by the packets that have
 * arrived at the adapter. `unacked` is the first PSN that is not acknowledged or complete. */
struct hca_qp_psns {
	bool known; /* the queue pair exists */
	uint32_t expected, unacked;
};
struct hca_qp_psns hca_qp_psns(const struct hca *hca, uint32_t qpn);

/* Creates an adapter and all of its blocks, whose names begin with `name`. Its port is not linked
 * yet. Copies `params`. `pool`, `driver` and `resolver` must outlive the adapter. hca_destroy()
 * requires that nothing is in progress. */
struct hca *hca_create(struct sim *sim, const char *name, const struct hca_params *params,
		       enum link_layer link_layer, struct packet_pool *pool,
		       struct hca_driver *driver, struct address_resolver *resolver);
void hca_destroy(struct hca *hca);

/* Sets the end points of the fabric, from which congestion control computes the round trip of an
 * empty path. Call it before the first queue pair is created. Otherwise, with base_rtt auto, that
 * time is CONGESTION_RTT_UNKNOWN. */
struct endpoints;
void hca_set_endpoints(struct hca *hca, const struct endpoints *endpoints);
struct port *hca_port(struct hca *hca);

/* Creates the network device of an Ethernet adapter (hca/port/netdev.h), before the first packet.
 * The adapter owns the device. The user must outlive it. */
struct netdev;
struct netdev_user;
struct netdev *hca_create_netdev(struct hca *hca, struct netdev_user *user, uint64_t ring_bytes);
const struct hca_params *hca_params(const struct hca *hca);

/* Returns the iWARP engine, or NULL if the adapter's driver is another. */
struct rnic;
struct rnic *hca_rnic(const struct hca *hca);

/* Returns the last-level cache of the host for accesses of its CPUs, or NULL if none is
 * modelled. */
struct llc *hca_llc(const struct hca *hca);

/* Sends a CPU's store of at most 64 bytes to the UAR BAR. It leaves the core now. `offset` is page
 * << 12 | offset within the page. */
void hca_uar_write(struct hca *hca, uint64_t offset, const void *bytes, uint32_t length);
/* Returns the number of loopback messages whose sender received the ACK before their data left for
 * memory. */
uint64_t hca_acked_before_data(const struct hca *hca);
/* Returns false if a core must wait with its store, because earlier stores are not accepted. Writes
 * the time of the next check to *ask_at. */
bool hca_uar_has_room(struct hca *hca, sim_time *ask_at);
/* Reports that a program of the host ran until `until`, by its own clock. */
void hca_host_ran(struct hca *hca, sim_time until);
/* Returns the minimum time until a store arrives at the HCA. */
sim_time hca_uar_delay(const struct hca *hca);

/* Starts a CPU's load from the BAR with read->offset, length and done. Only the clock can be loaded
 * (hca/host/core_clock.h); other offsets read as 0. The caller owns the load until done(), or
 * cancels it. */
void hca_load(struct hca *hca, struct pcie_mmio_read *read);

/* Creates a memory region (hca/context/mr_table.h). Copies *mr. Writes its L_Key and R_Key to *key.
 * Also returns -ENOMEM for an on-demand region above 1 TiB. */
int hca_mr_create(struct hca *hca, const struct mr *mr, uint32_t *key);
/* Changes the protection domain and rights of a region. The key stays the same. */
int hca_mr_modify(struct hca *hca, uint32_t key, uint32_t pd, uint32_t access);
/* Starts to bring in pages of an on-demand region before the HCA needs them. Writes the time until
 * they are present to *latency. Returns -EFAULT if the range is not within the region. */
int hca_mr_prefetch(struct hca *hca, uint32_t key, uint64_t address, uint64_t length,
		    sim_time *latency);
/* Removes a region or window. The key of a window may be the key before it was bound. */
int hca_mr_destroy(struct hca *hca, uint32_t key);
/* Returns the region or window with this key, or NULL if there is none. */
struct mr *hca_mr_find(struct hca *hca, uint32_t key);

/* Creates a completion queue. Copies *attr. The memory of its rings, and everything that *attr
 * points to, must outlive the object. This applies to all objects. */
int hca_cq_create(struct hca *hca, const struct hca_cq_attr *attr, uint32_t *cqn);
/* Moves a CQ to a new buffer in the same memory. Entries and bytes are as in struct hca_cq_attr.
 * Also returns -EINVAL if the unread CQEs do not fit. */
int hca_cq_resize(struct hca *hca, uint32_t cqn, uint64_t buffer, uint32_t entries,
		  uint32_t cqe_bytes);
/* Sets moderation: an event reports `count` completions, or the completions within `period`. If
 * either is 0, each completion has its own event. */
int hca_cq_moderate(struct hca *hca, uint32_t cqn, uint32_t count, sim_time period);
int hca_cq_destroy(struct hca *hca, uint32_t cqn);

/* Creates a shared receive queue. ASYNC_SRQ_LIMIT is reported once, when fewer WQEs than the limit
 * are left. A limit of 0 disables it. */
int hca_srq_create(struct hca *hca, const struct hca_srq_attr *attr, uint32_t *srqn);
int hca_srq_arm(struct hca *hca, uint32_t srqn, uint32_t limit);
int hca_srq_query(struct hca *hca, uint32_t srqn, uint32_t *limit);
int hca_srq_destroy(struct hca *hca, uint32_t srqn);

/* Creates a queue pair. *qpn is 0 if the HCA chooses the number, or 1 for the port's GSI QP.
 * Returns -EBUSY for other numbers, and if the GSI QP exists. */
int hca_qp_create(struct hca *hca, const struct hca_qp_attr *attr, uint32_t *qpn);
/* Modifies a queue pair. The caller must have checked the fields that the transition requires
 * (kernel/qp_transition.h). */
int hca_qp_modify(struct hca *hca, uint32_t qpn, const struct hca_qp_state *state);
int hca_qp_query(struct hca *hca, uint32_t qpn, struct hca_qp_state *state); /* fills all fields */
int hca_qp_destroy(struct hca *hca, uint32_t qpn);

/* Attach a UD queue pair to a multicast GID in network byte order, and detach it.
 * hca_multicast_detach() returns -EINVAL if it was not attached. */
int hca_multicast_attach(struct hca *hca, uint32_t qpn, const uint8_t gid[16]);
int hca_multicast_detach(struct hca *hca, uint32_t qpn, const uint8_t gid[16]);

/* Return the number of packets dropped because their P_Key or Q_Key differs from their queue
 * pair's. */
uint64_t hca_pkey_violations(const struct hca *hca);
uint64_t hca_qkey_violations(const struct hca *hca);

#endif
