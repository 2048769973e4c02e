/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block: the part that all modelled components share: a name in the tree
 * ("host0.hca.mtt_cache"), declared parameters, counters, trace points and gauges
 * (sim/gauge.h). Each of these is one list at the head of the block's header. The struct, the
 * YAML key, the help text, the report and the trace file derive from that list.
 *
 */
#ifndef SIM_BLOCK_H
#define SIM_BLOCK_H

#include <stdio.h>

#include "hcasim/plugin.h"
#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* X(field, unit, meaning) */
#define COUNTER_FIELD(field, unit, meaning)  uint64_t field;
#define COUNTER_ENTRY(field, unit, meaning)  {#field, unit, meaning},
/* X(POINT, first, second, meaning): `first` and `second` name the two values of a trace record */
#define TRACE_ENUM(point, first, second, meaning)  TRACE_##point,
#define TRACE_ENTRY(point, first, second, meaning) {#point, first, second, meaning},
/* clang-format on */

/* A section of a composite's parameters (an HCA has pcie, port, scheduler ...), which is a
 * sub-map in YAML. A list of sections ends with a NULL name. */
struct param_section {
	const char *name;
	const struct param *list;
	size_t offset; /* of the section's struct in the struct of the composite */
	const char *meaning;
};

struct block;
struct gauge; /* sim/gauge.h */
struct gauge_info;
struct fold;  /* sim/fold.h */
struct carry; /* sim/carry.h */

struct block_type {
	const char *name;
	const struct param *params; /* each list ends with an entry whose name is NULL */
	const struct counter *counters;
	const struct trace_point *trace_points;
	const struct gauge_info *gauges; /* NULL if the type has no gauges */
	/* Checks the block's conservation rules (items received = items sent + items held),
	 * which hold at any time. Writes a line to `out` for each violation, through
	 * block_equal(). NULL if the block has no rules. */
	void (*check)(struct block *block, FILE *out);
	/* Checks laws of sim/audit.h that the gauges alone do not express, such as busy =
	 * completions x service. Writes a line to `out` for each violation. NULL if there are
	 * none. */
	void (*audit)(struct block *block, FILE *out);
	/* Brings the gauges up to date before they are read. NULL if they are always up to date. */
	void (*settle)(struct block *block);
	/* Adds the block's state to the state of the whole run (sim/fold.h). NULL if the state
	 * cannot be compared with the state at another time. */
	void (*fold)(struct block *block, struct fold *fold);
	/* Carries the state that results read, beside counters and gauges, to another process of
	 * the run: sim_share(). NULL if there is none. */
	void (*carry)(struct block *block, struct carry *carry);
};

struct trace_file;

struct block {
	/* read by each event: half a cache line */
	struct sim *sim;
	struct trace_file *trace; /* NULL while the block is not traced */
	/* private to the engines: order of the next event that the block schedules */
	uint64_t next_order;
	/* the origin in the total order of events; the same in every run of a scenario */
	uint32_t id;
	/* read seldom */
	const struct block_type *type;
	const char *name;       /* full path; owned by the block */
	const void *params;     /* the block's params struct, or NULL */
	const uint64_t *counts; /* the block's counters struct, or NULL */
	struct gauge *gauges;   /* the block's gauges struct, or NULL */
	struct block *next;     /* the run's blocks, in order of creation */
	struct block *previous;
	uint32_t violations; /* number of violations that check() and the audit found */
	/* true: no work of the run waits for this block, as for the port of an analyser */
	bool aside;
};

/* Adds the block to the run. `name` is copied and must be unique within the run. `params` and
 * `counts` remain the caller's and outlive the block. Call block_fini() before sim_destroy(). */
void block_init(struct block *block, struct sim *sim, const struct block_type *type,
		const char *name, const void *params, const void *counts);
void block_fini(struct block *block);

/* Attaches the block's gauges struct, whose members follow the order of the type's list. Call
 * it after block_init(). */
void block_gauges(struct block *block, struct gauge *gauges);

/* Checks and audits all blocks of a run, and writes a line to `out` for each violation. Returns
 * the number of violations. */
unsigned blocks_check(struct sim *sim, FILE *out);

/* Compares two figures for check(). If they differ, records a violation of the rule that `what`
 * names and writes it to `out`. */
void block_equal(struct block *block, FILE *out, const char *what, uint64_t one, uint64_t other);

/* Returns the run's first block; its `next` member leads to the others. Returns NULL if the run
 * has none. */
struct block *sim_blocks(const struct sim *sim);

/* Writes one trace record: (time, block, point, tag, first, second). The tag follows one WQE
 * through all blocks. Call trace() instead, which does nothing for untraced blocks. */
void trace_write(struct block *block, unsigned point, uint64_t tag, uint64_t first,
		 uint64_t second);

static inline void trace(struct block *block, unsigned point, uint64_t tag, uint64_t first,
			 uint64_t second)
{
	if (__builtin_expect(block->trace != NULL, 0))
		trace_write(block, point, tag, first, second);
}

const char *param_kind_name(enum param_kind kind); /* returns "TIME" */
const char *param_kind_unit(enum param_kind kind); /* returns "a time: ps, ns, us, ms, s" */

/* Returns true for SIZES and CYCLE, whose values may be lists in YAML. */
bool param_is_list(enum param_kind kind);

/* Size of a text that holds any value that param_print() writes. */
#define PARAM_TEXT_BYTES 1024

/* Fills a params struct with the defaults of the list. Aborts if a default does not parse,
 * which is an error in the list. */
void params_default(const struct param *list, void *params);

/* Parses one value as a user writes it. Returns false on failure and writes the expected values to
 * `error`. */
bool param_parse(const struct param *param, const char *text, void *params, char *error,
		 size_t error_bytes);

/* Copies one value between two params structs of the list. */
void param_copy(const struct param *param, const void *from, void *to);

/* Writes the value as a user would write it, for the effective configuration. */
void param_print(const struct param *param, const void *params, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
