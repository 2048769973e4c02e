/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goal: workload from a GOAL file (Hoefler, Siebert, Lumsdaine, ICPP 2009), as written by schedgen
 * of the LogGOPSim tools, or in the binary form of goal_binary.c:
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: calc 1500                        nanoseconds
 *     l2: send 1024b to 1 tag 0 cpu 0 nic 0
 *     l2 requires l1                       begins when l1 has ended; irequires: when it has begun
 *     }
 *
 * Ranks are hosts. The n-th send from one rank to another with a tag matches the n-th recv there.
 * The flow begins when all operations have ended that the send requires. Its arrival ends the recv,
 * and its completion ends the send. cpu and nic have no effect: independent operations run
 * concurrently.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "traffic/workload/goal_file.h"

/* ---- matching of sends and receives ---- */

/* Compares messages by both ranks, tag, and place in the file. */
static int compare_messages(const void *one, const void *other)
{
	const struct goal_op *a = *(struct goal_op *const *)one;
	const struct goal_op *b = *(struct goal_op *const *)other;
	bool sends = a->kind == GOAL_SEND;
	const uint64_t left[] = {sends ? a->rank : a->peer, sends ? a->peer : a->rank, a->tag};
	const uint64_t right[] = {sends ? b->rank : b->peer, sends ? b->peer : b->rank, b->tag};

	for (unsigned i = 0; i < ARRAY_SIZE(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return a < b ? -1 : a > b; /* both are in one array */
}

static struct goal_op **sort_messages(struct goal *goal, enum goal_kind kind, uint32_t *count)
{
	struct goal_op **list = calloc(goal->op_count + 1, sizeof(struct goal_op *));

	assert(list);
	*count = 0;
	for (uint32_t i = 0; i < goal->op_count; i++)
		if (goal->ops[i].kind == kind)
			list[(*count)++] = &goal->ops[i];
	qsort(list, *count, sizeof(struct goal_op *), compare_messages);
	return list;
}

static bool match(struct goal *goal)
{
	uint32_t sends, recvs;
	struct goal_op **send = sort_messages(goal, GOAL_SEND, &sends);
	struct goal_op **recv = sort_messages(goal, GOAL_RECV, &recvs);
	bool good = true;

	for (uint32_t i = 0; good && (i < sends || i < recvs); i++) {
		const struct goal_op *one = i < sends ? send[i] : NULL;
		const struct goal_op *other = i < recvs ? recv[i] : NULL;

		if (!one || (other && (one->rank > other->peer ||
				       (one->rank == other->peer && one->peer > other->rank))))
			good = goal_file_fail(goal, other->line, "no send matches this recv");
		else if (!other || one->rank != other->peer || one->peer != other->rank)
			good = goal_file_fail(goal, one->line, "no recv matches this send");
		else if (one->tag != other->tag)
			good = goal_file_fail(goal, one->line,
					      "no recv with tag %" PRIu64 " matches this send",
					      one->tag);
		else
			recv[i]->flow = one->flow;
	}
	free(send);
	free(recv);
	return good;
}

/* ---- the workload ---- */

/* Adds a barrier of one host that takes `delay`. */
static uint32_t add_moment(struct goal *goal, uint32_t rank, sim_time delay)
{
	uint32_t number = workload_add(goal->workload, rank, rank, 0, delay);

	goal->workload->flows[number].local = true;
	return number;
}

static void add_flows(struct goal *goal)
{
	for (uint32_t i = 0; i < goal->op_count; i++) {
		struct goal_op *op = &goal->ops[i];

		if (op->kind == GOAL_CALC)
			op->flow = add_moment(goal, op->rank, op->amount * NS);
		else if (op->kind == GOAL_SEND && op->peer == op->rank)
			op->flow = add_moment(goal, op->rank, 0);
		else if (op->kind == GOAL_SEND)
			op->flow = workload_add(goal->workload, op->rank, op->peer,
						op->amount ? op->amount : 1, 0);
	}
}

/* Adds barriers for operations with dependencies. If a recv waits for other operations besides its
 * message, a barrier represents its end. If another operation depends on the start of an operation,
 * a barrier represents that start. */
static void add_moments(struct goal *goal)
{
	for (uint32_t i = 0; i < goal->op_count; i++) {
		struct goal_op *op = &goal->ops[i];

		if (op->kind == GOAL_RECV && (op->depends || op->is_asked)) {
			uint32_t seen = add_moment(goal, op->rank, 0);

			workload_after(goal->workload, seen, op->flow);
			op->flow = seen;
		}
		if (op->is_asked) {
			op->moment = add_moment(goal, op->rank, 0);
			workload_after(goal->workload, op->flow, op->moment);
		}
	}
	for (uint32_t i = 0; i < goal->edge_count; i++) {
		const struct goal_op *then = &goal->ops[goal->edges[i].then];
		const struct goal_op *first = &goal->ops[goal->edges[i].first];

		workload_after(goal->workload,
			       then->moment != GOAL_NONE ? then->moment : then->flow,
			       goal->edges[i].at_start ? first->moment : first->flow);
	}
}

/* Removes flows that wait for nothing, repeatedly. Returns false if flows remain. */
static bool has_an_order(const struct workload *workload)
{
	uint32_t count = workload->count, head = 0, tail = 0;
	uint32_t *waits = calloc(count + 1, sizeof(*waits)),
		 *queue = calloc(count + 1, sizeof(*queue));
	uint32_t *place = calloc(count + 2, sizeof(*place));
	uint32_t *next = calloc(workload->edge_count + 1, sizeof(*next));

	assert(waits && queue && place && next);
	for (uint32_t i = 0; i < workload->edge_count; i++) {
		waits[workload->edges[i].then]++;
		place[workload->edges[i].first + 2]++;
	}
	for (uint32_t i = 2; i < count + 2; i++)
		place[i] += place[i - 1];
	for (uint32_t i = 0; i < workload->edge_count; i++)
		next[place[workload->edges[i].first + 1]++] = workload->edges[i].then;
	for (uint32_t i = 0; i < count; i++)
		if (waits[i] == 0)
			queue[tail++] = i;
	while (head < tail) {
		uint32_t first = queue[head++];

		for (uint32_t i = place[first]; i < place[first + 1]; i++)
			if (--waits[next[i]] == 0)
				queue[tail++] = next[i];
	}
	free(waits);
	free(queue);
	free(place);
	free(next);
	return tail == count;
}

static void add_collective(struct goal *goal, const struct goal_collective *collective)
{
	uint32_t count = collective->count;
	uint32_t *lists = malloc((size_t)3 * count * sizeof(lists[0]));

	assert(lists);
	for (uint32_t i = 0; i < count; i++) {
		lists[i] = goal->ops[collective->enter[i]].rank;
		lists[count + i] = goal->ops[collective->enter[i]].flow;
		lists[2 * count + i] = goal->ops[collective->leave[i]].flow;
	}
	collective_add(goal->workload, &(struct collective){.kind = collective->kind,
							    .bytes = collective->bytes,
							    .root = collective->root,
							    .count = count,
							    .hosts = lists,
							    .enter = lists + count,
							    .leave = lists + 2 * count});
	free(lists);
}

bool goal_make_flows(struct goal *goal, const struct goal_collective *collectives, uint32_t count)
{
	add_flows(goal);
	if (!match(goal))
		return false;
	for (uint32_t i = 0; i < count; i++)
		add_collective(goal, &collectives[i]);
	add_moments(goal);
	return has_an_order(goal->workload) ||
	       goal_file_fail(goal, goal->line, "operations wait for each other in a circle");
}

bool workload_read_goal(struct workload *workload, const char *file, char *error,
			size_t error_bytes)
{
	struct goal goal = {.workload = workload, .error = error, .error_bytes = error_bytes};
	bool good = goal_file_read(&goal, file) && goal_make_flows(&goal, NULL, 0);

	goal_file_free(&goal);
	return good;
}
