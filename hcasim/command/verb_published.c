/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_published: implements hcasim published [ROW...]: measures published figures again and prints
 * both values. Prints a line per row with its worst case, or with --verbose a line per case. --out
 * DIR writes cases.csv with a line per case, and the curves of rows. --full measures rows at the
 * size of the original, if their files specify it. --robust measures each row with every choice
 * halved and doubled, and names the rows whose verdict changes.
 *
 * The exit code is 1 only if a row misses that follows from a standard alone (published_is_gate()).
 * Other misses are results.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/chart_drawing.h"
#include "hcasim/command/published.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/preset.h"
#include "sim/json.h"

struct tally {
	unsigned rows, passed, missed, skipped, gates_missed;
	unsigned cases, cases_passed, cases_missed;
	unsigned class_rows[CLASS_COUNT], class_passed[CLASS_COUNT], class_skipped[CLASS_COUNT];
	unsigned plots;
	unsigned listed, fragile;
	unsigned smaller; /* rows without another size, which --full skips */
};

struct run {
	const struct arguments *arguments;
	struct tally tally;
	FILE *cases; /* file of --out; NULL: not created yet */
	bool good;   /* all files are valid, or the error has been printed */
};

/* ---- printing ---- */

enum { CONDITIONS_COLUMNS = 80, NUMBER_BYTES = 32, LINE_BYTES = 512 };

/* Five digits, and no exponent where a reader would not write one. */
static void print_metric(double value, char *text, size_t bytes)
{
	snprintf(text, bytes, fabs(value) >= 1e5 && fabs(value) < 1e9 ? "%.0f" : "%.5g", value);
}

static void print_published(const struct compare_point *point, char *text, size_t bytes)
{
	char low[NUMBER_BYTES], high[NUMBER_BYTES], reading[NUMBER_BYTES];

	print_metric(point->low, low, sizeof(low));
	print_metric(point->high, high, sizeof(high));
	print_metric(point->reading, reading, sizeof(reading));
	snprintf(text, bytes, "%s%s%s%s%s", low, point->high > point->low ? ".." : "",
		 point->high > point->low ? high : "", point->reading > 0 ? "+-" : "",
		 point->reading > 0 ? reading : "");
}

static const char *verdict(bool measured, bool passed)
{
	return !measured ? "skip" : passed ? "pass" : "miss";
}

/* Prints the conditions of a row. A text that is too long for its column is shortened before the
 * tail; --json prints it completely. */
static void print_conditions(const char *id, const char *what, const char *tail)
{
	int left = CONDITIONS_COLUMNS - (int)strlen(tail), length = (int)strlen(what);
	bool cut = length > left && left > 3;

	printf("%-7s %.*s%s%s%*s", id, cut ? left - 3 : length, what, cut ? "..." : "", tail,
	       length < left ? left - length : 0, "");
}

static void print_heading(void)
{
	print_conditions("row", "conditions", "");
	printf(" %13s %9s %-7s %8s %-9s\n", "published", "ours", "", "error", "tolerance");
}

static void print_case(const struct published_case *of, const char *id, const char *what,
		       const char *tail)
{
	const char *tolerance = of->tolerance.name;
	char theirs[3 * NUMBER_BYTES + 4], ours[NUMBER_BYTES];

	print_conditions(id, what, tail);
	print_published(&of->point, theirs, sizeof(theirs));
	print_metric(of->point.ours, ours, sizeof(ours));
	if (!of->measured)
		printf(" %13s %9s %-7s %8s %-9s skip: %s\n", theirs, "-", of->unit, "-", tolerance,
		       of->error);
	else
		printf(" %13s %9s %-7s %+7.1f%% %-9s %s", theirs, ours, of->unit,
		       100 * compare_error(&of->point), tolerance, verdict(true, of->passed));
	if (of->measured && of->unfinished > 0)
		printf(" (%.0f of %.0f flows had not ended)", of->unfinished, of->flows);
	if (of->measured)
		putchar('\n');
}

/* Returns a case that was not measured, else one that misses, else the one with the largest
 * error. */
static const struct published_case *worst_case(const struct published_row *row)
{
	const struct published_case *worst = &row->cases[0];

	for (size_t i = 1; i < row->case_count; i++) {
		const struct published_case *of = &row->cases[i];

		if (!worst->measured)
			break;
		if (!of->measured || (worst->passed && !of->passed) ||
		    (of->passed == worst->passed &&
		     fabs(compare_error(&of->point)) > fabs(compare_error(&worst->point))))
			worst = of;
	}
	return worst;
}

/* Prints the orders of a row. `failed`: only orders that do not hold. */
static void print_orders(const struct published_row *row, bool failed)
{
	for (size_t i = 0; i < row->order_count; i++) {
		const struct published_order *order = &row->orders[i];

		if (order->passed && failed)
			continue;
		printf("%-7s order:", failed ? row->id : "");
		for (size_t k = 0; k < order->count; k++)
			printf("%s %s", k > 0 ? " >" : "", row->cases[order->cases[k]].name);
		printf("  %s\n", verdict(true, order->passed));
	}
}

static void print_experiment(const struct published_row *row,
			     const struct published_experiment *experiment, const char *what)
{
	printf("; %s (%s) ", what, experiment->text);
	if (experiment->measured)
		printf("%s, %zu of %zu cases", verdict(true, experiment->passed),
		       experiment->cases_passed, row->case_count);
	else
		printf("cannot be");
}

static void print_values(const struct published_choice *choice)
{
	const struct yaml_node *node = choice->values;

	if (node->kind != YAML_LIST)
		printf("%s", node->text);
	else
		for (node = node->children; node; node = node->next)
			printf("%s%s", node->text, node->next ? ", " : "");
}

/* Prints the choices of a row; with --robust also the results of other choices. */
static void print_choices(const struct published_row *row, bool robust, bool fragile)
{
	if (row->choice_count == 0)
		printf("%-7s choices: %s\n", "", row->choices_listed ? "none" : "not listed");
	for (size_t i = 0; i < row->choice_count; i++) {
		const struct published_choice *choice = &row->choices[i];

		printf("%-7s choice: %s ", "", choice->key);
		print_values(choice);
		if (robust && choice->number && published_measured(row)) {
			print_experiment(row, &choice->experiments[0], "halved");
			print_experiment(row, &choice->experiments[1], "doubled");
		}
		putchar('\n');
	}
	if (fragile)
		printf("%-7s fragile: its verdict depends on a choice\n", row->id);
	if (row->unfinished)
		printf("%-7s flows that had not ended: %s\n", "", row->unfinished);
}

static void print_cases(const struct published_row *row)
{
	printf("%-7s %s; %s; %s\n", row->id, row->what, row->hardware,
	       published_class_name(row->class));
	for (size_t i = 0; i < row->case_count; i++)
		print_case(&row->cases[i], "", row->cases[i].name, "");
	print_orders(row, false);
}

static void print_row(const struct published_row *row)
{
	const struct published_case *worst = worst_case(row);
	char tail[LINE_BYTES];

	if (row->case_count == 1)
		snprintf(tail, sizeof(tail), ", %s", worst->name);
	else
		snprintf(tail, sizeof(tail), ", worst of %zu: %s", row->case_count, worst->name);
	print_case(worst, row->id, row->what, tail);
	if (published_measured(row))
		print_orders(row, true);
}

static void print_pair(const char *key, const char *text)
{
	printf("\"%s\": ", key);
	json_text(stdout, text);
	printf(", ");
}

static void print_number(const char *key, double value)
{
	if (isfinite(value))
		printf("\"%s\": %.9g, ", key, value);
	else
		printf("\"%s\": null, ", key);
}

static void print_json_choices(const struct published_row *row, bool robust, bool fragile)
{
	static const char *const names[] = {"halved", "doubled"};

	if (!row->choices_listed) {
		printf("\"choices\": null, ");
		return;
	}
	printf("\"choices\": [");
	for (size_t i = 0; i < row->choice_count; i++) {
		const struct published_choice *choice = &row->choices[i];
		const struct yaml_node *node = choice->values;

		printf("%s\n    {\"key\": ", i > 0 ? "," : "");
		json_text(stdout, choice->key);
		printf(", \"values\": [");
		for (node = node->kind == YAML_LIST ? node->children : node; node;
		     node = choice->values->kind == YAML_LIST ? node->next : NULL) {
			printf("%s", node == choice->values || node == choice->values->children
					     ? ""
					     : ", ");
			json_text(stdout, node->text);
		}
		putchar(']');
		for (unsigned k = 0; k < 2 && robust && choice->number; k++)
			printf(", \"%s\": \"%s\"", names[k],
			       verdict(choice->experiments[k].measured,
				       choice->experiments[k].passed));
		putchar('}');
	}
	printf("], ");
	if (robust)
		printf("\"fragile\": %s, ", fragile ? "true" : "false");
}

static void print_json(const struct published_row *row, bool first, bool robust, bool fragile)
{
	printf("%s\n  {", first ? "" : ",");
	print_pair("row", row->id);
	print_pair("what", row->what);
	print_pair("hardware", row->hardware);
	print_pair("source", row->source);
	print_pair("unit", row->unit);
	print_pair("class", published_class_name(row->class));
	print_pair("verdict", verdict(published_measured(row), published_passed(row)));
	print_json_choices(row, robust, fragile);
	printf("\"cases\": [");
	for (size_t i = 0; i < row->case_count; i++) {
		const struct published_case *of = &row->cases[i];

		printf("%s\n    {", i > 0 ? "," : "");
		print_pair("case", of->name);
		print_pair("unit", of->unit);
		print_number("published", of->point.low);
		print_number("published_to", of->point.high);
		print_number("plus_minus", of->point.reading);
		print_number("ours", of->measured ? of->point.ours : NAN);
		print_number("error", of->measured ? compare_error(&of->point) : NAN);
		print_pair("tolerance", of->tolerance.name);
		print_number("flows", of->flows);
		print_number("unfinished", of->unfinished);
		printf("\"verdict\": \"%s\"}", verdict(of->measured, of->passed));
	}
	printf("], \"orders\": [");
	for (size_t i = 0; i < row->order_count; i++) {
		printf("%s\n    {\"order\": [", i > 0 ? "," : "");
		for (size_t k = 0; k < row->orders[i].count; k++) {
			printf("%s", k > 0 ? ", " : "");
			json_text(stdout, row->cases[row->orders[i].cases[k]].name);
		}
		printf("], \"verdict\": \"%s\"}", verdict(true, row->orders[i].passed));
	}
	printf("]}");
}

/* ---- plots ---- */

/* Returns the letter, or a replacement if it is unsafe in a file name. */
static char file_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '-' ? letter : '-';
}

/* Writes the curve of a case. All cases of the row must have been measured. */
static bool write_curve(const struct published_row *row, const struct published_case *of,
			const char *folder)
{
	const char *curve = of->curve;
	char name[NAME_MAX], title[NAME_MAX], error[PATH_MAX];
	struct chart *chart;
	bool good;

	snprintf(name, sizeof(name), "%s%s%s", row->id, curve ? "-" : "", curve ? curve : "");
	snprintf(title, sizeof(title), "%s%s%s", row->what, curve ? ": " : "", curve ? curve : "");
	for (char *letter = name; *letter; letter++)
		*letter = file_letter(*letter);
	chart = chart_create(CHART_CURVES, name, title);
	chart_axis_set(&chart->x, row->axis, "");
	chart_axis_set(&chart->y, row->unit, "");
	chart->x.logarithmic = row->logarithmic;
	chart->y.least = 0;
	struct chart_curve *published = chart_curve_add(chart, "published", CURVE_POINTS);
	struct chart_curve *simulated = chart_curve_add(chart, "simulated", CURVE_POINTS);
	for (size_t i = 0; i < row->case_count; i++) {
		const struct compare_point *point = &row->cases[i].point;

		if (!published_same_curve(&row->cases[i], of))
			continue;
		chart_band_add(published, point->x, (point->low + point->high) / 2, point->low,
			       point->high);
		chart_point_add(simulated, point->x, point->ours);
		if (row->logarithmic)
			chart_axis_tick(&chart->x, point->x);
	}
	good = chart_drawing_write(chart, folder, error, sizeof(error));
	if (!good)
		say("%s: cannot write the curve", error);
	chart_free(chart);
	return good;
}

/* Writes a plot per curve. Returns the number of files. */
static unsigned write_plots(const struct published_row *row, const char *folder)
{
	unsigned plots = 0;

	for (size_t i = 0; i < row->case_count; i++) {
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = !published_same_curve(&row->cases[j], &row->cases[i]);
		if (first)
			plots += write_curve(row, &row->cases[i], folder);
	}
	return plots;
}

/* ---- cases.csv ---- */

static void write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs("\",", out);
}

/* Writes a line per case. A case that was not measured has an empty value. The lines of a row are
 * in the file when the row ends, so that an interrupted command loses no finished row. */
static void write_cases(const struct published_row *row, FILE *out)
{
	for (size_t i = 0; i < row->case_count; i++) {
		const struct published_case *of = &row->cases[i];

		fprintf(out, "%s,", row->id);
		write_text(out, of->name);
		write_text(out, of->unit);
		fprintf(out, "%.9g,%.9g,", of->point.low, of->point.high);
		if (of->measured)
			fprintf(out, "%.9g,%.6f", of->point.ours, compare_error(&of->point));
		else
			fputc(',', out);
		fprintf(out, ",%s,%s,%s\n", of->tolerance.name, published_class_name(row->class),
			verdict(of->measured, of->passed));
	}
	fflush(out);
}

/* Creates the folder with the first row, so that no empty folder is created. */
static bool begin_out(struct run *run)
{
	const char *folder = run->arguments->out;
	char path[PATH_MAX];

	if (!folder || run->cases)
		return true;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", folder, strerror(errno));
		return false;
	}
	if (snprintf(path, sizeof(path), "%s/cases.csv", folder) < (int)sizeof(path))
		run->cases = fopen(path, "w");
	if (!run->cases) {
		say("%s/cases.csv: %s", folder, strerror(errno));
		return false;
	}
	fputs("row,case,unit,published,published_to,ours,error,tolerance,class,verdict\n",
	      run->cases);
	return true;
}

/* ---- all rows ---- */

static void count_row(const struct published_row *row, struct tally *tally)
{
	bool measured = published_measured(row), passed = published_passed(row);

	tally->rows++;
	tally->skipped += !measured;
	tally->passed += measured && passed;
	tally->class_rows[row->class]++;
	tally->class_passed[row->class] += measured && passed;
	tally->class_skipped[row->class] += !measured;
	tally->missed += measured && !passed;
	tally->gates_missed += measured && !passed && published_is_gate(row);
	for (size_t i = 0; i < row->case_count; i++) {
		tally->cases++;
		tally->cases_passed += row->cases[i].passed;
		tally->cases_missed += row->cases[i].measured && !row->cases[i].passed;
	}
}

static bool do_row(const char *file, void *context)
{
	struct run *run = context;
	const struct arguments *arguments = run->arguments;
	struct tally *tally = &run->tally;
	struct yaml_errors errors = {0};
	struct published_row *row = published_read(file, &errors);
	bool left_out = row && arguments->full && !published_enlarge(row);

	if (left_out) {
		tally->smaller++;
		published_free(row);
	} else if (row && !begin_out(run)) {
		run->good = false;
		published_free(row);
		yaml_errors_free(&errors);
		return false;
	} else if (row) {
		if (tally->rows == 0 && arguments->json)
			printf("{\"published\": [");
		else if (tally->rows == 0)
			print_heading();
		bool fragile;

		published_run(row, &errors);
		fragile = arguments->robust && published_robust(row);
		tally->listed += row->choices_listed;
		tally->fragile += fragile;
		if (arguments->json)
			print_json(row, tally->rows == 0, arguments->robust, fragile);
		else if (arguments->verbose)
			print_cases(row);
		else
			print_row(row);
		if (!arguments->json && (arguments->verbose || arguments->robust))
			print_choices(row, arguments->robust, fragile);
		count_row(row, tally);
		if (run->cases)
			write_cases(row, run->cases);
		if (arguments->out && row->axis && published_measured(row))
			tally->plots += write_plots(row, arguments->out);
		published_free(row);
	}
	run->good = run->good && errors.count == 0;
	yaml_errors_print(&errors, stderr);
	yaml_errors_free(&errors);
	fflush(stdout);
	return true;
}

/* Prints the rows of each class separately, because only predicted rows test the models. */
static void print_classes(const struct tally *tally)
{
	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		if (tally->class_rows[i] > 0)
			printf("%-11s %u rows: %u pass, %u miss, %u skipped\n",
			       published_class_name((enum published_class)i), tally->class_rows[i],
			       tally->class_passed[i],
			       tally->class_rows[i] - tally->class_passed[i] -
				       tally->class_skipped[i],
			       tally->class_skipped[i]);
	}
}

static void print_count(const struct arguments *arguments, const struct tally *tally)
{
	if (arguments->json) {
		printf("],\n \"rows\": %u, \"passed\": %u, \"missed\": %u, \"skipped\": %u,\n"
		       " \"cases\": %u, \"cases_passed\": %u, \"cases_missed\": %u}\n",
		       tally->rows, tally->passed, tally->missed, tally->skipped, tally->cases,
		       tally->cases_passed, tally->cases_missed);
		return;
	}
	print_classes(tally);
	printf("choices beyond the publication: listed by %u of %u rows", tally->listed,
	       tally->rows);
	if (arguments->robust)
		printf("; %u rows are fragile", tally->fragile);
	putchar('\n');
	printf("%u rows: %u pass, %u miss, %u skipped; %u of %u cases pass\n", tally->rows,
	       tally->passed, tally->missed, tally->skipped, tally->cases_passed, tally->cases);
	if (arguments->out)
		printf("cases.csv and %u curves in %s%s\n", tally->plots, arguments->out,
		       chart_drawing_possible() ? "" : "; no plots: gnuplot is not installed");
}

/* Prints A1-01 for the file PATH/A1-01.yaml. */
static bool print_word(const char *file, void *context)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	(void)context;
	printf("%.*s\n", (int)strcspn(name, "."), name);
	return true;
}

int verb_published(const struct arguments *arguments)
{
	struct run run = {.arguments = arguments, .good = true};

	if (arguments->words)
		return published_files(arguments->words_given, arguments->word_count, print_word,
				       NULL)
			       ? EXIT_GOOD
			       : EXIT_BAD_INPUT;
	bool found = published_files(arguments->words_given, arguments->word_count, do_row, &run);
	if (run.cases && fclose(run.cases) != 0) {
		say("%s/cases.csv: %s", arguments->out, strerror(errno));
		run.good = false;
	}
	if (!found)
		return EXIT_BAD_INPUT;
	if (run.good && run.tally.rows == 0) {
		say("no larger size to measure: no full: in %u "
		    "row%s",
		    run.tally.smaller, run.tally.smaller == 1 ? "" : "s");
		return EXIT_BAD_INPUT;
	}
	if (arguments->out && !run.cases)
		return EXIT_BAD_INPUT;
	print_count(arguments, &run.tally);
	if (!run.good)
		return EXIT_BAD_INPUT;
	return run.tally.gates_missed > 0 ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
}
