/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold: the state of a whole run at one time, as bytes that do not depend on that time. Two folds
 * with the same bytes are two states from which the run goes on in the same way. The run then
 * repeats what happened between the two, as long as it gets the same input.
 *
 *     blocks --block_type.fold()--> fold_raw(), fold_deadline() ... --> bytes
 *     counters, gauges -----------> fold_sum() ----------------------> sums
 *
 * State that behaviour depends on goes into the bytes. Statistics are sums, which behaviour must
 * not depend on. fold_repeat() adds to them what further repetitions would have added.
 *
 * A block folds its struct as a whole: fold_struct() compares each byte that no field excludes. A
 * new member of a struct is therefore compared until its block says what it means. What a pointer
 * leads to is not compared: its block folds it, or refuses. Pending events are folded by the
 * engine, all of them. A block whose type has no function fold() makes the state incomparable.
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
	FOLD_SKIP,     /* no state, or folded by itself */
	FOLD_DEADLINE, /* sim_time: only whether it has passed, and its distance if not */
	FOLD_SINCE,    /* sim_time: its distance, whether it has passed or not */
};

struct fold_field {
	size_t offset, bytes;
	enum fold_kind kind;
};

/* Describes a member, which for times may be an array. */
#define FOLD_FIELD(type, member, kind)                                    \
	{                                                                 \
		offsetof(type, member), sizeof(((type *)0)->member), kind \
	}

/* Folds the run's state now. Replaces an earlier fold. Returns false if it is not comparable;
 * fold->reason then says why. `like`: ends with the first block that differs from that fold, whose
 * name is then in fold->differs. NULL: folds all blocks. */
bool fold_take(struct fold *fold, struct sim *sim, const struct fold *like);
void fold_fini(struct fold *fold);

/* Returns true if two folds are the same, byte by byte. Otherwise writes the name of the first
 * block that differs to other->differs. Both must be comparable. */
bool fold_equal(const struct fold *one, struct fold *other);

/* Adds to all sums, and to the gauges, `times` times the difference of two equal folds of the run,
 * and advances its clock by as many periods. No event may be pending. */
void fold_repeat(const struct fold *first, const struct fold *second, struct sim *sim,
		 uint64_t times);

/* For block_type.fold(). */
void fold_raw(struct fold *fold, const void *object, size_t bytes);
void fold_number(struct fold *fold, uint64_t number);
void fold_deadline(struct fold *fold, sim_time at); /* SIM_NEVER: no time */
void fold_since(struct fold *fold, sim_time at);    /* SIM_NEVER: no time */
void fold_sum(struct fold *fold, uint64_t *total, uint64_t value);

/* Folds an object. `fields` are in the order of their offsets. */
void fold_struct(struct fold *fold, const void *object, size_t bytes,
		 const struct fold_field *fields, size_t count);

/* Says why the state is not comparable. The first reason remains. */
void fold_refuse(struct fold *fold, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a type whose blocks have no state beside counters and gauges. */
void fold_nothing(struct block *block, struct fold *fold);

#endif
