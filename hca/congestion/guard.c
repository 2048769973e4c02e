/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: see guard.h. The functions of the interface receive the algorithm's parameters. The guard
 * is therefore stored in memory directly before the parameters.
 */
#include "hca/congestion/guard.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/foreign.h"

struct guard {
	struct congestion_ops ops; /* table for callers */
	const struct congestion_ops *plugin;
	char name[CONGESTION_NAME_BYTES + 64]; /* name in messages */
	struct plugin_host no_host;            /* for a caller that offers no services */
	_Alignas(16) unsigned char params[];
};

/* Number of calls of step() beyond their share, in this thread. */
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
	uint64_t least = guard->plugin->on_control ? 0 : 1;

	if (cwnd == CWND_UNLIMITED || (cwnd >= least && cwnd <= GUARD_CWND_MOST))
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

static void check_sending(const struct guard *guard, const char *call, const struct cc_state *cc)
{
	const struct congestion_sending *sending =
		(const void *)((const char *)cc + guard->plugin->sending_offset);
	uint32_t level = sending->priority - 1;

	if (guard->plugin->sending_offset && sending->priority &&
	    (level > 15 || !(guard->plugin->priorities & 1u << level)))
		foreign_fail(guard->name, call,
			     "left sending.priority %" PRIu32 "; expected 0, or 1 and a service "
			     "level of `priorities`, 0x%" PRIx32,
			     sending->priority, guard->plugin->priorities);
}

/* Checks the flow after a call. `before` holds the members that the sender writes. */
static void check_state(const struct guard *guard, const char *call, const struct cc_state *cc,
			const struct cc_state *before, sim_time now)
{
	check_rate(guard, call, cc->rate_bps, now);
	check_cwnd(guard, call, cc->cwnd_bytes, now);
	check_step(guard, call, cc->next_step, now);
	check_sending(guard, call, cc);
	if (cc->burst_payload != before->burst_payload || cc->burst_wire != before->burst_wire ||
	    cc->flight_bytes != before->flight_bytes)
		foreign_fail(guard->name, call,
			     "changed burst_payload, burst_wire or flight_bytes, which belong "
			     "to the sender");
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

/* ---- services where there are none ---- */

static void no_service(void *self, const char *call)
{
	const struct guard *guard = self;

	foreign_fail(guard->name, call, "is not available to TCP connections");
}

static uint64_t no_random(void *self)
{
	no_service(self, "plugin_random()");
	return 0;
}

static void no_trace(void *self, unsigned point, uint64_t first, uint64_t second)
{
	(void)point, (void)first, (void)second;
	no_service(self, "plugin_trace()");
}

static void no_count(void *self, unsigned counter, uint64_t by)
{
	(void)counter, (void)by;
	no_service(self, "plugin_count()");
}

static const struct plugin_services no_services = {no_random, no_trace, no_count};

static void guarded_init(struct cc_state *cc, const void *params,
			 const struct congestion_path *path, sim_time now)
{
	const struct guard *guard = guard_of(params);
	struct congestion_path whole = *path;

	if (!whole.host)
		whole.host = &guard->no_host;
	grant_steps();
	GUARDED(guard, "state_init()", cc, now, guard->plugin->state_init(cc, params, &whole, now));
}

static void guarded_step(struct cc_state *cc, const void *params, sim_time now)
{
	const struct guard *guard = guard_of(params);

	if (++steps > GUARD_STEPS_MORE)
		foreign_fail(guard->name, "step()",
			     "is called more than %u times for each other call, the last time "
			     "for %.6f us; expected a later next_step",
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

static void guarded_post(struct cc_state *cc, const void *params, sim_time now, uint64_t bytes)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_post()", cc, now, guard->plugin->on_post(cc, params, now, bytes));
}

static void guarded_packet(struct cc_state *cc, const void *params, sim_time now,
			   struct congestion_packet *packet)
{
	const struct guard *guard = guard_of(params);
	uint32_t paths = guard->plugin->paths ? guard->plugin->paths : 1;

	grant_steps();
	GUARDED(guard, "on_packet()", cc, now, guard->plugin->on_packet(cc, params, now, packet));
	if (packet->path >= paths)
		foreign_fail(guard->name, "on_packet()",
			     "left path %" PRIu32 "; expected a number below `paths`, %" PRIu32,
			     packet->path, paths);
}

static void guarded_control(struct cc_state *cc, const void *params, sim_time now,
			    const struct congestion_fields *fields)
{
	const struct guard *guard = guard_of(params);

	grant_steps();
	GUARDED(guard, "on_control()", cc, now, guard->plugin->on_control(cc, params, now, fields));
}

static void check_receiver(const struct guard *guard, const char *call,
			   const struct cc_receiver *receiver, const void *host, sim_time now)
{
	if (receiver->host != host)
		foreign_fail(guard->name, call, "changed `host`, which belongs to the adapter");
	if (receiver->next_step == SIM_NEVER ||
	    (receiver->next_step > now && guard->plugin->receiver_step))
		return;
	foreign_fail(guard->name, call,
		     "left the receiver's next_step %.6f us at %.6f us; expected SIM_NEVER, or a "
		     "later time and a function receiver_step()",
		     (double)receiver->next_step / (double)US, (double)now / (double)US);
}

#define GUARDED_RECEIVER(guard, call, receiver, now, statement)         \
	do {                                                            \
		const void *host = (receiver)->host;                    \
		foreign_enter((guard)->name, call);                     \
		statement;                                              \
		foreign_leave();                                        \
		check_receiver((guard), call, (receiver), host, (now)); \
	} while (0)

static void guarded_receiver_init(struct cc_receiver *receiver, const void *params,
				  const struct congestion_path *path, sim_time now)
{
	const struct guard *guard = guard_of(params);

	GUARDED_RECEIVER(guard, "receiver_init()", receiver, now,
			 guard->plugin->receiver_init(receiver, params, path, now));
}

static void guarded_data(struct cc_receiver *receiver, const void *params, sim_time now,
			 const struct congestion_data *data)
{
	const struct guard *guard = guard_of(params);

	GUARDED_RECEIVER(guard, "on_data()", receiver, now,
			 guard->plugin->on_data(receiver, params, now, data));
}

static void guarded_receiver_step(struct cc_receiver *receiver, const void *params, sim_time now)
{
	const struct guard *guard = guard_of(params);

	GUARDED_RECEIVER(guard, "receiver_step()", receiver, now,
			 guard->plugin->receiver_step(receiver, params, now));
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
	guard->ops.on_post = plugin->on_post ? guarded_post : NULL;
	guard->ops.on_packet = plugin->on_packet ? guarded_packet : NULL;
	guard->ops.on_control = plugin->on_control ? guarded_control : NULL;
	guard->ops.receiver_init = plugin->receiver_init ? guarded_receiver_init : NULL;
	guard->ops.on_data = plugin->on_data ? guarded_data : NULL;
	guard->ops.receiver_step = plugin->receiver_step ? guarded_receiver_step : NULL;
	guard->no_host = (struct plugin_host){&no_services, guard};
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
