/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: what is behind the root complex, between pcie.c and the bytes of struct memory: IOMMU, last level cache, memory, the
 * other socket. It tells when an access is done; the bytes move then (pcie.h).
 *
 *     pcie --host_translate()--> iommu
 *          --host_use()--> [link between sockets] --> llc --> memory --> jitter --> [link between sockets] --> known()
 *
 * Each shared unit is asked when the access is there, in an event of the access: no access for the future delays one of now.
 *
 * All times come on top of the latencies of the root complex in pcie_params.h, which hold a hit of the cache.
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

/* Its blocks are NAME.place, NAME.llc and NAME.iommu. */
struct host *host_create(struct sim *sim, const char *name, const struct host_params *params);
void host_destroy(struct host *host);

/* One TLP at the root complex. The caller owns it and leaves it alone until known(). */
struct host_access {
	uint64_t address;
	uint32_t length;
	bool is_write;
	/* Called once, in host_use() or in a later event: the data is read, or written, at `done_at`, which is not the past. */
	void (*known)(struct host_access *access, sim_time done_at);
	/* the rest is private to host.c */
	struct host *host;
	struct event event;
	sim_time asked_at;
};

/* A TLP is at the root complex now. Returns the time at which its address is translated. */
sim_time host_translate(struct host *host, uint64_t address);

/* The TLP is translated and all that it has to wait for is done: it goes to memory now. */
void host_use(struct host *host, struct host_access *access);
/* Nothing if it is not under way. */
void host_access_cancel(struct host_access *access);

struct llc *host_llc(struct host *host);
struct iommu *host_iommu(struct host *host); /* NULL: addresses are not translated */
const struct host_counters *host_counters(const struct host *host);

#endif
