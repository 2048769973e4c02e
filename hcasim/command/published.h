/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published: one row of published figures as a file: where it is from, which driver measures the same here, and what was
 * published for each case.
 *
 *     published/B1-01.yaml --published_read()--> row --driver--> ours beside published --> pass, miss
 *
 * Where an order was published, `order` lists names of cases, the largest first: ours must fall from each to the next.
 * `choices` lists what the row chose where its publication says nothing; published_robust() halves and doubles each.
 * `unfinished` says why flows that had not ended do not matter; without it they make the row miss.
 * A row that is measured smaller than the original says under `full` how large that was: its hardware, and values as the
 * driver's own, which come last. `hcasim published --full` measures it so.
 */
#ifndef HCASIM_COMMAND_PUBLISHED_H
#define HCASIM_COMMAND_PUBLISHED_H

#include <stdio.h>

#include "analysis/compare.h"
#include "sim/yaml.h"

enum { PUBLISHED_ERROR_BYTES = 256 };

/* What a row that holds says of the models. */
/* clang-format off */
#define PUBLISHED_CLASSES(X)                                                                        \
	X(predicted,   "nothing was fitted to it")                                                      \
	X(calibrated,  "a number of a preset or of a default was chosen by a case of it")                 \
	X(transcribed, "compares a number with itself: a preset or a table has it from the same source")  \
	X(recalled,    "nobody has read the figure again in its source")
#define PUBLISHED_CLASS_ENUM(name, meaning) CLASS_##name,
enum published_class { PUBLISHED_CLASSES(PUBLISHED_CLASS_ENUM) CLASS_COUNT };
/* clang-format on */

const char *published_class_name(enum published_class class);

struct published_case {
	const char *name;               /* what sets it apart */
	const char *unit;               /* its own, or the row's */
	struct yaml_node *common, *own; /* the driver's keys; own before common */
	const char *curve; /* of the row's, that it belongs to; NULL: there is but one */
	struct yaml_node *minus, *over; /* measured, too: subtracted, divided by; NULL: not */
	struct compare_point point;
	struct compare_tolerance tolerance;
	bool measured, passed;
	double flows, unfinished;          /* of the runs of a study; 0 of other drivers */
	char error[PUBLISHED_ERROR_BYTES]; /* not measured: why */
};

struct published_order {
	size_t *cases, count; /* of the row */
	bool passed;
};

/* A choice beyond the publication (window, cores, buffer): a key path of `set`, of `values` in a study, and the values that cases have. */
struct published_choice {
	const char *key;
	struct yaml_node *values; /* one, or a list of them */
	bool number;              /* else it is shown and cannot be halved */
	struct published_experiment {
		char text[32]; /* the values that were measured in place of these */
		bool measured, passed;
		size_t cases_passed;
	} experiments[2]; /* halved, doubled: after published_robust() */
};

/* A key of all cases whose values are multiplied. NULL: none. */
struct published_scale {
	const struct published_choice *choice;
	double factor;
};

/* What a case says to its driver. A key is varied, its own, or else common to the row. */
struct published_settings {
	struct yaml_node *own, *common; /* NULL: none */
	struct yaml_node *full;         /* what makes it as large as the original; NULL: nothing */
	struct yaml_node *varied;       /* a choice halved or doubled; NULL: none */
	double *flows, *unfinished;     /* of studies: the most of a run */
	struct yaml_errors *errors;
	void **kept; /* what the driver keeps from case to case of a row; NULL at first */
};

/* Measures one case. false: it cannot be measured here, and error says why. What is wrong with the file goes to errors. */
typedef bool published_driver(const struct published_settings *settings, double *ours, char *error);

/* Frees what a driver has kept. */
typedef void published_forget(void *kept);

struct published_row {
	const char *id, *what, *hardware, *source, *unit, *axis;
	bool logarithmic;
	struct compare_tolerance tolerance;
	enum published_class class;
	const char *unfinished; /* why flows that had not ended are no matter; NULL: they are */
	struct published_choice *choices;
	size_t choice_count;
	bool choices_listed;
	struct published_scale scale;
	published_driver *driver;
	published_forget *forget; /* NULL: the driver keeps nothing */
	void *kept;
	struct published_case *cases;
	size_t case_count;
	struct published_order *orders;
	size_t order_count;
	struct yaml_node *full; /* NULL: it has but one size, or that is not asked for */
	struct yaml_document *document;
};

/* NULL: errors says why. */
struct published_row *published_read(const char *file, struct yaml_errors *errors);

void published_free(struct published_row *row);

/* From now on as large as the original. false: the row does not say how large that was. */
bool published_enlarge(struct published_row *row);

/* Measures one case and judges it, but not by the order of its row. */
void published_run_case(struct published_row *row, struct published_case *of,
			struct yaml_errors *errors);

/* Measures all cases and judges each. */
void published_run(struct published_row *row, struct yaml_errors *errors);

/* Are they points of one line in a plot of the row? */
bool published_same_curve(const struct published_case *one, const struct published_case *other);

/* After published_run(): measures the row with each choice halved and doubled, and leaves it as it was. Returns whether its verdict
 * hangs on one of them. */
bool published_robust(struct published_row *row);

/* Reads `choices:`, once all cases are read. */
void published_choices_read(struct published_row *row, struct yaml_node *map,
			    struct yaml_errors *errors);

/* The map of a scaled choice for a case's own keys; NULL, if it is refused or there is none. yaml_close() is the caller's. */
struct yaml_document *published_choice_map(const struct published_row *row, struct yaml_node *own,
					   struct yaml_node *common, struct yaml_errors *errors);

/* After published_run(): were all cases within the tolerance, and all orders kept? Were all cases measured? */
bool published_passed(const struct published_row *row);
bool published_measured(const struct published_row *row);

/* A miss of this row is a defect of the models: rows of B3, C and F with a tolerance of 5 % or less. */
bool published_is_gate(const struct published_row *row);

/* Calls back with each file that a word names (FILE.yaml, or with a slash), then with each row file of the installation or build tree
 * whose name begins with one of the words (none: all), in the order of the rows, until that says false. false, having said why: there is none, or none for one of the words. */
bool published_files(const char *const *words, size_t word_count,
		     bool (*each)(const char *file, void *context), void *context);

/* For drivers: a setting, NULL if absent; its text, `default_text` if absent; its number, `default_number` if absent. */
struct yaml_node *published_get(const struct published_settings *settings, const char *key);
const char *published_text(const struct published_settings *settings, const char *key,
			   const char *default_text);
double published_number(const struct published_settings *settings, const char *key,
			double default_number);

struct hca_params;
/* What `host:` says, common first, then the case's own. */
void published_host(const struct published_settings *settings, struct hca_params *params);

published_driver published_probe, published_pcie, published_wire, published_program,
	published_study, published_load, published_preset;
published_forget published_study_forget;

#endif
