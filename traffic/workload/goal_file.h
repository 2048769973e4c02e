/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goal_file: the operations of a GOAL file (traffic/workload/goal.c says what they become), and which of them requires
 * which.
 */
#ifndef TRAFFIC_WORKLOAD_GOAL_FILE_H
#define TRAFFIC_WORKLOAD_GOAL_FILE_H

#include "traffic/workload/workload.h"

#define GOAL_NONE UINT32_MAX

enum goal_kind { GOAL_CALC, GOAL_SEND, GOAL_RECV };

struct goal_op {
	char *label;     /* NULL: none */
	uint64_t amount; /* bytes, or nanoseconds */
	uint64_t tag;
	uint32_t rank, peer, line;
	uint32_t flow;          /* that stands for it, or ends it */
	uint32_t moment;        /* at which it begins; GOAL_NONE: nobody asks */
	bool depends, is_asked; /* on others; for when it begins */
	uint8_t kind;
};

struct goal_edge {
	char *then_label, *first_label; /* until the rank's end: labels may come later */
	uint32_t then, first;           /* operations */
	uint32_t line;
	bool at_start;
};

struct goal {
	struct workload *workload;
	const char *file;
	char *error; /* what is wrong, once something is */
	size_t error_bytes;
	struct goal_op *ops;
	struct goal_edge *edges;
	uint32_t op_count, op_capacity, edge_count, edge_capacity;
	uint32_t ranks, rank, first_op, first_edge; /* rank: GOAL_NONE outside of one; its first */
	uint32_t line;
	bool in_comment;
};

/* workload, why and error_bytes are set, the rest is zero. false: why it is no such file. */
bool goal_file_read(struct goal *goal, const char *file);
void goal_file_free(struct goal *goal);

/* Always false, having said so. */
bool goal_fail(struct goal *goal, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
