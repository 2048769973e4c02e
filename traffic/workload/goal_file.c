/* SPDX-License-Identifier: Apache-2.0 */
/* goal_file: see goal_file.h. */
#include "traffic/workload/goal_file.h"
#include "sim/input.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX   12 /* l1: send 8b to 1 tag 0 cpu 0 nic 0 */
#define LINE_BYTES  1024
#define PLACE_BYTES 512

bool goal_file_fail(struct goal *goal, uint32_t line, const char *format, ...)
{
	char text[256];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	if (goal->place) {
		char place[PLACE_BYTES];

		goal->place(goal, line, place, sizeof(place));
		snprintf(goal->error, goal->error_bytes, "%s: %s", place, text);
		return false;
	}
	snprintf(goal->error, goal->error_bytes,
		 goal->binary ? "%s: operation %u: %s" : "%s:%u: %s", goal->file, line, text);
	return false;
}

void *goal_file_room(void *list, uint32_t count, uint32_t *capacity, size_t bytes)
{
	if (count < *capacity)
		return list;
	*capacity = *capacity ? 2 * *capacity : 1024;
	list = realloc(list, *capacity * bytes);
	assert(list);
	return list;
}

void goal_file_add_op(struct goal *goal, const struct goal_op *op)
{
	goal->ops =
		goal_file_room(goal->ops, goal->op_count, &goal->op_capacity, sizeof(*goal->ops));
	goal->ops[goal->op_count++] = *op;
}

void goal_file_add_edge(struct goal *goal, const struct goal_edge *edge)
{
	goal->edges = goal_file_room(goal->edges, goal->edge_count, &goal->edge_capacity,
				     sizeof(*goal->edges));
	goal->edges[goal->edge_count++] = *edge;
}

/* ---- words ---- */

/* Blanks comments, which may go over several lines. */
static void blank_comments(struct goal *goal, char *line)
{
	for (char *at = line; *at; at++) {
		if (goal->in_comment) {
			goal->in_comment = strncmp(at, "*/", 2) != 0;
			if (!goal->in_comment)
				at[1] = ' ';
			*at = ' ';
		} else if (strncmp(at, "/*", 2) == 0) {
			goal->in_comment = true;
			*at++ = ' ';
			*at = ' ';
		} else if (strncmp(at, "//", 2) == 0) {
			*at = '\0';
			return;
		}
	}
}

/* Splits a line at spaces; each of : { } is a word. Returns the number of words, or WORDS_MAX + 1
 * if there are more. */
static unsigned split(char *line, char text[2 * LINE_BYTES], char *words[WORDS_MAX + 1])
{
	unsigned count = 0;
	char *out = text;

	while (count <= WORDS_MAX) {
		line += strspn(line, " \t\r\n");
		if (!*line)
			break;
		size_t length = strcspn(line, " \t\r\n:{}");

		length += length == 0;
		words[count++] = out;
		memcpy(out, line, length);
		out[length] = '\0';
		out += length + 1;
		line += length;
	}
	return count;
}

/* Reads digits, followed by `unit` if that is not empty. */
static bool read_number(const char *word, const char *unit, uint64_t *number)
{
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return false;
	*number = strtoull(word, &end, 10);
	return strcmp(end, unit) == 0;
}

/* ---- operations ---- */

static bool read_peer(struct goal *goal, struct goal_op *op, char **words, unsigned count)
{
	const char *to = op->kind == GOAL_SEND ? "to" : "from";
	uint64_t peer;

	if (count < 3 || strcmp(words[1], to) != 0)
		return goal_file_fail(goal, goal->line, "expected BYTESb %s RANK", to);
	if (strcmp(words[2], "-1") == 0)
		return goal_file_fail(goal, goal->line, "a recv from any rank is not supported");
	if (!read_number(words[2], "", &peer) || peer >= goal->ranks)
		return goal_file_fail(goal, goal->line, "\"%s\" is not a rank; expected 0 to %u",
				      words[2], goal->ranks - 1);
	op->peer = (uint32_t)peer;
	return true;
}

static bool read_rest(struct goal *goal, struct goal_op *op, char **words, unsigned count)
{
	for (unsigned i = 0; i < count; i += 2) {
		bool tag = strcmp(words[i], "tag") == 0;
		uint64_t number;

		if (!tag && strcmp(words[i], "cpu") != 0 && strcmp(words[i], "nic") != 0)
			return goal_file_fail(goal, goal->line,
					      "found \"%s\"; expected tag, cpu or nic", words[i]);
		if (i + 1 < count && tag && strcmp(words[i + 1], "-1") == 0)
			return goal_file_fail(goal, goal->line,
					      "a recv of any tag is not supported");
		if (i + 1 == count || !read_number(words[i + 1], "", &number))
			return goal_file_fail(goal, goal->line, "expected a number after %s",
					      words[i]);
		if (tag)
			op->tag = number;
	}
	return true;
}

/* words: behind the label. */
static bool read_op(struct goal *goal, const char *label, char **words, unsigned count)
{
	static const char *const names[] = {"calc", "send", "recv"};
	struct goal_op op = {
		.rank = goal->rank, .line = goal->line, .moment = GOAL_NONE, .flow = GOAL_NONE};

	while (op.kind < ARRAY_SIZE(names) && strcmp(words[0], names[op.kind]) != 0)
		op.kind++;
	if (op.kind == ARRAY_SIZE(names))
		return goal_file_fail(goal, goal->line, "found \"%s\"; expected calc, send or recv",
				      words[0]);
	if (count < 2 || !read_number(words[1], op.kind == GOAL_CALC ? "" : "b", &op.amount))
		return goal_file_fail(goal, goal->line, "expected a number of %s behind %s",
				      op.kind == GOAL_CALC ? "nanoseconds" : "bytes, as 8b",
				      words[0]);
	if (op.amount > (op.kind == GOAL_CALC ? GOAL_NS_MAX : WORKLOAD_BYTES_MAX))
		return goal_file_fail(goal, goal->line, "%s: expected %" PRIu64 " at most",
				      words[1],
				      op.kind == GOAL_CALC ? GOAL_NS_MAX : WORKLOAD_BYTES_MAX);
	if (op.kind != GOAL_CALC && !read_peer(goal, &op, words + 1, count - 1))
		return false;
	unsigned used = op.kind == GOAL_CALC ? 2 : 4;

	if (!read_rest(goal, &op, words + used, count - used))
		return false;
	op.label = label ? strdup(label) : NULL;
	goal_file_add_op(goal, &op);
	return true;
}

/* ---- dependencies, among the operations of a rank ---- */

static void add_edge(struct goal *goal, const char *then, const char *first, bool at_start)
{
	goal_file_add_edge(goal, &(struct goal_edge){.then_label = strdup(then),
						     .first_label = strdup(first),
						     .line = goal->line,
						     .at_start = at_start});
}

static int compare_labels(const void *one, const void *other)
{
	const struct goal_op *const *a = one, *const *b = other;

	return strcmp((*a)->label, (*b)->label);
}

static int compare_name(const void *name, const void *other)
{
	const struct goal_op *const *op = other;

	return strcmp(name, (*op)->label);
}

static bool find_label(struct goal *goal, struct goal_op **sorted, size_t count, const char *label,
		       uint32_t line, uint32_t *found)
{
	struct goal_op **place = bsearch(label, sorted, count, sizeof(*sorted), compare_name);

	if (!place)
		return goal_file_fail(goal, line, "rank %u has no \"%s\"", goal->rank, label);
	*found = (uint32_t)(*place - goal->ops);
	return true;
}

static bool end_rank(struct goal *goal)
{
	struct goal_op **sorted = calloc(goal->op_count - goal->first_op + 1, sizeof(*sorted));
	size_t count = 0;
	bool good = true;

	assert(sorted);
	for (uint32_t i = goal->first_op; i < goal->op_count; i++)
		if (goal->ops[i].label)
			sorted[count++] = &goal->ops[i];
	qsort(sorted, count, sizeof(*sorted), compare_labels);
	for (size_t i = 1; good && i < count; i++)
		if (strcmp(sorted[i - 1]->label, sorted[i]->label) == 0)
			good = goal_file_fail(goal, sorted[i]->line,
					      "\"%s\" is defined twice in rank "
					      "%u",
					      sorted[i]->label, goal->rank);
	for (uint32_t i = goal->first_edge; good && i < goal->edge_count; i++) {
		struct goal_edge *edge = &goal->edges[i];

		good = find_label(goal, sorted, count, edge->then_label, edge->line, &edge->then) &&
		       find_label(goal, sorted, count, edge->first_label, edge->line, &edge->first);
		if (good) {
			goal->ops[edge->then].depends = true;
			goal->ops[edge->first].is_asked |= edge->at_start;
		}
	}
	free(sorted);
	goal->rank = GOAL_NONE;
	return good;
}

/* ---- lines ---- */

static bool begin_rank(struct goal *goal, char **words, unsigned count)
{
	uint64_t rank;

	if (count != 3 || strcmp(words[2], "{") != 0 || !read_number(words[1], "", &rank))
		return goal_file_fail(goal, goal->line, "expected rank NUMBER {");
	if (rank >= goal->ranks)
		return goal_file_fail(goal, goal->line, "rank %s of num_ranks %u", words[1],
				      goal->ranks);
	goal->rank = (uint32_t)rank;
	goal->first_op = goal->op_count;
	goal->first_edge = goal->edge_count;
	return true;
}

static bool read_ranks(struct goal *goal, char **words, unsigned count)
{
	uint64_t ranks;

	if (count != 2 || !read_number(words[1], "", &ranks) || ranks == 0)
		return goal_file_fail(goal, goal->line, "expected num_ranks NUMBER");
	if (goal->ranks > 0)
		return goal_file_fail(goal, goal->line, "num_ranks is defined twice");
	if (ranks > goal->workload->hosts)
		return goal_file_fail(goal, goal->line, "%s ranks, and %u hosts", words[1],
				      goal->workload->hosts);
	goal->ranks = (uint32_t)ranks;
	return true;
}

static bool read_words(struct goal *goal, char **words, unsigned count)
{
	if (strcmp(words[0], "num_ranks") == 0)
		return read_ranks(goal, words, count);
	if (goal->ranks == 0)
		return goal_file_fail(goal, goal->line, "found \"%s\"; expected num_ranks first",
				      words[0]);
	if (goal->rank == GOAL_NONE && strcmp(words[0], "rank") == 0)
		return begin_rank(goal, words, count);
	if (goal->rank == GOAL_NONE)
		return goal_file_fail(goal, goal->line, "found \"%s\"; expected rank NUMBER {",
				      words[0]);
	if (strcmp(words[0], "}") == 0)
		return end_rank(goal);
	if (count == 3 &&
	    (strcmp(words[1], "requires") == 0 || strcmp(words[1], "irequires") == 0)) {
		add_edge(goal, words[0], words[2], words[1][0] == 'i');
		return true;
	}
	if (count >= 3 && strcmp(words[1], ":") == 0)
		return read_op(goal, words[0], words + 2, count - 2);
	return read_op(goal, NULL, words, count);
}

static bool read_file(struct goal *goal, FILE *in)
{
	char line[LINE_BYTES], text[2 * LINE_BYTES], *words[WORDS_MAX + 1];
	bool good = true;

	while (good && fgets(line, sizeof(line), in)) {
		goal->line++;
		if (strlen(line) == LINE_BYTES - 1 && !strchr(line, '\n'))
			return goal_file_fail(goal, goal->line, "the line has more than %d bytes",
					      LINE_BYTES - 2);
		blank_comments(goal, line);
		unsigned count = split(line, text, words);

		if (count > WORDS_MAX)
			return goal_file_fail(goal, goal->line,
					      "found \"%s\"; expected the end of the line",
					      words[WORDS_MAX]);
		good = count == 0 || read_words(goal, words, count);
	}
	if (good && goal->rank != GOAL_NONE)
		return goal_file_fail(goal, goal->line, "rank %u has no }", goal->rank);
	return good;
}

bool goal_file_read(struct goal *goal, const char *file)
{
	FILE *in = input_open(file);

	goal->file = file;
	goal->rank = GOAL_NONE;
	if (!in) {
		snprintf(goal->error, goal->error_bytes, "trace: %s cannot be read: %s", file,
			 input_error());
		return false;
	}
	bool good = goal_binary_is(in) ? goal_binary_read(goal, in) : read_file(goal, in);

	fclose(in);
	return good;
}

void goal_file_free(struct goal *goal)
{
	for (uint32_t i = 0; i < goal->op_count; i++)
		free(goal->ops[i].label);
	for (uint32_t i = 0; i < goal->edge_count; i++) {
		free(goal->edges[i].then_label);
		free(goal->edges[i].first_label);
	}
	free(goal->ops);
	free(goal->edges);
}
