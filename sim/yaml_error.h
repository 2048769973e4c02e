/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_error: errors in a user's input as records. Readers collect errors, so that one run shows
 * all errors. The program prints them once, as text or as JSON:
 *
 *     file.yaml:3:9: rate: "25" has no unit; expected a rate: bps, Kbps, Mbps, Gbps, Tbps
 *     {"file": "file.yaml", "line": 3, "column": 9, "key": "fabric.link.rate", "found": "25", ...}
 *
 * A message has this form: PROBLEM; expected EXPECTED; did you mean "SUGGESTION"? The last two
 * parts may be absent.
 */
#ifndef SIM_YAML_ERROR_H
#define SIM_YAML_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct yaml_node;

/* All texts belong to the record. */
struct yaml_problem {
	char *file;
	uint32_t line, column; /* from 1; 0 if the place is the whole file */
	char *key;             /* path, as in --set; "" for the top of the file */
	char *found;           /* the text there, "a list", "a map" or "nothing"; NULL if unknown */
	char *message;         /* whole message, without the position */
	char *expected;        /* NULL if the message does not state it */
	char *suggestion;      /* NULL if there is no suggestion */
};

#define YAML_ERRORS_MAX 100

struct yaml_errors {
	struct yaml_problem *list; /* the first YAML_ERRORS_MAX */
	size_t kept;
	unsigned count;
	char *text; /* cache of yaml_errors_text() */
	/* Writes where else the file may have the key of a path, as the end of a message about a
	 * key that its map does not have. NULL: not known. */
	void (*key_places)(const char *path, char *hint, size_t hint_bytes);
};

#define YAML_PATH_BYTES 512

/* Writes the path of the node from the top of its document, as --set takes it. */
void yaml_error_path(const struct yaml_node *node, char path[YAML_PATH_BYTES]);

/* Adds an error at the position of the node. */
void yaml_error(struct yaml_errors *errors, const struct yaml_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds an error at the position of the entry's key. */
void yaml_error_key(struct yaml_errors *errors, const struct yaml_node *node, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));

/* Adds an error that was rendered before: "file:line:column: message". */
void yaml_error_parse(struct yaml_errors *errors, const char *file, const char *text);

/* Moves an error to another place, and puts `context` and ": " in front of its message. */
void yaml_error_move(struct yaml_problem *problem, const char *file, uint32_t line, uint32_t column,
		     const char *context);

/* Moves all errors of `from` to the end of `errors`. */
void yaml_errors_append(struct yaml_errors *errors, struct yaml_errors *from);

/* Prints one line for each error. */
void yaml_errors_print(const struct yaml_errors *errors, FILE *out);

/* Prints a JSON list of the records. */
void yaml_errors_print_json(const struct yaml_errors *errors, FILE *out);

/* Returns the lines of yaml_errors_print(), which belong to `errors`, or NULL if there are none. */
const char *yaml_errors_text(struct yaml_errors *errors);

/* Releases the collected errors and leaves the collection empty. */
void yaml_errors_free(struct yaml_errors *errors);

#endif
