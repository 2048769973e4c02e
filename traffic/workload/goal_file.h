/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goal_file: reads the operations of a GOAL file and the dependencies between them.
 * traffic/workload/goal.c converts them to flows, and those that chakra.c has read from Chakra
 * traces.
 */
#ifndef TRAFFIC_WORKLOAD_GOAL_FILE_H
#define TRAFFIC_WORKLOAD_GOAL_FILE_H

#include <stdio.h>

#include "traffic/workload/collective.h"

#define GOAL_NONE UINT32_MAX

enum goal_kind { GOAL_CALC, GOAL_SEND, GOAL_RECV };

struct goal_op {
	char *label;     /* NULL: no label */
	uint64_t amount; /* bytes, or nanoseconds of a calc */
	uint64_t tag;
	uint32_t rank, peer, line;
	uint32_t flow;   /* flow that represents or ends the operation */
	uint32_t moment; /* barrier that represents its start; GOAL_NONE: not needed */
	/* depends: on other operations. is_asked: another operation depends on its start. */
	bool depends, is_asked;
	uint8_t kind;
};

struct goal_edge {
	/* valid until the end of the rank, because labels may be defined later */
	char *then_label, *first_label;
	uint32_t then, first; /* operations */
	uint32_t line;
	bool at_start;
};

/* A collective of Chakra traces: member i enters at operation enter[i] and leaves at leave[i],
 * both calcs of its rank. */
struct goal_collective {
	enum collective_kind kind;
	uint32_t root, count; /* members; root is one of 0 .. count - 1 */
	uint64_t bytes;
	uint32_t *enter, *leave; /* [count] the caller's */
};

struct goal {
	struct workload *workload;
	const char *file;
	char *error; /* reason of the first error */
	size_t error_bytes;
	struct goal_op *ops;
	struct goal_edge *edges;
	uint32_t op_count, op_capacity, edge_count, edge_capacity;
	/* rank: GOAL_NONE outside a rank. first_op, first_edge: the first of the current rank. */
	uint32_t ranks, rank, first_op, first_edge;
	uint32_t line; /* binary file: number of the operation, from 1 on */
	bool in_comment, binary;
	/* Writes the place of an operation with that `line`. NULL: it is file and line */
	void (*place)(const struct goal *goal, uint32_t line, char *text, size_t bytes);
	void *place_context;
};

#define GOAL_NS_MAX UINT64_C(1000000000000000) /* longest calc */

/* Reads a file in either form. The caller sets workload, error and error_bytes; all other fields
 * are zero. Returns false with the reason in goal->error. */
bool goal_file_read(struct goal *goal, const char *file);
void goal_file_free(struct goal *goal);

/* Detect and read the binary form of a GOAL file (goal_binary.c). goal_binary_is() rewinds the
 * file. */
bool goal_binary_is(FILE *in);
bool goal_binary_read(struct goal *goal, FILE *in);

/* Returns the list with room for one more entry. Doubles its capacity if it is full. */
void *goal_file_room(void *list, uint32_t count, uint32_t *capacity, size_t bytes);

/* Add an operation or an edge without a change. */
void goal_file_add_op(struct goal *goal, const struct goal_op *op);
void goal_file_add_edge(struct goal *goal, const struct goal_edge *edge);

/* Makes flows of all operations, edges and collectives. Returns false with the reason in
 * goal->error. goal.c */
bool goal_make_flows(struct goal *goal, const struct goal_collective *collectives, uint32_t count);

/* Writes an error message with file and line. Returns false. */
bool goal_file_fail(struct goal *goal, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
