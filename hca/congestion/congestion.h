/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion: the algorithms of include/hcasim/congestion.h for callers: their list, their
 * parameters, and calls into them.
 *
 *     name --congestion_init()--> struct congestion --congestion_on_ack() ...--> algorithm
 *
 * congestion_list() holds the built-in algorithms. A name with a slash is a shared object. A
 * program that links libhcasim may attach algorithms of its own by congestion_attach().
 * A caller that reads the rate or the window calls congestion_settle() first.
 */
#ifndef HCA_CONGESTION_CONGESTION_H
#define HCA_CONGESTION_CONGESTION_H

#include "hcasim/congestion.h"
#include "sim/block.h"

/* An algorithm with its parameters, shared by all flows that run it. */
struct congestion {
	const struct congestion_ops *ops;
	void *params;  /* owned */
	void *library; /* owned; NULL: not from a shared object */
	bool guarded;  /* ops and params are a guard's (guard.h) */
};

/*
 * Initialises an algorithm with default parameters. `name` is a name of congestion_list() or the
 * path of a shared object. Returns false on failure and writes the reason to `error`.
 */
bool congestion_init(struct congestion *congestion, const char *name, char *error,
		     size_t error_bytes);
void congestion_fini(struct congestion *congestion);

/* Sets one parameter from its text. Returns false on failure and writes the reason to `error`. */
bool congestion_set(struct congestion *congestion, const char *name, const char *value, char *error,
		    size_t error_bytes);

#define CONGESTION_NAME_BYTES 256

/* The user's choice. A zeroed struct holds no choice. Copies share the algorithm's parameters. */
struct congestion_choice {
	char name[CONGESTION_NAME_BYTES]; /* name of a preset or an algorithm, or a file */
	struct congestion congestion;     /* ops is NULL without a choice */
};

/*
 * Replaces the choice. Returns false on failure, writes the reason to `error` and keeps the
 * previous choice.
 */
bool congestion_choose(struct congestion_choice *choice, const char *name, char *error,
		       size_t error_bytes);
void congestion_choice_fini(struct congestion_choice *choice);

/*
 * Returns the packets of a message between two ACK requests. The result is `wanted` unless `wanted`
 * is 0. Otherwise it follows from the algorithm's ack_bytes(). It is ACK_INTERVAL for an algorithm
 * that does not depend on ACKs, and without an algorithm (ops NULL).
 */
#define ACK_INTERVAL 64
uint32_t congestion_ack_interval(const struct congestion *congestion, uint64_t wanted,
				 uint64_t mtu_bytes);

/* A published set of values, by name ("dcqcn-paper"): the algorithm and its parameters. */
struct congestion_preset {
	const char *name;
	const char *algorithm;
	const char *source;
	const struct congestion_value {
		const char *name, *value;
	} * values; /* ends with a NULL name */
};

/*
 * Offers algorithms, in a list that ends with NULL, to congestion_init() in this thread. They are
 * found by their names after the built-in ones. NULL means none.
 */
void congestion_attach(const struct congestion_ops *const *list);

/* Returns true if the table fits this version and no built-in algorithm has its name. Writes the
 * reason to `error` if not. */
bool congestion_fits(const struct congestion_ops *ops, char *error, size_t error_bytes);

const struct congestion_ops *const *congestion_list(void);           /* ends with NULL */
const struct congestion_preset *congestion_presets(void);            /* ends with a NULL name */
const struct congestion_preset *congestion_preset(const char *name); /* NULL: unknown name */

/* Advances rate and window to `now`. */
static inline void congestion_settle(const struct congestion *congestion, struct cc_state *cc,
				     sim_time now)
{
	if (cc->next_step <= now)
		congestion->ops->step(cc, congestion->params, now);
}

/*
 * Report an event to the algorithm, after the flow is advanced to `now`. Each returns the rate
 * before the event.
 */
uint64_t congestion_on_ack(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			   const struct congestion_ack *ack);
uint64_t congestion_on_cnp(const struct congestion *congestion, struct cc_state *cc, sim_time now);
uint64_t congestion_on_loss(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			    enum congestion_loss loss);

#define CC_STATE_BYTES_MAX 1024

/*
 * Returns the time at which `bytes` are transmitted at the flow's rate, starting at `since`, if
 * only the algorithm's own timers change the rate. Does not modify the flow.
 */
sim_time congestion_paid_at(const struct congestion *congestion, const struct cc_state *cc,
			    sim_time since, uint64_t bytes);

#endif
