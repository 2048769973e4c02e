/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: parameters with a unit, a range, a meaning and a source. A list of parameters is written
 * once. The struct, the keys of scenarios, their checks and the help text come from it.
 *
 *     #define LINK_PARAMS(X) \
 *             X(rate, RATE, "100Gbps", "1Mbps..3.2Tbps", "Data rate after encoding.", "choice")
 *     struct link_params { LINK_PARAMS(PARAM_FIELD) };
 *     #define ROW(...) PARAM_ROW(struct link_params, __VA_ARGS__)      (in link.c)
 *     static const struct param link_param_list[] = { LINK_PARAMS(ROW) { 0 } };
 */
#ifndef INCLUDE_HCASIM_PARAMS_H
#define INCLUDE_HCASIM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hcasim/time.h"

/* A text parameter. The text is held by value, so that a params struct is copied as a whole. */
struct param_text {
	char text[256];
};

#define PARAM_SIZES_MAX 32

struct param_sizes {
	uint64_t bytes[PARAM_SIZES_MAX];
	uint32_t count;
};

/* clang-format off */
/* Kind, C type, unit written in YAML. Values are kept in ps, bytes, bits/s, Hz or metres, and a
 * CHOICE as its index. A CYCLE has one size or more. */
#define PARAM_KINDS(X) \
	X(COUNT,  uint64_t,  "a whole number") \
	X(TIME,   sim_time,  "a time: ps, ns, us, ms, s") \
	X(BYTES,  uint64_t,  "a size: B, KiB, MiB, GiB, KB, MB, GB") \
	X(RATE,   uint64_t,  "a rate: bps, Kbps, Mbps, Gbps, Tbps") \
	X(FREQ,   uint64_t,  "a frequency: Hz, KHz, MHz, GHz") \
	X(METRES, double,    "a length: m, cm, km") \
	X(RATIO,  double,    "a number, or a percentage with %") \
	X(FLAG,   bool,      "true or false") \
	X(CHOICE, uint32_t,  "one of the names in the range, a|b|c") \
	X(TEXT,   struct param_text, "a name or a path of at most 255 letters, or \"\" for none") \
	X(SIZES,  struct param_sizes, "a list of at most 32 sizes: [128B, 64KiB]") \
	X(CYCLE,  struct param_sizes, "a size, or a list of at most 32 sizes: [64B, 64KiB]")

#define PARAM_KIND_ENUM(kind, type, unit) PARAM_##kind,
enum param_kind { PARAM_KINDS(PARAM_KIND_ENUM) PARAM_KIND_COUNT };

#define PARAM_KIND_TYPE(kind, type, unit) typedef type param_type_##kind;
PARAM_KINDS(PARAM_KIND_TYPE)

/* X(field, KIND, default, range, meaning, source): the texts are written as in YAML. A range is
 * "low..high" (either bound may be absent) or the allowed values "a|b|c", which CHOICE
 * requires. "" sets no range. The source names a document, or is "calibrated: rows", "assumed:
 * why", or "choice" for a value that the user decides. */
#define PARAM_FIELD(field, kind, default_text, range, meaning, source) param_type_##kind field;
#define PARAM_ROW(owner, field, kind, default_text, range, meaning, source) \
	{#field, PARAM_##kind, offsetof(owner, field), default_text, range, meaning, source},
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

#endif
