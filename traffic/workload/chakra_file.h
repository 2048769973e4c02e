/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chakra_file: reads the file of one rank of a Chakra execution trace (MLCommons): messages of
 * protobuf, each behind its length as a varint. The first message is the GlobalMetadata, each other
 * one a node:
 *
 *     length GlobalMetadata  length Node  length Node ...
 */
#ifndef TRAFFIC_WORKLOAD_CHAKRA_FILE_H
#define TRAFFIC_WORKLOAD_CHAKRA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAKRA_PATH_BYTES 400
#define CHAKRA_NAME_BYTES 64

/* clang-format off */
#define CHAKRA_TYPES(X) X(INVALID) X(METADATA) X(MEM_LOAD) X(MEM_STORE) X(COMP) \
	X(COMM_SEND) X(COMM_RECV) X(COMM_COLL)
/* clang-format on */
#define CHAKRA_TYPE_ENUM(name) CHAKRA_##name,
enum chakra_type { CHAKRA_TYPES(CHAKRA_TYPE_ENUM) CHAKRA_TYPE_COUNT };

/* Attributes that a run uses, and numbers of them. */
#define CHAKRA_NUMBERS(X)        X(comm_type) X(comm_size) X(comm_src) X(comm_dst) X(comm_tag)
#define CHAKRA_NUMBER_ENUM(name) CHAKRA_##name,
enum chakra_number { CHAKRA_NUMBERS(CHAKRA_NUMBER_ENUM) CHAKRA_NUMBER_COUNT };

struct chakra_node {
	uint64_t id, duration_us;
	uint64_t byte; /* place of its length in the file */
	enum chakra_type type;
	const uint64_t *dependencies[2]; /* data, control; valid until the next call */
	size_t dependency_counts[2];
	uint64_t numbers[CHAKRA_NUMBER_COUNT];
	bool has[CHAKRA_NUMBER_COUNT];
	char group[CHAKRA_NAME_BYTES]; /* pg_name; "": the group of all ranks */
};

struct chakra_file;

/* Opens a file and reads its GlobalMetadata. `ignore` is called with the name of each attribute
 * that a run does not use. Returns NULL and writes the reason to *error on failure. */
struct chakra_file *chakra_file_open(const char *path,
				     void (*ignore)(void *context, const char *attribute),
				     void *context, char *error, size_t error_bytes);
void chakra_file_close(struct chakra_file *file);

/* Reads the next node. Returns false at the end of the file, and after an error, which is in
 * *error. */
bool chakra_file_next(struct chakra_file *file, struct chakra_node *node);

/* Copies the beginning of a name. Bytes that a terminal could obey become question marks. */
void chakra_file_printable(char name[CHAKRA_NAME_BYTES], const char *from);

/* Writes the error "trace: PATH: byte B: TEXT". Returns false. */
bool chakra_file_fail(struct chakra_file *file, uint64_t byte, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
