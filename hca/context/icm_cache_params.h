/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icm_cache_params: what a cache of context entries is made of. One list gives all caches of the
 * adapter their parameters; CONTEXT_KINDS gives each cache its defaults.
 *
 * ICM (interconnect context memory) is the host memory that an adapter of this family keeps its
 * contexts in: QPC, CQC, SRQC, RDMA read context, MPT, MTT.
 */
#ifndef HCA_CONTEXT_ICM_CACHE_PARAMS_H
#define HCA_CONTEXT_ICM_CACHE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
/* write back: a queue changes its context by use; regions and pages change by command only */
/*        KIND       name       entries  ways  bytes   misses  write back  source of entries and bytes */
#define CONTEXT_KINDS(X)                                                                                                     \
	X(REQUESTER, requester, "1024",  "4",  "192B", "16", "true",   "assumed: half of the 375 B of Kalia (thesis) and Storm, in their 2 MB of SRAM") \
	X(RESPONDER, responder, "4096",  "4",  "183B", "16", "true",   "assumed: the other part of the 375 B; measured to thrash later (ScaleRPC fig. 1b)") \
	X(CQ,        cq,        "1024",  "4",  "64B",  "8", "true",    "mlx5_ifc cqc: 512 bits; entries assumed")                    \
	X(SRQ,       srq,       "256",   "4",  "64B",  "8", "true",    "mlx5_ifc srqc: 512 bits; entries assumed")                   \
	X(READS,     reads,     "1024",  "4",  "32B", "8", "true",     "mlx4 driver: rdmarc entries of 32 B; entries assumed")       \
	X(MPT,       mpt,       "2048",  "4",  "64B",  "16", "false",   "mlx5_ifc mkc: 512 bits; entries assumed")                    \
	X(MTT,       mtt,       "2048",  "4",  "8B",   "16", "false",   "mlx5_ifc mtt: 64 bits; 2 K entries: RDMA over Commodity Ethernet at Scale, 4.4")

#define CONTEXT_KIND_ENUM(KIND, name, ...) CONTEXT_##KIND,
enum context_kind { CONTEXT_KINDS(CONTEXT_KIND_ENUM) CONTEXT_KIND_COUNT };

#define ICM_CACHE_PARAMS(X, entries_default, ways_default, bytes_default, mshrs_default, write_back_default, origin)                              \
	X(entries,     COUNT,  entries_default, "1..4194304",  "entries in the cache, a multiple of ways", origin)           \
	X(ways,        COUNT,  ways_default,    "1..65536",    "entries that compete for one place",       "assumed: usual")     \
	X(replacement, CHOICE, "lru",           "lru|random",  "which entry of a full set goes",           "assumed: usual")     \
	X(entry_bytes, BYTES,  bytes_default,   "1B..4096B",   "what a miss reads of one entry",           origin)               \
	X(line_entries, COUNT, "1",             "1..64",       "neighbours that a miss fetches together",  "assumed: one")       \
	X(reads,       COUNT,  "1",             "1..4",        "PCIe reads of a miss, one after the other: of where the entry is, then of the entry", "assumed: one") \
	X(hit_latency, TIME,   "4ns",           "1ps..1ms",    "from lookup, or from fill, to the response", "assumed: 2 cycles of SRAM at 500 MHz") \
	X(interval,    TIME,   "0ns",           "0ps..1ms",    "at least, between two responses",            "assumed: one a cycle is never the limit") \
	X(mshrs,       COUNT,  mshrs_default,  "1..1024",     "misses in flight; further ones wait, in order", "assumed: that of a small CAM")  \
	X(write_back,  FLAG,   write_back_default, "",         "an entry that goes is written to host memory",  "assumed: kept on the chip only, until then")
/* clang-format on */

enum icm_replacement { ICM_REPLACE_LRU, ICM_REPLACE_RANDOM }; /* as the choices above */

struct icm_cache_params {
	ICM_CACHE_PARAMS(PARAM_FIELD, "", "", "", "", "", "")
};

/* icm_requester_param_list, icm_responder_param_list, icm_cq_param_list ... */
#define ICM_PARAM_LIST(KIND, name, ...) extern const struct param icm_##name##_param_list[];
CONTEXT_KINDS(ICM_PARAM_LIST)

#endif
