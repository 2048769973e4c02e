/*
 * host: what is behind the root complex, between pcie.c and the bytes of struct memory: IOMMU, last level cache, memory, the
 * other socket. It says when an access is done; the bytes move then (pcie.h).
 *
 *     pcie --host_read(), host_write()--> jitter --> iommu --> llc --> memory, here or at the other socket
 *
 * All times come on top of the latencies of the root complex in pcie_params.h, which hold a hit of the cache.
 */
#ifndef HCA_HOST_HOST_H
#define HCA_HOST_HOST_H

#include "hca/host/host_params.h"
#include "hca/host/iommu.h"
#include "hca/host/llc.h"
#include "sim/gauge.h"

struct host;

/* clang-format off */
#define HOST_COUNTERS(X)                                                                                      \
	X(reads,         "TLPs", "read requests")                                                               \
	X(writes,        "TLPs", "memory writes")                                                               \
	X(remote,        "TLPs", "of both, to the memory of the other socket")                                  \
	X(tails,         "TLPs", "of both, that took much longer")                                              \
	X(wait_time,     "ps",   "that all took longer than a hit of the cache")

#define HOST_GAUGES(X)                                                                                        \
	X(to_socket,   SERVER, "bytes", "the link to the memory of the other socket: what is written, requests") \
	X(from_socket, SERVER, "bytes", "the link from it: what is read")
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

/* One TLP at the root complex at `arrival`, never earlier than the one before: when its data is read, or written.
 * accepted: when its address was translated and it left the root complex's queue. */
sim_time host_read(struct host *host, uint64_t address, uint32_t length, sim_time arrival,
		   sim_time *accepted);
sim_time host_write(struct host *host, uint64_t address, uint32_t length, sim_time arrival);

struct llc *host_llc(struct host *host);
struct iommu *host_iommu(struct host *host); /* NULL: addresses are not translated */
const struct host_counters *host_counters(const struct host *host);

#endif
