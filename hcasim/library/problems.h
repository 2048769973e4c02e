/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problems: the errors and warnings of one simulation, as users of the library see them.
 *
 *     struct yaml_errors --problems_take()--> struct hcasim_problem --hcasim_problem()--> user
 */
#ifndef HCASIM_LIBRARY_PROBLEMS_H
#define HCASIM_LIBRARY_PROBLEMS_H

#include "hcasim/hcasim.h"
#include "sim/yaml_error.h"

struct problems { /* zeroed: none */
	struct hcasim_problem *list;
	size_t count;
};

/* Copies all records. */
void problems_take(struct problems *problems, const struct yaml_errors *errors, bool are_warnings);

/* Adds an error without a place. Returns false. */
bool problems_add(struct problems *problems, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds an error whose text begins with its place: "file:line:column: message". Returns false. */
bool problems_add_placed(struct problems *problems, const char *file, const char *text);

void problems_fini(struct problems *problems);

#endif
