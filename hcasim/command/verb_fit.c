/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_fit: implements hcasim fit ROW... --preset NAME --param KEY=LOW..HIGH: finds the numbers of
 * a preset that are `calibrated:` to rows of published figures (analysis/fit.h). Prints the results
 * of these rows: the fitted cases, and the predicted ones.
 *
 *     fit_run() --values--> preset_replace() --> published_run_case() of each case
 *         --log(simulated / published)--> fit_run()
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fit.h"
#include "hcasim/command/published.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/preset.h"

enum { ROWS_MAX = 16, CASES_MAX = 128, TEXT_BYTES = 128, UNIT_BYTES = 16 };

struct number { /* parameter of the preset */
	char key[TEXT_BYTES], unit[UNIT_BYTES], assignment[2 * TEXT_BYTES];
};

struct fitting {
	const struct arguments *arguments;
	struct published_row *rows[ROWS_MAX];
	size_t row_count;
	struct {
		struct published_row *row;
		struct published_case *of;
		double before;
		bool fitted;
	} cases[CASES_MAX];
	size_t case_count;
	struct number numbers[FIT_NUMBERS_MAX];
	struct fit_number bounds[FIT_NUMBERS_MAX];
	struct yaml_errors errors;
};

/* ---- arguments ---- */

/* Reads "LOW..HIGH", where both have the same unit, and an optional "/STEP". */
static bool read_bounds(const char *text, struct number *number, struct fit_number *bounds)
{
	char low_unit[UNIT_BYTES] = "", high_unit[UNIT_BYTES] = "";
	const char *dots = strstr(text, "..");
	int length = 0;

	bounds->step = 1;
	if (!dots || sscanf(text, "%" SCNu64 "%15[A-Za-z]", &bounds->low, low_unit) < 1 ||
	    sscanf(dots, "..%" SCNu64 "%n", &bounds->high, &length) < 1)
		return false;
	text = dots + length;
	if (sscanf(text, "%15[A-Za-z]%n", high_unit, &length) == 1)
		text += length;
	if (*text == '/' && sscanf(text, "/%" SCNu64 "%n", &bounds->step, &length) == 1)
		text += length;
	snprintf(number->unit, sizeof(number->unit), "%s", high_unit);
	return !*text && (!*low_unit || strcmp(low_unit, high_unit) == 0) && bounds->step >= 1 &&
	       bounds->low >= 1 && bounds->low <= bounds->high && bounds->low % bounds->step == 0 &&
	       bounds->high % bounds->step == 0;
}

static bool read_numbers(struct fitting *fitting)
{
	const struct arguments *arguments = fitting->arguments;

	if (arguments->number_count == 0 || arguments->number_count > FIT_NUMBERS_MAX ||
	    !arguments->preset || arguments->word_count == 0) {
		say("expected ROW... --preset NAME --param KEY=LOW..HIGH, with up to %d --param",
		    FIT_NUMBERS_MAX);
		return false;
	}
	for (size_t i = 0; i < arguments->number_count; i++) {
		const char *text = arguments->numbers[i], *equals = strchr(text, '=');
		struct number *number = &fitting->numbers[i];
		size_t length = equals ? (size_t)(equals - text) : 0;

		if (!length || length >= sizeof(number->key) ||
		    !read_bounds(equals + 1, number, &fitting->bounds[i])) {
			say("\"%s\" is not a parameter with bounds; expected KEY=LOW..HIGH[/STEP] "
			    "with whole numbers from 1 that are multiples of STEP, for example "
			    "pcie.read_latency=100ns..400ns",
			    text);
			return false;
		}
		snprintf(number->key, sizeof(number->key), "%.*s", (int)length, text);
	}
	return true;
}

static bool is_fitted(const struct arguments *arguments, const char *name)
{
	for (size_t i = 0; i < arguments->case_count; i++)
		if (strncmp(name, arguments->cases[i], strlen(arguments->cases[i])) == 0)
			return true;
	return arguments->case_count == 0;
}

static bool add_row(const char *file, void *context)
{
	struct fitting *fitting = context;
	struct published_row *row;

	if (fitting->row_count == ROWS_MAX)
		return false;
	row = published_read(file, &fitting->errors);
	if (!row)
		return false;
	fitting->rows[fitting->row_count++] = row;
	for (size_t i = 0; i < row->case_count && fitting->case_count < CASES_MAX; i++) {
		size_t at = fitting->case_count++;

		fitting->cases[at].row = row;
		fitting->cases[at].of = &row->cases[i];
		fitting->cases[at].fitted = is_fitted(fitting->arguments, row->cases[i].name);
	}
	return true;
}

/* ---- measuring ---- */

static double middle(const struct published_case *of)
{
	return (of->point.low + of->point.high) / 2;
}

/* Measures the fitted cases, or the others. Prints an error and returns false if one cannot be
 * measured. */
static bool measure_all(struct fitting *fitting, bool fitted)
{
	for (size_t i = 0; i < fitting->case_count; i++) {
		struct published_case *of = fitting->cases[i].of;

		if (fitting->cases[i].fitted != fitted)
			continue;
		published_run_case(fitting->cases[i].row, of, &fitting->errors);
		if (of->measured && of->point.ours > 0 && middle(of) > 0)
			continue;
		say("%s, %s: log(simulated / published) is not defined: %s",
		    fitting->cases[i].row->id, of->name, of->measured ? "one is 0" : of->error);
		return false;
	}
	return true;
}

static void replace(struct fitting *fitting, const uint64_t *values)
{
	static const char *assignments[FIT_NUMBERS_MAX];

	for (size_t i = 0; i < fitting->arguments->number_count; i++) {
		struct number *number = &fitting->numbers[i];

		snprintf(number->assignment, sizeof(number->assignment), "%s=%" PRIu64 "%s",
			 number->key, values[i], number->unit);
		assignments[i] = number->assignment;
	}
	preset_replace(fitting->arguments->preset, assignments, fitting->arguments->number_count);
}

static bool residuals_of(void *context, const uint64_t *values, double *residuals)
{
	struct fitting *fitting = context;

	replace(fitting, values);
	if (!measure_all(fitting, true))
		return false;
	if (!preset_was_replaced()) {
		say("no fitted case uses preset \"%s\"", fitting->arguments->preset);
		return false;
	}
	for (size_t i = 0; i < fitting->case_count; i++)
		if (fitting->cases[i].fitted)
			*residuals++ = log(fitting->cases[i].of->point.ours /
					   middle(fitting->cases[i].of));
	return true;
}

/* ---- the result ---- */

/* Prints a number with its standard error, which says how well the cases determine it. */
static void print_number(const struct fitting *fitting, const struct fit *fit, size_t i)
{
	const struct number *number = &fitting->numbers[i];

	printf("%s: %s", fitting->arguments->preset, number->assignment);
	if (isfinite(fit->numbers[i].error))
		printf(" (standard error %.2g%s)", fit->numbers[i].error, number->unit);
	else
		printf(" (standard error unknown: too few cases, or no slope)");
	putchar('\n');
}

static void print(const struct fitting *fitting, const struct fit *fit)
{
	for (size_t i = 0; i < fit->number_count; i++)
		print_number(fitting, fit, i);
	printf("%u points measured; root mean square of log(simulated / published) of the fitted "
	       "cases: %.4f\n",
	       fit->measured, fit->error);
	for (size_t i = 0; i < fitting->case_count; i++) {
		const struct published_case *of = fitting->cases[i].of;

		printf("%-7s %-48s %12g %10.5g -> %10.5g %-5s %+7.1f%% %s\n",
		       fitting->cases[i].row->id, of->name, middle(of), fitting->cases[i].before,
		       of->point.ours, of->unit, 100 * compare_error(&of->point),
		       fitting->cases[i].fitted ? "fitted" : "follows");
	}
}

static bool run(struct fitting *fitting)
{
	uint64_t values[FIT_NUMBERS_MAX];
	struct fit fit = {
		.numbers = fitting->bounds,
		.number_count = fitting->arguments->number_count,
		.measure = residuals_of,
		.context = fitting,
	};

	for (size_t i = 0; i < fitting->case_count; i++)
		fit.residual_count += fitting->cases[i].fitted;
	if (!fit.residual_count) {
		say("no name of a row begins with the text of --case");
		return false;
	}
	if (!measure_all(fitting, true) || !measure_all(fitting, false))
		return false;
	for (size_t i = 0; i < fitting->case_count; i++)
		fitting->cases[i].before = fitting->cases[i].of->point.ours;
	if (!fit_run(&fit))
		return false;
	for (size_t i = 0; i < fit.number_count; i++)
		values[i] = fit.numbers[i].value;
	replace(fitting, values);
	if (!measure_all(fitting, true) || !measure_all(fitting, false))
		return false;
	print(fitting, &fit);
	return true;
}

int verb_fit(const struct arguments *arguments)
{
	struct fitting *fitting = calloc(1, sizeof(*fitting));
	bool good;

	if (!fitting)
		abort();
	fitting->arguments = arguments;
	good = read_numbers(fitting);
	good = good &&
	       published_files(arguments->words_given, arguments->word_count, add_row, fitting);
	good = good && fitting->errors.count == 0 && run(fitting);
	yaml_errors_print(&fitting->errors, stderr);
	good = good && fitting->errors.count == 0;
	preset_replace(NULL, NULL, 0);
	for (size_t i = 0; i < fitting->row_count; i++)
		published_free(fitting->rows[i]);
	yaml_errors_free(&fitting->errors);
	free(fitting);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
