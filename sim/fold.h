/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold: the state of a whole run at one time, as bytes that do not depend on that time. If two
 * folds have the same bytes, the run continues from both states in the same way. It then repeats
 * all events between the two folds, as long as its input is the same.
 *
 *     blocks --block_type.fold()--> fold_raw(), fold_deadline() ... --> bytes
 *     counters, gauges -----------> fold_sum() ----------------------> sums
 *
 * The bytes hold all state that affects behaviour. Statistics are sums, which must not affect
 * behaviour. fold_repeat() adds the increase of further repetitions to these sums.
 *
 * A block folds its struct as a whole: fold_struct() compares each byte that no field excludes. A
 * new member of a struct is therefore compared until its block describes it by a field. The target
 * of a pointer is not compared: the block of the target folds it, or refuses. The engine folds all
 * pending events. A block whose type has no function fold() makes the state incomparable.
 *
 * Only for runs in one thread with the engine native, between two events.
 */
#ifndef SIM_FOLD_H
#define SIM_FOLD_H

#include "sim/gauge.h"

#define FOLD_REASON_BYTES 200

struct fold_sum {
	uint64_t *total; /* where repetitions are added */
	uint64_t value;
};

struct fold_mark { /* begin of a block's bytes */
	const char *name;
	size_t begin;
};

struct fold { /* all zero: empty */
	sim_time at;
	unsigned char *bytes;
	size_t count, room;
	struct fold_sum *sums;
	size_t sum_count, sum_room;
	struct fold_mark *marks;
	size_t mark_count, mark_room;
	char reason[FOLD_REASON_BYTES]; /* empty: the state is comparable */
	const char *differs;            /* name of the first block that differs, or NULL */
};

/* Meaning of a member that fold_struct() does not compare byte by byte. */
enum fold_kind {
	FOLD_SKIP,     /* no state, or folded separately */
	FOLD_DEADLINE, /* sim_time: whether it has passed; if not, the time until then */
	FOLD_SINCE,    /* sim_time: its distance from now, in either direction */
};

struct fold_field {
	size_t offset, bytes;
	enum fold_kind kind;
};

/* Describes a member. A time may also be an array of times. */
#define FOLD_FIELD(type, member, kind)                                    \
	{                                                                 \
		offsetof(type, member), sizeof(((type *)0)->member), kind \
	}

/* Folds the run's state now. Replaces an earlier fold. Returns false if the state is not
 * comparable, and writes the reason to fold->reason. With `like`, stops at the first block that
 * differs from that fold, and writes its name to fold->differs. If `like` is NULL, folds all
 * blocks. */
bool fold_take(struct fold *fold, struct sim *sim, const struct fold *like);
void fold_fini(struct fold *fold);

/* Returns true if two folds are the same, byte by byte. Otherwise writes the name of the first
 * block that differs to other->differs. Both must be comparable. */
bool fold_equal(const struct fold *one, struct fold *other);

/* Adds `times` times the difference of two equal folds to all sums and gauges of the run. Advances
 * the clock of the run by that number of periods. No event may be pending. */
void fold_repeat(const struct fold *first, const struct fold *second, struct sim *sim,
		 uint64_t times);

/* block_type.fold() calls these functions. */
void fold_raw(struct fold *fold, const void *object, size_t bytes);
void fold_number(struct fold *fold, uint64_t number);
void fold_deadline(struct fold *fold, sim_time at); /* SIM_NEVER: no time */
void fold_since(struct fold *fold, sim_time at);    /* SIM_NEVER: no time */
void fold_sum(struct fold *fold, uint64_t *total, uint64_t value);

/* Folds an object. `fields` are in the order of their offsets. */
void fold_struct(struct fold *fold, const void *object, size_t bytes,
		 const struct fold_field *fields, size_t count);

/* Records why the state is not comparable. Keeps only the first reason. */
void fold_refuse(struct fold *fold, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a type whose blocks have no state beside counters and gauges. */
void fold_nothing(struct block *block, struct fold *fold);

#endif
