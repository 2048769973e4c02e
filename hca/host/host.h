/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: the host behind the root complex: IOMMU, last-level cache, memory and the other socket. It
 * computes the time at which an access is done. pcie.c moves the bytes at that time (pcie.h).
 *
 *     pcie --host_translate()--> iommu
 *          --host_use()--> [link between sockets] --> llc --> memory --> jitter
 *                      --> [link between sockets] --> known()
 *
 * An access requests each shared unit in an event at the time of its arrival. Later accesses
 * therefore never delay earlier ones. All times add to the latencies of the root complex in
 * pcie_params.h, which include a cache hit.
 */
#ifndef HCA_HOST_HOST_H
#define HCA_HOST_HOST_H

#include "hca/host/host_params.h"
#include "hca/host/iommu.h"
#include "hca/host/llc.h"
#include "sim/gauge.h"
#include "sim/sim.h"

struct host;

/* clang-format off */
#define HOST_COUNTERS(X) \
	X(reads, "TLPs", "read requests") \
	X(writes, "TLPs", "memory writes") \
	X(remote, "TLPs", "read requests and memory writes to the memory of the other socket") \
	X(tails, "TLPs", "read requests and memory writes delayed by tail_share") \
	X(wait_time, "ps", "total time beyond a hit of the cache")

#define HOST_GAUGES(X) \
	X(to_socket, BUSY, "bytes", \
	  "link to the memory of the other socket: writes and read requests") \
	X(from_socket, BUSY, "bytes", "link from the memory of the other socket: read data")
/* clang-format on */

struct host_counters {
	HOST_COUNTERS(COUNTER_FIELD)
};

struct host_gauges {
	HOST_GAUGES(GAUGE_FIELD)
};

/* Creates a host with the blocks NAME.numa, NAME.llc and NAME.iommu. */
struct host *host_create(struct sim *sim, const char *name, const struct host_params *params);
void host_destroy(struct host *host);

/* One TLP at the root complex. The caller owns it and must not change it until known(). */
struct host_access {
	uint64_t address;
	uint32_t length;
	bool is_write;
	/*
	 * Reports the time at which the data is read or written, now or later. The host calls this
	 * function once, in host_use() or in a later event.
	 */
	void (*known)(struct host_access *access, sim_time done_at);
	/* the rest is private to host.c */
	struct host *host;
	struct event event;
	sim_time asked_at;
};

/*
 * Translates the address of a TLP that is at the root complex now. Returns the time at which the
 * translation is complete.
 */
sim_time host_translate(struct host *host, uint64_t address, bool is_write);

/*
 * Starts the memory access of a TLP now. The TLP must be translated and must have no other TLP to
 * wait for.
 */
void host_use(struct host *host, struct host_access *access);
/* Cancels an access. Does nothing if the access is not in progress. */
void host_access_cancel(struct host_access *access);

struct llc *host_llc(struct host *host);
/* Returns the host's IOMMU, or NULL if addresses are not translated. */
struct iommu *host_iommu(struct host *host);
const struct host_counters *host_counters(const struct host *host);

#endif
