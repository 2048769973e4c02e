/* SPDX-License-Identifier: Apache-2.0 */
/* dependencies: see dependencies.h. */
#include "traffic/workload/dependencies.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/parallel.h"

struct wait { /* wait of a flow; only the LP of its host accesses it */
	/* remaining dependencies; for a barrier of all hosts: its index in barriers[] */
	uint32_t count;
	bool notified;
	sim_time due; /* time at which the last dependency became known */
};

/* State of a barrier of all hosts in one LP. */
struct side {
	uint32_t flows; /* that end in this LP, and are not complete */
	uint32_t lps;   /* LPs that have not announced completion to this one */
	sim_time due;
};

struct barrier {
	uint32_t flow;
	struct side sides[SIM_LPS_MAX];
};

struct notification {
	uint32_t flow; /* that waits */
	sim_time at;
};

struct notification_list {
	struct notification *notifications;
	uint32_t count, room;
};

/* Mailbox from one LP to another. */
struct mailbox {
	struct lp_channel channel;
	struct notification_list left[2];
	struct dependencies *dependencies;
	unsigned to;
};

struct dependencies {
	const struct workload *workload;
	struct dependencies_user *user;
	sim_time notification_latency;
	unsigned lps;
	uint8_t *lp_of; /* [hosts] */
	struct wait *list;
	struct barrier *barriers;
	uint32_t barrier_count;
	struct mailbox *mailboxes; /* [from * lps + to] */
};

static bool is_notified(const struct workload_flow *first, const struct workload_flow *then)
{
	return workload_is_common(first) || workload_happens_at(first, then) != workload_home(then);
}

/* ---- events that become known ---- */

static void know(struct dependencies *dependencies, uint32_t flow, sim_time at)
{
	struct wait *wait = &dependencies->list[flow];

	assert(wait->count);
	if (at > wait->due)
		wait->due = at;
	if (--wait->count == 0)
		dependencies->user->release(dependencies->user, flow,
					    wait->due + dependencies->workload->flows[flow].start,
					    wait->notified);
}

/* Completes a barrier in an LP. Its own `start` is the time that it takes. */
static void reach(struct dependencies *dependencies, const struct barrier *barrier, unsigned lp)
{
	const struct workload *workload = dependencies->workload;
	const struct workload_flow *flow = &workload->flows[barrier->flow];
	sim_time at = barrier->sides[lp].due + flow->start;

	if (dependencies->lp_of[flow->source] == lp)
		dependencies->user->reached(dependencies->user, barrier->flow, at);
	for (uint32_t i = 0; i < flow->next_count; i++) {
		uint32_t then = workload->next[flow->first_next + i];

		if (dependencies->lp_of[workload_home(&workload->flows[then])] == lp)
			know(dependencies, then, at);
	}
}

static void take_notification(struct dependencies *dependencies, unsigned lp, uint32_t flow,
			      sim_time at)
{
	if (workload_is_common(&dependencies->workload->flows[flow])) {
		struct barrier *barrier = &dependencies->barriers[dependencies->list[flow].count];
		struct side *side = &barrier->sides[lp];

		if (at > side->due)
			side->due = at;
		if (--side->lps == 0)
			reach(dependencies, barrier, lp);
	} else {
		know(dependencies, flow, at);
	}
}

/* ---- from LP to LP ---- */

static void push(struct notification_list *list, struct notification notification)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->notifications =
			realloc(list->notifications, list->room * sizeof(list->notifications[0]));
		assert(list->notifications);
	}
	list->notifications[list->count++] = notification;
}

static void take(struct lp_channel *channel, unsigned window)
{
	struct mailbox *mailbox = container_of(channel, struct mailbox, channel);
	struct notification_list *list = &mailbox->left[window];

	for (uint32_t i = 0; i < list->count; i++)
		take_notification(mailbox->dependencies, mailbox->to, list->notifications[i].flow,
				  list->notifications[i].at);
	list->count = 0;
}

static void carry(struct lp_channel *channel, unsigned window, struct carry *carry)
{
	struct mailbox *mailbox = container_of(channel, struct mailbox, channel);
	struct notification_list *list = &mailbox->left[window];
	uint32_t count = list->count;

	CARRY(carry, count);
	for (uint32_t i = 0; i < count; i++) {
		struct notification one = {0};

		if (!carry->reads)
			one = list->notifications[i];
		CARRY(carry, one.flow);
		CARRY(carry, one.at);
		if (carry->reads)
			push(list, one);
	}
	if (!carry->reads)
		list->count = 0;
}

static void notify(struct dependencies *dependencies, unsigned from, unsigned to, uint32_t flow,
		   sim_time at)
{
	struct mailbox *mailbox = &dependencies->mailboxes[from * dependencies->lps + to];
	const struct workload_flow *what = &dependencies->workload->flows[flow];

	if (from == to)
		take_notification(dependencies, to, flow, at);
	else
		push(&mailbox->left[lp_channel_leave(&mailbox->channel, at + what->start)],
		     (struct notification){flow, at});
}

static void complete_side(struct dependencies *dependencies, uint32_t flow, unsigned lp,
			  sim_time now)
{
	struct barrier *barrier = &dependencies->barriers[dependencies->list[flow].count];

	if (--barrier->sides[lp].flows)
		return;
	for (unsigned to = 0; to < dependencies->lps; to++)
		notify(dependencies, lp, to, flow, now + dependencies->notification_latency);
}

void dependencies_happened(struct dependencies *dependencies, uint32_t flow, bool arrival,
			   sim_time now)
{
	const struct workload *workload = dependencies->workload;
	const struct workload_flow *first = &workload->flows[flow];

	for (uint32_t i = 0; i < first->next_count; i++) {
		uint32_t number = workload->next[first->first_next + i];
		const struct workload_flow *then = &workload->flows[number];
		unsigned lp;

		if (workload_waits_for_arrival(first, then) != arrival)
			continue;
		lp = dependencies->lp_of[workload_happens_at(first, then)];
		if (workload_is_common(then))
			complete_side(dependencies, number, lp, now);
		else if (is_notified(first, then))
			notify(dependencies, lp, dependencies->lp_of[workload_home(then)], number,
			       now + dependencies->notification_latency);
		else
			know(dependencies, number, now);
	}
}

bool dependencies_are_notified(const struct dependencies *dependencies, uint32_t flow)
{
	return dependencies->list[flow].notified;
}

void dependencies_copy(struct dependencies *dependencies, uint32_t from, uint32_t count,
		       uint32_t distance)
{
	for (uint32_t i = from; i < from + count; i++)
		if (!workload_is_common(&dependencies->workload->flows[i]))
			dependencies->list[i + distance] = dependencies->list[i];
}

/* ---- life ---- */

void dependencies_start(struct dependencies *dependencies)
{
	const struct workload *workload = dependencies->workload;

	for (uint32_t i = 0; i < workload->count; i++)
		if (!workload_is_common(&workload->flows[i]) &&
		    !workload->flows[i].dependency_count)
			dependencies->user->release(dependencies->user, i, workload->flows[i].start,
						    false);
	for (uint32_t i = 0; i < dependencies->barrier_count; i++)
		for (unsigned lp = 0; lp < dependencies->lps; lp++)
			if (!dependencies->barriers[i].sides[lp].lps)
				reach(dependencies, &dependencies->barriers[i], lp);
}

/* Counts, for each LP, the LPs to wait for and the flows of each. */
static void count_sides(struct dependencies *dependencies)
{
	const struct workload *workload = dependencies->workload;

	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *first = &workload->flows[i];

		for (uint32_t j = 0; j < first->next_count; j++) {
			uint32_t number = workload->next[first->first_next + j];
			const struct workload_flow *then = &workload->flows[number];
			unsigned lp = dependencies->lp_of[workload_happens_at(first, then)];

			if (workload_is_common(then))
				dependencies->barriers[dependencies->list[number].count]
					.sides[lp]
					.flows++;
			else
				dependencies->list[number].notified |= is_notified(first, then);
		}
	}
	for (uint32_t i = 0; i < dependencies->barrier_count; i++)
		for (unsigned from = 0; from < dependencies->lps; from++)
			for (unsigned to = 0; to < dependencies->lps; to++)
				dependencies->barriers[i].sides[to].lps +=
					dependencies->barriers[i].sides[from].flows != 0;
}

static void create_barriers(struct dependencies *dependencies)
{
	const struct workload *workload = dependencies->workload;

	for (uint32_t i = 0; i < workload->count; i++)
		dependencies->barrier_count += workload_is_common(&workload->flows[i]);
	dependencies->barriers =
		calloc(dependencies->barrier_count + 1, sizeof(dependencies->barriers[0]));
	assert(dependencies->barriers);
	dependencies->barrier_count = 0;
	for (uint32_t i = 0; i < workload->count; i++) {
		if (workload->flows[i].dependency_count) /* an untouched page takes no memory */
			dependencies->list[i].count = workload->flows[i].dependency_count;
		if (workload_is_common(&workload->flows[i])) {
			dependencies->barriers[dependencies->barrier_count].flow = i;
			dependencies->list[i].count = dependencies->barrier_count++;
		}
	}
}

/* Creates mailboxes. A workload without dependencies between LPs needs none. A run with
 * `notification_latency` 0 cannot be parallel and needs none. */
static void create_mailboxes(struct dependencies *dependencies, struct sim *const *sims)
{
	sim_time delay = workload_lookahead(dependencies->workload, dependencies->lp_of,
					    dependencies->notification_latency);

	dependencies->mailboxes = calloc((size_t)dependencies->lps * dependencies->lps,
					 sizeof(dependencies->mailboxes[0]));
	assert(dependencies->mailboxes);
	for (unsigned i = 0; i < dependencies->lps * dependencies->lps; i++) {
		struct mailbox *mailbox = &dependencies->mailboxes[i];
		struct sim *from = sim_lp(sims[0], i / dependencies->lps);
		struct sim *to = sim_lp(sims[0], i % dependencies->lps);

		mailbox->dependencies = dependencies;
		mailbox->to = i % dependencies->lps;
		if (from != to && delay > 0 && delay < SIM_NEVER) {
			lp_channel_init(&mailbox->channel, from, to, delay, take);
			mailbox->channel.carry = carry;
		}
	}
}

struct dependencies *dependencies_create(const struct workload *workload,
					 sim_time notification_latency, struct sim *const *sims,
					 struct dependencies_user *user)
{
	struct dependencies *dependencies = calloc(1, sizeof(*dependencies));

	assert(dependencies);
	dependencies->workload = workload;
	dependencies->user = user;
	dependencies->notification_latency = notification_latency;
	dependencies->lps = sim_lps(sims[0]);
	dependencies->lp_of = calloc(workload->hosts + 1, sizeof(dependencies->lp_of[0]));
	dependencies->list = calloc(workload->count + 1, sizeof(dependencies->list[0]));
	assert(dependencies->lp_of && dependencies->list);
	for (uint32_t i = 0; i < workload->hosts; i++)
		dependencies->lp_of[i] = (uint8_t)sim_lp_number(sims[i]);
	create_barriers(dependencies);
	create_mailboxes(dependencies, sims);
	count_sides(dependencies);
	return dependencies;
}

void dependencies_destroy(struct dependencies *dependencies)
{
	for (unsigned i = 0; i < dependencies->lps * dependencies->lps; i++)
		for (unsigned window = 0; window < 2; window++)
			free(dependencies->mailboxes[i].left[window].notifications);
	free(dependencies->mailboxes);
	free(dependencies->barriers);
	free(dependencies->list);
	free(dependencies->lp_of);
	free(dependencies);
}
