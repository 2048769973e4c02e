/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chakra: workload from Chakra execution traces, a file for each rank (chakra_file.h). Ranks are
 * hosts. A node begins when the nodes of its data_deps and ctrl_deps have ended.
 *
 *     COMP, MEM_LOAD, MEM_STORE   take duration_micros
 *     METADATA                    takes no time
 *     COMM_SEND, COMM_RECV        a flow, as send and recv of a GOAL file (goal.c)
 *     COMM_COLL                   the flows of a collective (collective.h)
 *
 * The n-th collective of a process group in the file of one member is the n-th one in the files of
 * all others. Members are the ranks that use the name of the group.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traffic/workload/chakra_file.h"
#include "traffic/workload/goal_file.h"

#define IGNORED_MAX 24

/* A node of the graph: its first and last operation. They are one, except of a collective. */
struct place {
	uint64_t id, byte;
	uint32_t rank, first, last;
};

/* A collective of one rank. */
struct call {
	char group[CHAKRA_NAME_BYTES];
	enum collective_kind kind;
	uint64_t bytes, root;  /* root: a rank; UINT64_MAX: the first member */
	uint32_t rank, number; /* in the group, by rank */
	uint32_t place;
};

struct ignored {
	char name[CHAKRA_NAME_BYTES];
	uint64_t count;
};

struct chakra {
	struct goal goal;
	const char *files; /* with %d */
	struct place *places;
	struct call *calls;
	struct dependency { /* of the current rank */
		uint32_t then;
		uint64_t first; /* id */
	} * dependencies;
	uint32_t place_count, place_capacity, call_count, call_capacity;
	uint32_t dependency_count, dependency_capacity;
	uint32_t rank, first_place;
	struct ignored ignored[IGNORED_MAX];
	uint32_t ignored_count, ignored_more;
};

static void ignore(void *context, const char *name)
{
	struct chakra *chakra = context;
	uint32_t i = 0;

	while (i < chakra->ignored_count && strcmp(chakra->ignored[i].name, name) != 0)
		i++;
	if (i == IGNORED_MAX) {
		chakra->ignored_more++;
		return;
	}
	if (i == chakra->ignored_count) {
		chakra->ignored_count++;
		snprintf(chakra->ignored[i].name, CHAKRA_NAME_BYTES, "%s", name);
	}
	chakra->ignored[i].count++;
}

/* ---- places ---- */

static void path_of(const struct chakra *chakra, uint32_t rank, char path[CHAKRA_PATH_BYTES])
{
	const char *number = strstr(chakra->files, "%d");

	snprintf(path, CHAKRA_PATH_BYTES, "%.*s%" PRIu32 "%s", (int)(number - chakra->files),
		 chakra->files, rank, number + 2);
}

/* Prints a place for goal_file_fail(). `line` is the number of the place, or GOAL_NONE for all
 * files. */
static void print_place(const struct goal *goal, uint32_t line, char *text, size_t bytes)
{
	const struct chakra *chakra = goal->place_context;
	char path[CHAKRA_PATH_BYTES];

	if (line == GOAL_NONE) {
		snprintf(text, bytes, "trace: %s", chakra->files);
		return;
	}
	path_of(chakra, chakra->places[line].rank, path);
	snprintf(text, bytes, "trace: %s: byte %" PRIu64 ": node %" PRIu64, path,
		 chakra->places[line].byte, chakra->places[line].id);
}

/* ---- nodes ---- */

#define HAS(node, name)   ((node)->has[CHAKRA_##name])
#define VALUE(node, name) (HAS(node, name) ? (node)->numbers[CHAKRA_##name] : 0)

static bool fail(struct chakra *chakra, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports an error of the node that was added last. */
static bool fail(struct chakra *chakra, const char *format, ...)
{
	char text[160];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return goal_file_fail(&chakra->goal, chakra->place_count - 1, "%s", text);
}

static uint32_t add_op(struct chakra *chakra, const struct goal_op *op)
{
	struct goal_op whole = *op;

	whole.rank = chakra->rank;
	whole.line = chakra->place_count - 1;
	whole.moment = whole.flow = GOAL_NONE;
	goal_file_add_op(&chakra->goal, &whole);
	return chakra->goal.op_count - 1;
}

static bool read_peer(struct chakra *chakra, const struct chakra_node *node, struct goal_op *op)
{
	bool sends = node->type == CHAKRA_COMM_SEND;
	enum chakra_number own = sends ? CHAKRA_comm_src : CHAKRA_comm_dst;
	enum chakra_number peer = sends ? CHAKRA_comm_dst : CHAKRA_comm_src;
	const char *names[] = {[CHAKRA_comm_src] = "comm_src", [CHAKRA_comm_dst] = "comm_dst"};

	if (!node->has[peer])
		return fail(chakra, "a %s without %s; expected the rank of its peer",
			    sends ? "COMM_SEND_NODE" : "COMM_RECV_NODE", names[peer]);
	if (node->numbers[peer] >= chakra->goal.ranks)
		return fail(chakra, "%s is %" PRIu64 "; expected a rank of 0 to %" PRIu32,
			    names[peer], node->numbers[peer], chakra->goal.ranks - 1);
	if (node->has[own] && node->numbers[own] != chakra->rank)
		return fail(chakra, "%s is %" PRIu64 " in the trace of rank %" PRIu32, names[own],
			    node->numbers[own], chakra->rank);
	op->peer = (uint32_t)node->numbers[peer];
	return true;
}

static bool check_bytes(struct chakra *chakra, const struct chakra_node *node, const char *who)
{
	if (!HAS(node, comm_size))
		return fail(chakra, "a %s without comm_size; expected a number of bytes", who);
	if (VALUE(node, comm_size) > WORKLOAD_BYTES_MAX)
		return fail(chakra, "comm_size is %" PRIu64 "; expected %" PRIu64 " at most",
			    VALUE(node, comm_size), WORKLOAD_BYTES_MAX);
	return true;
}

static bool add_message(struct chakra *chakra, const struct chakra_node *node, struct place *place)
{
	bool sends = node->type == CHAKRA_COMM_SEND;
	struct goal_op op = {.kind = sends ? GOAL_SEND : GOAL_RECV,
			     .amount = VALUE(node, comm_size),
			     .tag = VALUE(node, comm_tag),
			     .depends = node->dependency_counts[0] || node->dependency_counts[1]};

	if ((sends && !check_bytes(chakra, node, "COMM_SEND_NODE")) ||
	    !read_peer(chakra, node, &op))
		return false;
	place->first = place->last = add_op(chakra, &op);
	return true;
}

static bool add_time(struct chakra *chakra, const struct chakra_node *node, struct place *place)
{
	struct goal_op op = {.kind = GOAL_CALC};

	if (node->duration_us > GOAL_NS_MAX / 1000)
		return fail(chakra, "duration_micros is %" PRIu64 "; expected %" PRIu64 " at most",
			    node->duration_us, GOAL_NS_MAX / 1000);
	if (node->type != CHAKRA_METADATA)
		op.amount = 1000 * node->duration_us;
	place->first = place->last = add_op(chakra, &op);
	return true;
}

static bool add_call(struct chakra *chakra, const struct chakra_node *node, struct place *place)
{
	/* enum CollectiveCommType of et_def.proto */
	static const enum collective_kind kinds[] = {
		COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE,         COLLECTIVE_ALL_GATHER,
		COLLECTIVE_GATHER,     COLLECTIVE_SCATTER,        COLLECTIVE_BROADCAST,
		COLLECTIVE_ALL_TO_ALL, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_REDUCE_SCATTER,
		COLLECTIVE_BARRIER};
	struct call call = {.root = UINT64_MAX, .rank = chakra->rank};

	if (!HAS(node, comm_type))
		return fail(chakra, "a COMM_COLL_NODE without comm_type; expected 0 to %zu",
			    ARRAY_SIZE(kinds) - 1);
	if (VALUE(node, comm_type) >= ARRAY_SIZE(kinds))
		return fail(chakra, "comm_type is %" PRIu64 "; expected 0 to %zu",
			    VALUE(node, comm_type), ARRAY_SIZE(kinds) - 1);
	call.kind = kinds[VALUE(node, comm_type)];
	if (call.kind != COLLECTIVE_BARRIER && !check_bytes(chakra, node, "COMM_COLL_NODE"))
		return false;
	call.bytes = call.kind == COLLECTIVE_BARRIER ? 0 : VALUE(node, comm_size);
	if (HAS(node, comm_src))
		call.root = VALUE(node, comm_src);
	memcpy(call.group, node->group, sizeof(call.group));
	call.place = chakra->place_count - 1;
	chakra->calls = goal_file_room(chakra->calls, chakra->call_count, &chakra->call_capacity,
				       sizeof(chakra->calls[0]));
	call.number = chakra->call_count; /* until all ranks are read */
	chakra->calls[chakra->call_count++] = call;
	place->first = add_op(chakra, &(struct goal_op){.kind = GOAL_CALC});
	place->last = add_op(chakra, &(struct goal_op){.kind = GOAL_CALC});
	return true;
}

static bool add_node(struct chakra *chakra, const struct chakra_node *node)
{
	struct place place = {.id = node->id, .byte = node->byte, .rank = chakra->rank};
	uint32_t number = chakra->place_count++;
	bool good;

	chakra->places =
		goal_file_room(chakra->places, number, &chakra->place_capacity, sizeof(place));
	chakra->places[number] = place;
	if (node->type == CHAKRA_COMM_COLL)
		good = add_call(chakra, node, &place);
	else if (node->type == CHAKRA_COMM_SEND || node->type == CHAKRA_COMM_RECV)
		good = add_message(chakra, node, &place);
	else
		good = add_time(chakra, node, &place);
	chakra->places[number] = place;
	for (unsigned list = 0; list < 2; list++) {
		for (size_t i = 0; i < node->dependency_counts[list]; i++) {
			chakra->dependencies = goal_file_room(
				chakra->dependencies, chakra->dependency_count,
				&chakra->dependency_capacity, sizeof(chakra->dependencies[0]));
			chakra->dependencies[chakra->dependency_count++] =
				(struct dependency){number, node->dependencies[list][i]};
		}
	}
	return good;
}

/* ---- dependencies, among the nodes of a rank ---- */

static int compare_ids(const void *one, const void *other)
{
	const struct place *a = *(const struct place *const *)one;
	const struct place *b = *(const struct place *const *)other;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a < b ? -1 : a > b; /* both are in one array */
}

static int compare_id(const void *id, const void *other)
{
	const struct place *place = *(const struct place *const *)other;

	return *(const uint64_t *)id < place->id ? -1 : *(const uint64_t *)id > place->id;
}

static bool end_rank(struct chakra *chakra)
{
	uint32_t count = chakra->place_count - chakra->first_place;
	const struct place **sorted = calloc(count + 1, sizeof(struct place *));
	struct goal *goal = &chakra->goal;
	bool good = true;

	assert(sorted);
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = &chakra->places[chakra->first_place + i];
	qsort(sorted, count, sizeof(sorted[0]), compare_ids);
	for (uint32_t i = 1; good && i < count; i++)
		if (sorted[i - 1]->id == sorted[i]->id)
			good = goal_file_fail(goal, (uint32_t)(sorted[i] - chakra->places),
					      "the node before it at byte %" PRIu64
					      " has the same id",
					      sorted[i - 1]->byte);
	for (uint32_t i = 0; good && i < chakra->dependency_count; i++) {
		const struct dependency *dependency = &chakra->dependencies[i];
		const struct place *const *first =
			bsearch(&dependency->first, sorted, count, sizeof(sorted[0]), compare_id);

		if (!first)
			good = goal_file_fail(goal, dependency->then,
					      "depends on node %" PRIu64
					      ", which the file does not have",
					      dependency->first);
		else
			goal_file_add_edge(
				goal,
				&(struct goal_edge){.then = chakra->places[dependency->then].first,
						    .first = (*first)->last});
	}
	free(sorted);
	chakra->dependency_count = 0;
	chakra->first_place = chakra->place_count;
	return good;
}

static bool read_rank(struct chakra *chakra)
{
	char path[CHAKRA_PATH_BYTES];
	struct chakra_node node;
	struct chakra_file *file;
	bool good = true;

	path_of(chakra, chakra->rank, path);
	*chakra->goal.error = '\0';
	file = chakra_file_open(path, ignore, chakra, chakra->goal.error, chakra->goal.error_bytes);
	if (!file)
		return false;
	while (good && chakra_file_next(file, &node))
		good = add_node(chakra, &node);
	chakra_file_close(file);
	return good && *chakra->goal.error == '\0' && end_rank(chakra);
}

/* ---- collectives ---- */

static int compare_calls(const void *one, const void *other)
{
	const struct call *a = one, *b = other;
	int names = strcmp(a->group, b->group);

	if (names != 0)
		return names;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Numbers the calls of each rank and group from 0 on, and sorts them by group, number and rank. */
static void sort_calls(struct chakra *chakra)
{
	uint32_t *next = calloc(chakra->goal.ranks, sizeof(next[0]));

	assert(next);
	qsort(chakra->calls, chakra->call_count, sizeof(chakra->calls[0]), compare_calls);
	for (uint32_t i = 0; i < chakra->call_count; i++) {
		struct call *call = &chakra->calls[i];

		if (i == 0 || strcmp(call->group, call[-1].group) != 0)
			memset(next, 0, chakra->goal.ranks * sizeof(next[0]));
		call->number = next[call->rank]++;
	}
	free(next);
	qsort(chakra->calls, chakra->call_count, sizeof(chakra->calls[0]), compare_calls);
}

/* Checks that the calls of one collective are of `count` members and agree, and makes them one. */
static bool make_one(struct chakra *chakra, const struct call *calls, uint32_t count,
		     uint32_t members, struct goal_collective *collective, uint32_t *lists)
{
	struct goal *goal = &chakra->goal;
	char group[CHAKRA_NAME_BYTES];

	chakra_file_printable(group, calls->group);
	if (count != members)
		return goal_file_fail(goal, calls->place,
				      "%" PRIu32 " of the %" PRIu32
				      " ranks of group \"%s\" have its collective %" PRIu32
				      "; expected all",
				      count, members, group, calls->number);
	*collective = (struct goal_collective){.kind = calls->kind,
					       .bytes = calls->bytes,
					       .count = count,
					       .enter = lists,
					       .leave = lists + count};
	for (uint32_t i = 0; i < count; i++) {
		const struct call *call = &calls[i];

		if (call->kind != calls->kind || call->bytes != calls->bytes ||
		    call->root != calls->root)
			return goal_file_fail(goal, call->place,
					      "comm_type, comm_size or comm_src of collective "
					      "%" PRIu32 " of group \"%s\" is not as in rank "
					      "%" PRIu32,
					      call->number, group, calls->rank);
		if (call->rank == calls->root)
			collective->root = i;
		collective->enter[i] = chakra->places[call->place].first;
		collective->leave[i] = chakra->places[call->place].last;
	}
	if (calls->root != UINT64_MAX && calls[collective->root].rank != calls->root)
		return goal_file_fail(goal, calls->place,
				      "the root is rank %" PRIu64
				      " (comm_src), which is not in group \"%s\"",
				      calls->root, group);
	if (calls->kind == COLLECTIVE_GATHER && calls->bytes > WORKLOAD_BYTES_MAX / count)
		return goal_file_fail(goal, calls->place,
				      "a gather of %" PRIu64 " bytes from each of %" PRIu32
				      " ranks; expected %" PRIu64 " in all at most",
				      calls->bytes, count, WORKLOAD_BYTES_MAX);
	return true;
}

/* Returns the number of calls of one collective. */
static uint32_t calls_of(const struct chakra *chakra, uint32_t first)
{
	const struct call *calls = &chakra->calls[first];
	uint32_t count = 1;

	while (first + count < chakra->call_count &&
	       strcmp(calls->group, calls[count].group) == 0 &&
	       calls[count].number == calls->number)
		count++;
	return count;
}

/* Makes collectives of the calls. The caller owns *lists and the result. Returns NULL on failure.
 */
static struct goal_collective *make_collectives(struct chakra *chakra, uint32_t *count,
						uint32_t **lists)
{
	struct goal_collective *made = calloc(chakra->call_count + 1, sizeof(*made));
	uint32_t members = 0;

	*lists = calloc((size_t)2 * chakra->call_count + 1, sizeof(**lists));
	assert(made && *lists);
	*count = 0;
	if (chakra->call_count > 0)
		sort_calls(chakra);
	for (uint32_t i = 0, calls; i < chakra->call_count; i += calls) {
		bool first = chakra->calls[i].number == 0;

		calls = calls_of(chakra, i);
		if (first) /* each member has a first one */
			members = chakra->calls[i].group[0] ? calls : chakra->goal.ranks;
		if (!make_one(chakra, &chakra->calls[i], calls, members, &made[(*count)++],
			      *lists + 2 * i)) {
			free(made);
			return NULL;
		}
	}
	return made;
}

/* ---- all ranks ---- */

static bool exists(const struct chakra *chakra, uint32_t rank)
{
	char path[CHAKRA_PATH_BYTES];

	path_of(chakra, rank, path);
	return access(path, F_OK) == 0;
}

/* Counts the files, which have the numbers from 0 on. */
static bool count_ranks(struct chakra *chakra)
{
	struct goal *goal = &chakra->goal;
	uint32_t hosts = goal->workload->hosts;
	const char *number = strstr(chakra->files, "%d");

	if (!number || strstr(number + 2, "%d"))
		return goal_file_fail(goal, GOAL_NONE,
				      "expected %%d once, for the number of the rank");
	if (strlen(chakra->files) + 10 > CHAKRA_PATH_BYTES)
		return goal_file_fail(goal, GOAL_NONE, "expected a path of %d bytes at most",
				      CHAKRA_PATH_BYTES - 10);
	while (goal->ranks <= hosts && exists(chakra, goal->ranks))
		goal->ranks++;
	if (goal->ranks > hosts)
		return goal_file_fail(goal, GOAL_NONE,
				      "files of more than %" PRIu32 " ranks, and %" PRIu32 " hosts",
				      hosts, hosts);
	for (uint32_t rank = goal->ranks + 1; rank < hosts; rank++)
		if (exists(chakra, rank))
			return goal_file_fail(goal, GOAL_NONE,
					      "rank %" PRIu32 " has a file, and rank %" PRIu32
					      " has none",
					      rank, goal->ranks);
	if (goal->ranks == 0)
		goal->ranks = 1; /* says why rank 0 cannot be read */
	return true;
}

static void name_ignored(struct chakra *chakra)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert(out);
	fputs("attributes", out);
	for (uint32_t i = 0; i < chakra->ignored_count; i++)
		fprintf(out, "%s %s (%" PRIu64 ")", i > 0 ? "," : "", chakra->ignored[i].name,
			chakra->ignored[i].count);
	if (chakra->ignored_more > 0)
		fprintf(out, " and others (%" PRIu32 ")", chakra->ignored_more);
	fclose(out);
	if (chakra->ignored_count > 0)
		workload_ignore(chakra->goal.workload, text);
	free(text);
}

bool workload_read_chakra(struct workload *workload, const char *files, char *error,
			  size_t error_bytes)
{
	struct chakra chakra = {.files = files};
	struct goal *goal = &chakra.goal;
	struct goal_collective *collectives = NULL;
	uint32_t count = 0, *lists = NULL;
	bool good;

	*goal = (struct goal){.workload = workload,
			      .error = error,
			      .error_bytes = error_bytes,
			      .line = GOAL_NONE,
			      .place = print_place,
			      .place_context = &chakra};
	good = count_ranks(&chakra);
	for (; good && chakra.rank < goal->ranks; chakra.rank++)
		good = read_rank(&chakra);
	if (good) {
		collectives = make_collectives(&chakra, &count, &lists);
		good = collectives && goal_make_flows(goal, collectives, count);
	}
	if (good)
		name_ignored(&chakra);
	goal_file_free(goal);
	free(collectives);
	free(lists);
	free(chakra.places);
	free(chakra.calls);
	free(chakra.dependencies);
	return good;
}
