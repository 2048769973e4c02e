/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block: what every modeled part has: a name in the tree ("host0.hca.mtt_cache"), declared parameters,
 * counters, trace points and gauges (sim/gauge.h). Each is one list at the head of the block's header; the struct, the YAML key,
 * the help text, the report and the trace file all derive from that list.
 *
 *     #define LINK_PARAMS(X)                                                                            \
 *             X(rate, RATE, "100Gbps", "1Mbps..3.2Tbps", "data rate after encoding", "IBTA vol.2 5.3")
 *     struct link_params { LINK_PARAMS(PARAM_FIELD) };
 *     #define ROW(...) PARAM_ROW(struct link_params, __VA_ARGS__)      (in link.c)
 *     static const struct param link_param_list[] = { LINK_PARAMS(ROW) { 0 } };
 */
#ifndef SIM_BLOCK_H
#define SIM_BLOCK_H

#include <stdio.h>

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By value, so that a params struct is copied as a whole. */
struct param_text {
	char text[256];
};

#define PARAM_SIZES_MAX 32

struct param_sizes {
	uint64_t bytes[PARAM_SIZES_MAX];
	uint32_t count;
};

/* clang-format off */
/*        kind    C type,    unit written in YAML; kept in ps, bytes, bits/s, Hz, metres, a CHOICE as its index */
#define PARAM_KINDS(X)                                                                                    \
	X(COUNT,  uint64_t,  "a whole number")                                                            \
	X(TIME,   sim_time,  "a time: ps, ns, us, ms, s")                                                 \
	X(BYTES,  uint64_t,  "a size: B, KiB, MiB, GiB, KB, MB, GB")                                      \
	X(RATE,   uint64_t,  "a rate: bps, Kbps, Mbps, Gbps, Tbps")                                       \
	X(FREQ,   uint64_t,  "a frequency: Hz, KHz, MHz, GHz")                                             \
	X(METRES, double,    "a length: m, cm, km")                                                       \
	X(RATIO,  double,    "a number, or a percentage with %")                                          \
	X(FLAG,   bool,      "true or false")                                                             \
	X(CHOICE, uint32_t,  "one of the names in the range, a|b|c")                                      \
	X(TEXT,   struct param_text, "a name or a path of at most 255 letters, or nothing")               \
	X(SIZES,  struct param_sizes, "a list of at most 32 sizes: [128B, 64KiB]")

#define PARAM_KIND_ENUM(kind, type, unit) PARAM_##kind,
enum param_kind { PARAM_KINDS(PARAM_KIND_ENUM) PARAM_KIND_COUNT };

#define PARAM_KIND_TYPE(kind, type, unit) typedef type param_type_##kind;
PARAM_KINDS(PARAM_KIND_TYPE)

/* X(field, KIND, default, range, meaning, source): the texts are as a user would write them in YAML. A range
 * is "low..high" (either may be missing) or the allowed values "a|b|c", which CHOICE must have; "" sets none. The
 * source names a document, or "calibrated: rows", "assumed: why", "choice" where it is the user's to say. */
#define PARAM_FIELD(field, kind, default_text, range, meaning, source) param_type_##kind field;
#define PARAM_ROW(owner, field, kind, default_text, range, meaning, source)                                    \
	{#field, PARAM_##kind, offsetof(owner, field), default_text, range, meaning, source},
/* X(field, unit, meaning) */
#define COUNTER_FIELD(field, unit, meaning)  uint64_t field;
#define COUNTER_ENTRY(field, unit, meaning)  {#field, unit, meaning},
/* X(POINT, first, second, meaning): names of the two values that a trace record carries */
#define TRACE_ENUM(point, first, second, meaning)  TRACE_##point,
#define TRACE_ENTRY(point, first, second, meaning) {#point, first, second, meaning},
/* clang-format on */

struct param {
	const char *name;
	enum param_kind kind;
	size_t offset; /* in the block's params struct */
	const char *default_text;
	const char *range;
	const char *meaning;
	const char *source;
};

/* The lists of a composite (an HCA has pcie, port, scheduler ...), each a sub-map in YAML. Ends with a NULL name. */
struct param_section {
	const char *name;
	const struct param *list;
	size_t offset; /* of that block's params struct in the composite's */
	const char *meaning;
};

struct counter {
	const char *name;
	const char *unit;
	const char *meaning;
};

struct trace_point {
	const char *name;
	const char *first;
	const char *second;
	const char *meaning;
};

struct block;
struct gauge; /* sim/gauge.h */
struct gauge_info;

struct block_type {
	const char *name;
	const struct param *params; /* each list ends with an entry whose name is NULL */
	const struct counter *counters;
	const struct trace_point *trace_points;
	const struct gauge_info *gauges; /* NULL: none */
	/* Does what must hold at any instant hold: what came in left, or is still there? Each violation is a line on `out`,
	 * by block_equal(). NULL: nothing to check. */
	void (*check)(struct block *block, FILE *out);
	/* Do the laws of sim/audit.h hold that the gauges alone do not tell, such as busy = completions x service? As
	 * check(). NULL: none. */
	void (*audit)(struct block *block, FILE *out);
	void (*settle)(
		struct block *block); /* brings gauges up to date for a reader; NULL: they are */
};

struct trace_file;

struct block {
	/* what each event looks at: half of a cache line */
	struct sim *sim;
	struct trace_file *trace; /* NULL while this block is not traced */
	uint64_t next_order;      /* private to the engines: order of the next event it schedules */
	uint32_t id; /* the origin in the total order; the same in every run of a scenario */
	/* the rest */
	const struct block_type *type;
	const char *name;       /* full path; owned by the block */
	const void *params;     /* the block's params struct, NULL: none */
	const uint64_t *counts; /* the block's counters struct, NULL: none */
	struct gauge *gauges;   /* the block's gauges struct, NULL: none */
	struct block *next;     /* the run's blocks, in order of creation */
	struct block *previous;
	uint32_t violations; /* that check() and the audit found */
};

/* Enters the block in the run; it leaves before sim_destroy(). params and counts stay the caller's and
 * outlive the block. Names are unique within a run. */
void block_init(struct block *block, struct sim *sim, const struct block_type *type,
		const char *name, const void *params, const void *counts);
void block_fini(struct block *block);

/* The block's struct of gauges, in the order of its type's list; behind block_init(). */
void block_gauges(struct block *block, struct gauge *gauges);

/* Checks and audits all blocks of a run. Returns how many violations there are. */
unsigned blocks_check(struct sim *sim, FILE *out);

/* For check(): the two must be equal, or it is a violation of the rule that `what` names. */
void block_equal(struct block *block, FILE *out, const char *what, uint64_t one, uint64_t other);

/* First of the run's blocks; follow ->next. */
struct block *sim_blocks(const struct sim *sim);

/* One trace record: (time, block, point, tag, first, second). The tag follows one WQE through all blocks. */
void trace_write(struct block *block, unsigned point, uint64_t tag, uint64_t first,
		 uint64_t second);

static inline void trace(struct block *block, unsigned point, uint64_t tag, uint64_t first,
			 uint64_t second)
{
	if (__builtin_expect(block->trace != NULL, 0))
		trace_write(block, point, tag, first, second);
}

const char *param_kind_name(enum param_kind kind); /* "TIME" */
const char *param_kind_unit(enum param_kind kind); /* "a time: ps, ns, us, ms, s" */

/* Fills a params struct with the defaults of the list. A default that does not parse is our mistake: abort. */
void params_default(const struct param *list, void *params);

/* Parses one value as a user writes it. false: *error (static or owned by the caller's buffer) says what was expected. */
bool param_parse(const struct param *param, const char *text, void *params, char *error,
		 size_t error_bytes);

/* Writes the value as a user would write it, for the effective configuration. */
void param_print(const struct param *param, const void *params, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
