/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch_module: the interface of the plan of WQE fetch. The plan determines the number of
 * blocks per read, and the time at which WQEs that arrived are parsed. The adapter manages the
 * reads, their order and the slots. The built-in plan (wqe_fetch_plan.c) and modules of shared
 * objects implement the same table.
 *
 *     doorbell, requester, PCIe --> wqe_fetch --read_blocks(), parse_at(), parse_count()--> plan
 *
 * The plan responds within the call, and changes nothing. `now` is the time of the models. Times
 * are absolute.
 */
#ifndef HCA_WORK_WQE_FETCH_MODULE_H
#define HCA_WORK_WQE_FETCH_MODULE_H

#include "hca/module/module.h"
#include "hca/work/wqe_fetch_params.h"
#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A send queue, as the plan sees it. Indices count blocks of 64 bytes and do not wrap at the end of
 * the ring. */
struct wqe_fetch_view {
	uint32_t qpn;
	uint32_t ring_blocks; /* size of the ring, a power of two */
	uint32_t producer;    /* index after the last block posted */
	uint32_t requested;   /* index after the last block read or being read */
	uint32_t parsed;      /* index after the last block parsed */
	uint32_t staged;      /* blocks from `parsed` on that have arrived */
	uint32_t reads;       /* reads in flight */
	uint32_t room;        /* maximum number of blocks of a read now */
	bool stored;          /* the blocks came with their doorbell */
	sim_time *next;       /* private to the plan, one value per queue; 0 at first */
};

struct wqe_fetch_setup {
	const char *name; /* name of the block: "host0.hca.wqe_fetch" */
	const struct wqe_fetch_params *params;
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_wqe_fetch_module. */
struct wqe_fetch_module {
	struct module_head head;
	/* Returns true if the module supports these parameters. Otherwise writes the reason to
	 * `error`. NULL if the module supports all parameters. */
	bool (*accepts)(const struct wqe_fetch_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct wqe_fetch_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	/* Returns the number of blocks of the next read, which starts at `requested`. The result is
	 * at most `room`. Returns 0 to read nothing until the queue changes; a block must then be
	 * staged or in flight. */
	uint32_t (*read_blocks)(void *module, const struct wqe_fetch_view *queue, sim_time now);
	/* Returns the time at which WQEs are parsed, now or later. `again` is true after a parse
	 * that left WQEs. */
	sim_time (*parse_at)(void *module, const struct wqe_fetch_view *queue, bool again,
			     sim_time now);
	/* Returns the maximum number of WQEs to parse now, 1 or more. */
	uint32_t (*parse_count)(void *module, const struct wqe_fetch_view *queue, sim_time now);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

extern const struct wqe_fetch_module wqe_fetch_plan; /* the built-in plan */

#ifdef __cplusplus
}
#endif
#endif
