/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icm_cache_params: parameters of one cache of context entries. ICM_CACHE_PARAMS holds the
 * parameters of every cache. CONTEXT_KINDS holds the default values of each cache.
 *
 * ICM (interconnect context memory) is the host memory in which an adapter of this family stores
 * its contexts: QPC, CQC, SRQC, RDMA read context, MPT, MTT.
 */
#ifndef HCA_CONTEXT_ICM_CACHE_PARAMS_H
#define HCA_CONTEXT_ICM_CACHE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
/*
 * X(KIND, name, entries, ways, bytes of an entry, MSHRs, write back, source of entries and bytes).
 * Queues change their contexts by use, so these caches write back. Only commands change regions and
 * pages.
 */
#define CONTEXT_KINDS(X) \
	X(REQUESTER, requester, "1024", "4", "192B", "16", "true", \
	  "assumed: half of the 375 B of Kalia (thesis) and Storm, in their 2 MB of SRAM") \
	X(RESPONDER, responder, "4096", "4", "183B", "16", "true", \
	  "assumed: the other part of the 375 B; measured to thrash later (ScaleRPC fig. 1b)") \
	X(CQ, cq, "1024", "4", "64B", "8", "true", \
	  "mlx5_ifc cqc: 512 bits; entries assumed") \
	X(SRQ, srq, "256", "4", "64B", "8", "true", \
	  "mlx5_ifc srqc: 512 bits; entries assumed") \
	X(READS, reads, "1024", "4", "32B", "8", "true", \
	  "mlx4 driver: rdmarc entries of 32 B; entries assumed") \
	X(MPT, mpt, "2048", "4", "64B", "16", "false", \
	  "mlx5_ifc mkc: 512 bits; entries assumed") \
	X(MTT, mtt, "2048", "4", "8B", "16", "false", \
	  "mlx5_ifc mtt: 64 bits; 2 K entries: RDMA over Commodity Ethernet at Scale, 4.4")

#define CONTEXT_KIND_ENUM(KIND, name, ...) CONTEXT_##KIND,
enum context_kind { CONTEXT_KINDS(CONTEXT_KIND_ENUM) CONTEXT_KIND_COUNT };

#define ICM_CACHE_PARAMS(X, entries_default, ways_default, bytes_default, mshrs_default, \
			 write_back_default, origin) \
	X(entries, COUNT, entries_default, "1..4194304", \
	  "Number of entries in the cache, a multiple of ways.", \
	  origin) \
	X(ways, COUNT, ways_default, "1..65536", \
	  "Entries per set (associativity).", \
	  "assumed: usual") \
	X(replacement, CHOICE, "lru", "lru|random", \
	  "Entry of a full set that is replaced: the least recently used, or a random one.", \
	  "assumed: usual") \
	X(entry_bytes, BYTES, bytes_default, "1B..4096B", \
	  "Bytes that a miss reads per entry.", \
	  origin) \
	X(line_entries, COUNT, "1", "1..64", \
	  "Adjacent entries that one miss reads together.", \
	  "assumed: one") \
	X(reads, COUNT, "1", "1..4", \
	  "Dependent PCIe reads of a miss. The earlier reads return the address of the entry, " \
	  "the last one returns the entry.", \
	  "assumed: one") \
	X(hit_latency, TIME, "4ns", "1ps..1ms", \
	  "Time from a lookup, or from the fill after a miss, to the response.", \
	  "assumed: 2 cycles of SRAM at 500 MHz") \
	X(interval, TIME, "0ns", "0ps..1ms", \
	  "Minimum time between two responses of the cache.", \
	  "assumed: one a cycle is never the limit") \
	X(mshrs, COUNT, mshrs_default, "1..1024", \
	  "Misses that may be in flight. Further misses wait in order.", \
	  "assumed: value for a small CAM") \
	X(write_back, FLAG, write_back_default, "", \
	  "Write a replaced entry back to host memory. `false`: drop a replaced entry.", \
	  "assumed: changes stay on the chip until the replacement") \
	X(second_entries, COUNT, "0", "0..4194304", \
	  "Number of entries of a second-level cache, which serves the misses of this one, a " \
	  "multiple of ways. `0`: no second level.", \
	  "choice") \
	X(second_latency, TIME, "20ns", "1ps..1ms", \
	  "Time from a lookup in the second-level cache, or from its fill, to its response.", \
	  "assumed: 10 cycles of a large SRAM at 500 MHz")
/* clang-format on */

enum icm_replacement { ICM_REPLACE_LRU, ICM_REPLACE_RANDOM }; /* in the order of the list */

struct icm_cache_params {
	ICM_CACHE_PARAMS(PARAM_FIELD, "", "", "", "", "", "")
};

/* Declares icm_cache_requester_param_list, icm_cache_responder_param_list and so on. */
#define ICM_PARAM_LIST(KIND, name, ...) extern const struct param icm_cache_##name##_param_list[];
CONTEXT_KINDS(ICM_PARAM_LIST)

#endif
