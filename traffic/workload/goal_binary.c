/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goal_binary: reads a GOAL file in the binary form that txt2bin of the LogGOPSim tools writes. All
 * numbers are little-endian, and nothing is aligned:
 *
 *     cookie 4223 (8)
 *     ranks (4)  largest cpu (1)  largest nic (1)       positions count from here
 *     per rank: begin (8)  end (8)
 *     at `begin`: operations (4)  roots (4)  number of each root (4)
 *                 per operation: dependencies (4)  type (1)  peer (4)  size (8)  tag (4)
 *                                cpu (1)  nic (1)  users (4)  first user (4)
 *                                users of its start (4)  first of these (4)
 *                 the users: numbers of operations (4)
 *
 * Operations have no labels. Messages count them from 1 on, over all ranks.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "sim/input.h"
#include "traffic/workload/goal_file.h"

#define COOKIE          4223
#define CONSUMED_COOKIE 2342 /* a simulator that saves memory has used the file up */
#define COOKIE_BYTES    8
#define HEADER_BYTES    6
#define OP_BYTES        39
#define ANY             UINT32_MAX

struct binary {
	struct goal *goal;
	const uint8_t *bytes; /* behind the cookie */
	uint64_t length;
	/* of the current rank */
	const uint8_t *ops, *users;
	uint32_t op_count;
	uint64_t user_count;
};

static bool damaged(struct binary *binary, const char *what)
{
	struct goal *goal = binary->goal;

	snprintf(goal->error, goal->error_bytes, "%s: the binary GOAL file is damaged: %s",
		 goal->file, what);
	return false;
}

bool goal_binary_is(FILE *in)
{
	uint8_t cookie[COOKIE_BYTES];
	bool whole = fread(cookie, 1, sizeof(cookie), in) == sizeof(cookie);

	rewind(in);
	return whole && (le_get(cookie, 8) == COOKIE || le_get(cookie, 8) == CONSUMED_COOKIE);
}

static bool check_op(struct binary *binary, const struct goal_op *op)
{
	struct goal *goal = binary->goal;
	uint64_t most = op->kind == GOAL_CALC ? GOAL_NS_MAX : WORKLOAD_BYTES_MAX;

	if (op->amount > most)
		return goal_file_fail(goal, op->line, "%" PRIu64 ": expected %" PRIu64 " at most",
				      op->amount, most);
	if (op->kind == GOAL_CALC)
		return true;
	if (op->peer == ANY)
		return goal_file_fail(goal, op->line, "a recv from any rank is not supported");
	if (op->tag == ANY)
		return goal_file_fail(goal, op->line, "a recv of any tag is not supported");
	if (op->peer >= goal->ranks)
		return goal_file_fail(goal, op->line,
				      "%" PRIu32 " is not a rank; expected 0 to %" PRIu32, op->peer,
				      goal->ranks - 1);
	return true;
}

static bool read_op(struct binary *binary, uint32_t rank, const uint8_t *at)
{
	static const enum goal_kind kinds[] = {[1] = GOAL_SEND, [2] = GOAL_RECV, [3] = GOAL_CALC};
	struct goal *goal = binary->goal;
	unsigned type = at[4];
	struct goal_op op = {
		.rank = rank,
		.depends = le32_get(at) > 0,
		.peer = le32_get(at + 5),
		.amount = le_get(at + 9, 8),
		.tag = le32_get(at + 17),
		.line = goal->op_count + 1,
		.moment = GOAL_NONE,
		.flow = GOAL_NONE,
	};

	if (type == 0 || type >= ARRAY_SIZE(kinds))
		return goal_file_fail(goal, op.line,
				      "type %u; expected send, recv or calc (1 to 3)", type);
	op.kind = (uint8_t)kinds[type];
	if (!check_op(binary, &op))
		return false;
	goal_file_add_op(goal, &op);
	return true;
}

/* Adds the edges to the users of an operation, or of its start. */
static bool read_users(struct binary *binary, uint32_t op, const uint8_t *at, bool at_start,
		       uint32_t *edges)
{
	struct goal *goal = binary->goal;
	uint64_t count = le32_get(at), first = le32_get(at + 4);

	if (count > 0 && first + count > binary->user_count)
		return damaged(binary, "users of an operation are not there");
	for (uint64_t i = 0; i < count; i++) {
		uint32_t user = le32_get(binary->users + 4 * (first + i));

		if (user >= binary->op_count)
			return damaged(binary, "a user is no operation of its rank");
		edges[user]++;
		goal->ops[goal->first_op + op].is_asked |= at_start;
		goal_file_add_edge(goal, &(struct goal_edge){.then = goal->first_op + user,
							     .first = goal->first_op + op,
							     .line = goal->first_op + user + 1,
							     .at_start = at_start});
	}
	return true;
}

static bool read_edges(struct binary *binary)
{
	uint32_t *edges = calloc(binary->op_count + 1, sizeof(edges[0]));
	bool good = true;

	assert(edges);
	for (uint32_t i = 0; good && i < binary->op_count; i++) {
		const uint8_t *at = binary->ops + (uint64_t)OP_BYTES * i;

		good = read_users(binary, i, at + 23, false, edges) &&
		       read_users(binary, i, at + 31, true, edges);
	}
	for (uint32_t i = 0; good && i < binary->op_count; i++)
		if (edges[i] != le32_get(binary->ops + (uint64_t)OP_BYTES * i))
			good = damaged(binary, "an operation has another number of dependencies");
	free(edges);
	return good;
}

static bool read_rank(struct binary *binary, uint32_t rank)
{
	const uint8_t *entry = binary->bytes + HEADER_BYTES + (uint64_t)16 * rank;
	uint64_t begin = le_get(entry, 8), end = le_get(entry + 8, 8);

	if (begin > end || end > binary->length || end - begin < 8)
		return damaged(binary, "a rank lies behind the end of the file");
	binary->op_count = le32_get(binary->bytes + begin);

	uint64_t roots = le32_get(binary->bytes + begin + 4);
	uint64_t ops = begin + 8 + 4 * roots, users = ops + (uint64_t)OP_BYTES * binary->op_count;

	if (users > end)
		return damaged(binary, "operations lie behind the end of their rank");
	binary->ops = binary->bytes + ops;
	binary->users = binary->bytes + users;
	binary->user_count = (end - users) / 4;
	binary->goal->first_op = binary->goal->op_count;
	for (uint32_t i = 0; i < binary->op_count; i++)
		if (!read_op(binary, rank, binary->ops + (uint64_t)OP_BYTES * i))
			return false;
	return read_edges(binary);
}

static bool read_ranks(struct binary *binary)
{
	struct goal *goal = binary->goal;

	if (binary->length < HEADER_BYTES)
		return damaged(binary, "it ends inside its header");
	goal->ranks = le32_get(binary->bytes);
	if (goal->ranks == 0 || binary->length < HEADER_BYTES + (uint64_t)16 * goal->ranks)
		return damaged(binary, "it ends inside its table of ranks");
	if (goal->ranks > goal->workload->hosts) {
		snprintf(goal->error, goal->error_bytes,
			 "%s: %" PRIu32 " ranks, and %" PRIu32 " hosts", goal->file, goal->ranks,
			 goal->workload->hosts);
		return false;
	}
	for (uint32_t i = 0; i < goal->ranks; i++)
		if (!read_rank(binary, i))
			return false;
	return true;
}

bool goal_binary_read(struct goal *goal, FILE *in)
{
	struct binary binary = {.goal = goal};
	uint8_t *bytes = NULL;
	long size = -1;
	bool good = false;

	goal->binary = true;
	if (fseek(in, 0, SEEK_END) == 0)
		size = ftell(in);
	rewind(in);
	if (size >= COOKIE_BYTES)
		bytes = malloc((size_t)size);
	if (!bytes || fread(bytes, 1, (size_t)size, in) != (size_t)size) {
		damaged(&binary, "it cannot be read completely");
	} else if (le_get(bytes, 8) == CONSUMED_COOKIE) {
		snprintf(goal->error, goal->error_bytes,
			 "%s: a simulator has used this binary GOAL file up (its cookie is %d); "
			 "expected it as txt2bin wrote it",
			 goal->file, CONSUMED_COOKIE);
	} else {
		binary.bytes = bytes + COOKIE_BYTES;
		binary.length = (uint64_t)size - COOKIE_BYTES;
		good = read_ranks(&binary);
		goal->line = goal->op_count;
	}
	free(bytes);
	return good;
}
