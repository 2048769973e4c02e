/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: see guard.h. The functions of the interface get the algorithm's parameters, so the guard stands in front of these in
 * memory, and needs no other way to find the plug-in.
 */
#include "hca/congestion/guard.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/foreign.h"

struct guard {
	struct congestion_ops ops; /* for callers */
	const struct congestion_ops *plugin;
	char name[CONGESTION_NAME_BYTES + 64]; /* in messages */
	_Alignas(16) unsigned char params[];
};

/* How often step() has been called beyond its share, by this thread. */
static _Thread_local unsigned steps;

static void grant_steps(void)
{
	steps -= steps < GUARD_STEPS_EACH ? steps : GUARD_STEPS_EACH;
}

static const struct guard *guard_of(const void *params)
{
	return (const struct guard *)(const void *)((const char *)params -
						    offsetof(struct guard, params));
}

static void check_rate(const struct guard *guard, const char *call, uint64_t rate, sim_time now)
{
	if (rate == RATE_UNLIMITED || (rate >= GUARD_RATE_LEAST && rate <= GUARD_RATE_MOST))
		return;
	foreign_fail(guard->name, call,
		     "left rate_bps %" PRIu64 " at %.6f us; expected RATE_UNLIMITED or %" PRIu64
		     " to %" PRIu64 " bit/s",
		     rate, (double)now / (double)US, GUARD_RATE_LEAST, GUARD_RATE_MOST);
}

static void check_cwnd(const struct guard *guard, const char *call, uint64_t cwnd, sim_time now)
{
	if (cwnd == CWND_UNLIMITED || (cwnd > 0 && cwnd <= GUARD_CWND_MOST))
		return;
	foreign_fail(guard->name, call,
		     "left cwnd_bytes %" PRIu64 " at %.6f us; expected CWND_UNLIMITED or 1 to "
		     "%" PRIu64 " bytes",
		     cwnd, (double)now / (double)US, GUARD_CWND_MOST);
}

static void check_step(const struct guard *guard, const char *call, sim_time next, sim_time now)
{
	if (next == SIM_NEVER || (next > now && guard->plugin->step))
		return;
	if (next > now)
		foreign_fail(guard->name, call,
			     "left next_step %.6f us at %.6f us, and there is no step()",
			     (double)next / (double)US, (double)now / (double)US);
	foreign_fail(guard->name, call,
		     "left next_step %.6f us at %.6f us; expected SIM_NEVER or a later time",
		     (double)next / (double)US, (double)now / (double)US);
}

/* The flow as it is after a call; `before`: what the sender keeps in it. */
static void check_state(const struct guard *guard, const char *call, const struct cc_state *cc,
			const struct cc_state *before, sim_time now)
{
	check_rate(guard, call, cc->rate_bps, now);
	check_cwnd(guard, call, cc->cwnd_bytes, now);
	check_step(guard, call, cc->next_step, now);
	if (cc->burst_payload != before->burst_payload || cc->burst_wire != before->burst_wire ||
	    cc->flight_bytes != before->flight_bytes)
		foreign_fail(guard->name, call,
			     "changed burst_payload, burst_wire or flight_bytes, which are the "
			     "sender's");
}

/* Enters, calls, leaves and checks. */
#define GUARDED(guard, call, cc, now, statement)                \
	do {                                                    \
		const struct cc_state before = *(cc);           \
		foreign_enter((guard)->name, call);             \
		statement;                                      \
		foreign_leave();                                \
		check_state((guard), call, (cc), &before, now); \
	} while (0)

static void guarded_init(struct cc_state *cc, const void *params,
			 const struct congestion_path *path, sim_time now)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "state_init()", cc, now, guard->plugin->state_init(cc, params, path, now));
}

static void guarded_step(struct cc_state *cc, const void *params, sim_time now)
{
	const struct guard *guard = guard_of(params);

	if (++steps > GUARD_STEPS_MORE)
		foreign_fail(guard->name, "step()",
			     "is called more than %u times for each other call, the last time "
			     "for %.6f us; expected a next_step that is further ahead",
			     GUARD_STEPS_EACH, (double)now / (double)US);
	GUARDED(guard, "step()", cc, now, guard->plugin->step(cc, params, now));
}

static void guarded_send(struct cc_state *cc, const void *params, sim_time now, uint32_t wire_bytes)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	if (guard->plugin->on_send)
		GUARDED(guard, "on_send()", cc, now,
			guard->plugin->on_send(cc, params, now, wire_bytes));
}

static void guarded_ack(struct cc_state *cc, const void *params, sim_time now,
			const struct congestion_ack *ack)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_ack()", cc, now, guard->plugin->on_ack(cc, params, now, ack));
}

static void guarded_cnp(struct cc_state *cc, const void *params, sim_time now)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_cnp()", cc, now, guard->plugin->on_cnp(cc, params, now));
}

static void guarded_loss(struct cc_state *cc, const void *params, sim_time now,
			 enum congestion_loss loss)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_loss()", cc, now, guard->plugin->on_loss(cc, params, now, loss));
}

static void guarded_idle(struct cc_state *cc, const void *params, sim_time now)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_idle()", cc, now, guard->plugin->on_idle(cc, params, now));
}

static uint64_t guarded_ack_bytes(const void *params)
{
	const struct guard *guard = guard_of(params);
	uint64_t bytes;

	foreign_enter(guard->name, "ack_bytes()");
	bytes = guard->plugin->ack_bytes(params);
	foreign_leave();
	return bytes;
}

static bool guarded_check(const void *params, char *error, size_t error_bytes)
{
	const struct guard *guard = guard_of(params);
	bool good;

	foreign_enter(guard->name, "check()");
	good = guard->plugin->check(params, error, error_bytes);
	foreign_leave();
	return good;
}

const struct congestion_ops *guard_create(const struct congestion_ops *plugin, const char *path,
					  void **params)
{
	size_t bytes = (sizeof(struct guard) + plugin->params_bytes + 15) / 16 * 16;
	struct guard *guard = aligned_alloc(16, bytes);

	assert(guard);
	memset(guard, 0, bytes);
	guard->plugin = plugin;
	guard->ops = *plugin;
	guard->ops.state_init = guarded_init;
	guard->ops.step = guarded_step;
	guard->ops.on_send = guarded_send;
	guard->ops.on_ack = plugin->on_ack ? guarded_ack : NULL;
	guard->ops.on_cnp = plugin->on_cnp ? guarded_cnp : NULL;
	guard->ops.on_loss = plugin->on_loss ? guarded_loss : NULL;
	guard->ops.on_idle = plugin->on_idle ? guarded_idle : NULL;
	guard->ops.ack_bytes = plugin->ack_bytes ? guarded_ack_bytes : NULL;
	guard->ops.check = plugin->check ? guarded_check : NULL;
	snprintf(guard->name, sizeof(guard->name), "congestion control %s", path);
	foreign_watch();
	*params = guard->params;
	return &guard->ops;
}

void guard_destroy(void *params)
{
	if (params)
		free((char *)params - offsetof(struct guard, params));
}
