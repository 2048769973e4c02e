/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published: reads one row of published figures from a file. A row has a source, a driver that
 * measures the same quantity in hcasim, and the published value of each case.
 *
 *     published/B1-01.yaml --published_read()--> row --driver--> measured, published
 *         --> pass, miss
 *
 * `order` lists cases whose values must decrease, for a published order. `choices` lists the values
 * that the row chose because the publication does not state them; published_robust() halves and
 * doubles each. `unfinished` is the reason why incomplete flows do not matter; without it they make
 * the row miss. `full` describes the original size of a row that is measured at a smaller size: its
 * hardware, and settings of the driver, which take precedence. `hcasim published --full` measures
 * at that size.
 */
#ifndef HCASIM_COMMAND_PUBLISHED_H
#define HCASIM_COMMAND_PUBLISHED_H

#include <stdio.h>

#include "analysis/compare.h"
#include "sim/yaml.h"

enum { PUBLISHED_ERROR_BYTES = 256 };

/* Evidence that a passing row gives about the models. */
/* clang-format off */
#define PUBLISHED_CLASSES(X) \
	X(predicted, \
	  "no parameter was fitted to it") \
	X(calibrated, \
	  "a parameter of a preset or a default was chosen from one of its cases") \
	X(transcribed, \
	  "compares a number with itself: a preset or table has the number from the same source") \
	X(recalled,    "the value has not been checked against its source")
#define PUBLISHED_CLASS_ENUM(name, meaning) CLASS_##name,
enum published_class { PUBLISHED_CLASSES(PUBLISHED_CLASS_ENUM) CLASS_COUNT };
/* clang-format on */

const char *published_class_name(enum published_class class);

struct published_case {
	const char *name; /* name of the case within the row */
	const char *unit; /* unit of the case, or of the row */
	/* keys for the driver; `own` takes precedence over `common` */
	struct yaml_node *common, *own;
	/* curve of the row that the case belongs to; NULL: the row has one curve */
	const char *curve;
	struct yaml_node *minus, *over; /* measurements to subtract and to divide by; NULL: none */
	struct compare_point point;
	struct compare_tolerance tolerance;
	bool measured, passed;
	double flows, unfinished;          /* of the runs of a study; 0 for other drivers */
	char error[PUBLISHED_ERROR_BYTES]; /* reason for a missing measurement */
};

struct published_order {
	size_t *cases, count; /* indices of the row's cases */
	bool passed;
};

/* A value that the publication does not state (window, cores, buffer). It is a key path of `set`,
 * or of `values` in a study, with the values used by the cases. */
struct published_choice {
	const char *key;
	struct yaml_node *values; /* one value, or a list */
	bool number;              /* false: not a number, so it is printed but cannot be halved */
	struct published_experiment {
		char text[32]; /* values measured instead of the chosen ones */
		bool measured, passed;
		size_t cases_passed;
	} experiments[2]; /* halved, doubled; valid after published_robust() */
};

/* Key whose values are multiplied in all cases. choice NULL: none. */
struct published_scale {
	const struct published_choice *choice;
	double factor;
};

/* Settings that a case passes to its driver. `varied` comes first, then `full`, `own` and
 * `common`. */
struct published_settings {
	struct yaml_node *own, *common; /* NULL: none */
	struct yaml_node *full;         /* settings for the original size; NULL: none */
	struct yaml_node *varied;       /* choice that is halved or doubled; NULL: none */
	double *flows, *unfinished;     /* studies: the largest number in any run */
	struct yaml_errors *errors;
	void **kept; /* data that the driver keeps between the cases of a row; NULL at first */
};

/* Measures one case. Returns false and writes the reason to `error` if the case cannot be measured.
 * Adds errors of the file to settings->errors. */
typedef bool published_driver(const struct published_settings *settings, double *ours, char *error);

/* Frees the data that a driver kept. */
typedef void published_forget(void *kept);

struct published_row {
	const char *id, *what, *hardware, *source, *unit, *axis;
	bool logarithmic;
	struct compare_tolerance tolerance;
	enum published_class class;
	const char *unfinished; /* reason why incomplete flows do not matter; NULL: they matter */
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
	struct yaml_node *full; /* NULL: the row has one size, or --full is not given */
	struct yaml_document *document;
};

/* Reads a row. Returns NULL and adds the reasons to `errors` on failure. */
struct published_row *published_read(const char *file, struct yaml_errors *errors);

void published_free(struct published_row *row);

/* Changes the row to the original's size. Returns false if the row does not specify that size. */
bool published_enlarge(struct published_row *row);

/* Measures and judges one case, without the order of its row. */
void published_run_case(struct published_row *row, struct published_case *of,
			struct yaml_errors *errors);

/* Measures and judges all cases. */
void published_run(struct published_row *row, struct yaml_errors *errors);

/* Returns true if both cases are points of one curve in a plot of the row. */
bool published_same_curve(const struct published_case *one, const struct published_case *other);

/* Measures the row with each choice halved and doubled, and restores it. Call it after
 * published_run(). Returns true if any of these changes the verdict. */
bool published_robust(struct published_row *row);

/* Reads `choices:`. Call it after all cases are read. */
void published_choices_read(struct published_row *row, struct yaml_node *map,
			    struct yaml_errors *errors);

/* Returns the settings map of a scaled choice for a case, or NULL if there is none or it is
 * refused. The caller frees it with yaml_close(). */
struct yaml_document *published_choice_map(const struct published_row *row, struct yaml_node *own,
					   struct yaml_node *common, struct yaml_errors *errors);

/* Return true if all cases were within their tolerance and all orders held, or if all cases were
 * measured. Call them after published_run(). */
bool published_passed(const struct published_row *row);
bool published_measured(const struct published_row *row);

/* Returns true if a miss of this row counts as a defect of the models: rows of B3, C and F with a
 * tolerance of 5 % or less. */
bool published_is_gate(const struct published_row *row);

/* Calls `each` for files until it returns false. A word that is a path (FILE.yaml, or with a slash)
 * names one file. Any other word selects the row files of the installation or build tree whose
 * names begin with it; without words, all row files. Returns false and prints the reason if a word,
 * or the tree, has none. */
bool published_files(const char *const *words, size_t word_count,
		     bool (*each)(const char *file, void *context), void *context);

/* Return a setting for a driver: as a node (NULL if absent), a text or a number (the default if
 * absent). */
struct yaml_node *published_get(const struct published_settings *settings, const char *key);
const char *published_text(const struct published_settings *settings, const char *key,
			   const char *default_text);
double published_number(const struct published_settings *settings, const char *key,
			double default_number);

struct hca_params;
/* Applies `host:` to the parameters: first from the common settings, then from the case's own. */
void published_host(const struct published_settings *settings, struct hca_params *params);

published_driver published_probe, published_pcie, published_wire, published_program,
	published_study, published_load, published_preset;
published_forget published_study_forget;

#endif
