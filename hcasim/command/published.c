/* SPDX-License-Identifier: Apache-2.0 */
/* published: see published.h. */
#include "hcasim/command/published.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/preset.h"

static const struct {
	const char *name;
	published_driver *driver;
	published_forget *forget;
} drivers[] = {
	{"probe", published_probe, NULL},
	{"pcie", published_pcie, NULL},
	{"wire", published_wire, NULL},
	{"program", published_program, NULL},
	{"study", published_study, published_study_forget},
	{"load", published_load, NULL},
	{"preset", published_preset, NULL},
};

/* clang-format off */
#define CLASS_NAME(name, meaning) #name,
static const char *const class_names[] = { PUBLISHED_CLASSES(CLASS_NAME) };
/* clang-format on */

const char *published_class_name(enum published_class class)
{
	return class_names[class];
}

static const double gate_tolerance = 0.05;

static const char *const row_keys[] = {
	"class", "row", "what", "hardware", "source", "tolerance", "driver",  "unit",
	"axis",  "log", "set",  "expect",   "order",  "full",      "choices", "unfinished"};
static const char *const full_keys[] = {"hardware", "values"};
static const char *const case_keys[] = {"case",       "x",         "curve",     "set",
					"minus",      "over",      "published", "to",
					"plus_minus", "tolerance", "unit"};

/* ---- settings ---- */

struct yaml_node *published_get(const struct published_settings *settings, const char *key)
{
	struct yaml_node *own = settings->own ? yaml_get(settings->own, key) : NULL;
	struct yaml_node *common = settings->common ? yaml_get(settings->common, key) : NULL;
	struct yaml_node *varied = settings->varied ? yaml_get(settings->varied, key) : NULL;

	return varied ? varied : own ? own : common;
}

const char *published_text(const struct published_settings *settings, const char *key,
			   const char *default_text)
{
	struct yaml_node *node = published_get(settings, key);
	const char *text = node ? yaml_expect_text(node, "a text", settings->errors) : default_text;

	return text ? text : default_text;
}

static double read_number(struct yaml_node *node, double default_number, struct yaml_errors *errors)
{
	const char *text = node ? yaml_expect_text(node, "a number", errors) : NULL;
	char *end;
	double value;

	if (!text)
		return default_number;
	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value)) {
		yaml_error(errors, node, "\"%s\" is not a number", text);
		return default_number;
	}
	return value;
}

double published_number(const struct published_settings *settings, const char *key,
			double default_number)
{
	return read_number(published_get(settings, key), default_number, settings->errors);
}

void published_host(const struct published_settings *settings, struct hca_params *params)
{
	struct yaml_node *maps[] = {settings->common, settings->own, settings->varied};

	hca_params_default(params);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct yaml_node *host = maps[i] ? yaml_get(maps[i], "host") : NULL;

		if (host)
			preset_read(COMPOSITE_HOST, host, NULL, params, NULL, settings->errors);
	}
}

/* ---- reading ---- */

static const char *need_text(struct yaml_node *map, const char *key, struct yaml_errors *errors)
{
	struct yaml_node *node = yaml_get(map, key);
	const char *text = NULL;

	if (node)
		text = yaml_expect_text(node, "a text", errors);
	else
		yaml_error(errors, map, "%s is missing", key);
	return text ? text : "";
}

#define TOLERANCES "EXACT, T1, T2, T3, X2, X10, SHAPE, 5%% or +-0.1"

static void read_tolerance(struct yaml_node *map, struct compare_tolerance *tolerance,
			   struct yaml_errors *errors)
{
	struct yaml_node *node = yaml_get(map, "tolerance");
	const char *text = node ? yaml_expect_text(node, TOLERANCES, errors) : NULL;

	if (text && !compare_tolerance_find(text, tolerance))
		yaml_error(errors, node, "\"%s\" is not a tolerance; expected " TOLERANCES, text);
}

/* Reads the class of a row. A row of the driver preset is always transcribed. A row with a recalled
 * source is at best recalled. */
static void read_class(struct published_row *row, struct yaml_node *root,
		       struct yaml_errors *errors)
{
	struct yaml_node *node = yaml_get(root, "class");
	const char *text = node ? yaml_expect_text(node, "a class", errors) : NULL;
	const char *near = text ? yaml_suggest(text, class_names, CLASS_COUNT) : NULL;
	unsigned class = 0;

	while (text && class < CLASS_COUNT && strcmp(text, class_names[class]) != 0)
		class ++;
	if (class == CLASS_COUNT) {
		yaml_error(errors, node,
			   "\"%s\" is not a class; expected predicted, calibrated, transcribed or "
			   "recalled%s%s%s",
			   text, near ? "; did you mean \"" : "", near ? near : "",
			   near ? "\"?" : "");
		return;
	}
	row->class = (enum published_class) class;
	if (row->driver == published_preset && row->class != CLASS_transcribed)
		yaml_error(errors, node ? node : root,
			   "the driver preset compares a number with itself, which is not a test; "
			   "expected class: transcribed");
	else if (row->class == CLASS_predicted && strstr(row->source, "recalled"))
		yaml_error(
			errors, node ? node : root,
			"a recalled figure does not test a prediction; expected class: recalled");
}

static void read_case(struct published_row *row, struct yaml_node *map, struct yaml_node *common,
		      struct yaml_errors *errors)
{
	struct published_case *into = &row->cases[row->case_count++];
	struct yaml_node *name, *published, *to, *curve, *unit;

	if (!yaml_expect_map(map, "a case with its published value", errors))
		return;
	into->common = common;
	into->own = yaml_get(map, "set");
	curve = yaml_get(map, "curve");
	unit = yaml_get(map, "unit");
	into->unit = unit ? yaml_expect_text(unit, "a text", errors) : row->unit;
	into->curve = curve ? yaml_expect_text(curve, "a text", errors) : NULL;
	into->minus = yaml_get(map, "minus");
	into->over = yaml_get(map, "over");
	into->tolerance = row->tolerance;
	read_tolerance(map, &into->tolerance, errors);
	into->point.x = read_number(yaml_get(map, "x"), 0, errors);
	name = yaml_get(map, "case");
	if (!name)
		name = yaml_get(map, "x");
	into->name = name ? yaml_expect_text(name, "a text", errors) : "";
	published = yaml_get(map, "published");
	if (!published)
		yaml_error(errors, map, "published is missing");
	into->point.low = read_number(published, 0, errors);
	to = yaml_get(map, "to");
	into->point.high = read_number(to, into->point.low, errors);
	into->point.reading = read_number(yaml_get(map, "plus_minus"), 0, errors);
	yaml_refuse_unused(map, case_keys, ARRAY_SIZE(case_keys), errors);
}

/* Returns the index of a case, or row->case_count if there is none with that name. */
static size_t case_named(const struct published_row *row, const char *name)
{
	size_t i = 0;

	while (i < row->case_count && strcmp(row->cases[i].name, name) != 0)
		i++;
	return i;
}

static void read_order(struct published_row *row, struct yaml_node *list,
		       struct yaml_errors *errors)
{
	struct published_order *into = &row->orders[row->order_count++];
	size_t count = 0;

	if (list->kind == YAML_LIST)
		for (struct yaml_node *child = list->children; child; child = child->next)
			count++;
	if (count < 2) {
		yaml_error(errors, list, "expected names of two cases or more, the largest first");
		return;
	}
	into->cases = calloc(count, sizeof(into->cases[0]));
	assert(into->cases);
	for (struct yaml_node *child = list->children; child; child = child->next) {
		const char *name = yaml_expect_text(child, "a case's name", errors);
		size_t place = name ? case_named(row, name) : row->case_count;

		if (name && place == row->case_count)
			yaml_error(errors, child, "no case \"%s\" in this row", name);
		into->cases[into->count++] = place;
	}
}

static void read_orders(struct published_row *row, struct yaml_node *orders,
			struct yaml_errors *errors)
{
	size_t count = 0;

	if (!orders)
		return;
	if (orders->kind != YAML_LIST) {
		yaml_error(errors, orders, "order: expected a list of lists of cases");
		return;
	}
	for (struct yaml_node *child = orders->children; child; child = child->next)
		count++;
	row->orders = calloc(count + 1, sizeof(row->orders[0]));
	assert(row->orders);
	for (struct yaml_node *child = orders->children; child; child = child->next)
		read_order(row, child, errors);
}

static void read_full(struct published_row *row, struct yaml_node *full, struct yaml_errors *errors)
{
	if (!full || !yaml_expect_map(full, "hardware: and values:", errors))
		return;
	if (row->driver != published_study)
		yaml_error(errors, full, "only rows of the driver study have another size");
	need_text(full, "hardware", errors);
	if (!yaml_get(full, "values"))
		yaml_error(errors, full, "values is missing");
	yaml_refuse_unused(full, full_keys, ARRAY_SIZE(full_keys), errors);
}

static void read_row(struct published_row *row, struct yaml_node *root, struct yaml_errors *errors)
{
	struct yaml_node *axis = yaml_get(root, "axis"), *log = yaml_get(root, "log");
	struct yaml_node *expect = yaml_get(root, "expect"), *common = yaml_get(root, "set");
	const char *driver = need_text(root, "driver", errors);
	size_t count = 0;

	row->id = need_text(root, "row", errors);
	row->what = need_text(root, "what", errors);
	row->hardware = need_text(root, "hardware", errors);
	row->source = need_text(root, "source", errors);
	row->unit = need_text(root, "unit", errors);
	row->axis = axis ? yaml_expect_text(axis, "a text", errors) : NULL;
	row->logarithmic = log && log->text && strcmp(log->text, "true") == 0;
	read_tolerance(root, &row->tolerance, errors);
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i].name, driver) == 0) {
			row->driver = drivers[i].driver;
			row->forget = drivers[i].forget;
		}
	if (!row->driver)
		yaml_error(errors, root,
			   "no driver \"%s\"; expected probe, pcie, wire, program, study, load or "
			   "preset",
			   driver);
	read_class(row, root, errors);
	if (!expect || expect->kind != YAML_LIST) {
		yaml_error(errors, root, "expect is missing: a list of cases");
		return;
	}
	for (struct yaml_node *child = expect->children; child; child = child->next)
		count++;
	row->cases = calloc(count + 1, sizeof(row->cases[0]));
	assert(row->cases);
	for (struct yaml_node *child = expect->children; child; child = child->next)
		read_case(row, child, common, errors);
	read_orders(row, yaml_get(root, "order"), errors);
	read_full(row, yaml_get(root, "full"), errors);
	if (yaml_get(root, "unfinished"))
		row->unfinished =
			yaml_expect_text(yaml_get(root, "unfinished"), "the reason", errors);
	published_choices_read(row, yaml_get(root, "choices"), errors);
	yaml_refuse_unused(root, row_keys, ARRAY_SIZE(row_keys), errors);
}

struct published_row *published_read(const char *file, struct yaml_errors *errors)
{
	unsigned before = errors->count;
	struct published_row *row = calloc(1, sizeof(*row));

	assert(row);
	compare_tolerance_find("T2", &row->tolerance);
	row->document = yaml_read_file(file, errors);
	if (row->document) {
		struct yaml_node *root = yaml_root(row->document);

		if (yaml_expect_map(root, "a row of published figures", errors))
			read_row(row, root, errors);
	}
	if (errors->count == before)
		return row;
	published_free(row);
	return NULL;
}

bool published_enlarge(struct published_row *row)
{
	row->full = yaml_get(yaml_root(row->document), "full");
	if (row->full)
		row->hardware = yaml_get(row->full, "hardware")->text;
	return row->full;
}

static void forget(struct published_row *row)
{
	if (row->forget && row->kept)
		row->forget(row->kept);
	row->kept = NULL;
}

void published_free(struct published_row *row)
{
	forget(row);
	if (row->document)
		yaml_close(row->document);
	for (size_t i = 0; i < row->order_count; i++)
		free(row->orders[i].cases);
	free(row->orders);
	free(row->choices);
	free(row->cases);
	free(row);
}

/* ---- measuring ---- */

static bool measure(struct published_row *row, struct published_case *of, struct yaml_node *own,
		    struct yaml_errors *errors, double *ours)
{
	struct yaml_document *map = published_choice_map(row, own, of->common, errors);
	struct published_settings settings = {.own = own,
					      .common = of->common,
					      .full = row->full,
					      .varied = map ? yaml_root(map) : NULL,
					      .flows = &of->flows,
					      .unfinished = &of->unfinished,
					      .errors = errors,
					      .kept = &row->kept};
	bool good = (map || !row->scale.choice) && row->driver(&settings, ours, of->error);

	if (map)
		yaml_close(map);
	return good;
}

/* Refuses keys that no driver used. A key that is common to the row is used if one of its cases
 * uses it. */
static void refuse_unasked(const struct published_row *row, struct yaml_errors *errors)
{
	for (size_t i = 0; i < row->case_count && errors->count == 0; i++) {
		const struct published_case *of = &row->cases[i];
		struct yaml_node *maps[] = {of->own, of->minus, of->over,
					    i + 1 == row->case_count ? of->common : NULL};

		for (size_t k = 0; k < ARRAY_SIZE(maps); k++)
			if (of->measured && maps[k] && maps[k]->kind == YAML_MAP)
				yaml_refuse_unused(maps[k], NULL, 0, errors);
	}
}

static void run_case(struct published_row *row, struct published_case *of,
		     struct yaml_errors *errors)
{
	double ours = 0, less = 0, under = 1;

	of->flows = of->unfinished = 0;
	of->measured = measure(row, of, of->own, errors, &ours);
	if (of->measured && of->minus)
		of->measured = measure(row, of, of->minus, errors, &less);
	if (of->measured && of->over)
		of->measured = measure(row, of, of->over, errors, &under);
	of->point.ours = (ours - less) / under;
	of->passed = of->measured && (of->unfinished == 0 || row->unfinished) &&
		     (of->tolerance.shape || compare_within(&of->point, &of->tolerance));
}

bool published_same_curve(const struct published_case *one, const struct published_case *other)
{
	return !one->curve || !other->curve ? one->curve == other->curve
					    : strcmp(one->curve, other->curve) == 0;
}

/* Judges a row by its shape: its cases pass or miss together. The order counts within each
 * curve. */
static void judge_shape(struct published_row *row)
{
	struct compare_point *points = calloc(row->case_count + 1, sizeof(*points));
	bool good = true;

	assert(points);
	for (size_t first = 0, count; first < row->case_count; first += count) {
		for (count = 0;
		     first + count < row->case_count &&
		     published_same_curve(&row->cases[first], &row->cases[first + count]);
		     count++)
			points[count] = row->cases[first + count].point;
		good = good && compare_order(points, count) && compare_knees(points, count);
	}
	for (size_t i = 0; i < row->case_count; i++)
		row->cases[i].passed = row->cases[i].passed && good;
	free(points);
}

static void judge_order(const struct published_row *row, struct published_order *order)
{
	order->passed = true;
	for (size_t i = 0; i < order->count; i++) {
		const struct published_case *of = &row->cases[order->cases[i]];

		order->passed =
			order->passed && of->measured &&
			(i == 0 || row->cases[order->cases[i - 1]].point.ours > of->point.ours);
	}
}

void published_run_case(struct published_row *row, struct published_case *of,
			struct yaml_errors *errors)
{
	forget(row); /* kept data may belong to other presets */
	run_case(row, of, errors);
}

void published_run(struct published_row *row, struct yaml_errors *errors)
{
	for (size_t i = 0; i < row->case_count; i++)
		run_case(row, &row->cases[i], errors);
	refuse_unasked(row, errors);
	if (row->tolerance.shape)
		judge_shape(row);
	for (size_t i = 0; i < row->order_count; i++)
		judge_order(row, &row->orders[i]);
}

/* ---- where the rows are ---- */

static int is_row_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static bool begins(const struct dirent *entry, const char *word)
{
	return strncmp(entry->d_name, word, strlen(word)) == 0;
}

/* Names a file of the user, in place of a row of the installation. */
static bool is_file(const char *word)
{
	size_t length = strlen(word);

	return (length > 5 && strcmp(word + length - 5, ".yaml") == 0) || strchr(word, '/');
}

static bool is_wanted(const char *const *words, size_t word_count, const struct dirent *entry)
{
	for (size_t i = 0; i < word_count; i++)
		if (begins(entry, words[i]))
			return true;
	return word_count == 0;
}

/* Checks that each word is the beginning of a row's name. Otherwise prints an error and returns
 * false. */
static bool words_known(const char *const *words, size_t word_count, struct dirent **entries,
			int count)
{
	for (size_t i = 0; i < word_count; i++) {
		int found = 0;

		if (is_file(words[i]))
			continue;
		while (found < count && !begins(entries[found], words[i]))
			found++;
		if (found == count) {
			say("no row begins with \"%s\"; hcasim published lists all rows", words[i]);
			return false;
		}
	}
	return true;
}

bool published_files(const char *const *words, size_t word_count,
		     bool (*each)(const char *file, void *context), void *context)
{
	char folder[PATH_MAX], file[PATH_MAX + NAME_MAX + 2];
	struct dirent **entries = NULL;
	bool good, more = true, own = word_count > 0;
	int count;

	for (size_t i = 0; i < word_count; i++)
		own = own && is_file(words[i]);
	for (size_t i = 0; i < word_count; i++)
		if (more && is_file(words[i]))
			more = each(words[i], context);
	if (own)
		return true;

	snprintf(folder, sizeof(folder), "%.*s/../published",
		 (int)(sizeof(folder) - sizeof("/../published")), preset_directory());
	count = scandir(folder, &entries, is_row_file, versionsort);
	if (count <= 0) {
		say("no published rows in %s", folder);
		return false;
	}
	good = words_known(words, word_count, entries, count);
	for (int i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name);
		if (good && more && is_wanted(words, word_count, entries[i]))
			more = each(file, context);
		free(entries[i]);
	}
	free(entries);
	return good;
}

bool published_passed(const struct published_row *row)
{
	for (size_t i = 0; i < row->case_count; i++)
		if (!row->cases[i].passed)
			return false;
	for (size_t i = 0; i < row->order_count; i++)
		if (!row->orders[i].passed)
			return false;
	return row->case_count > 0;
}

bool published_measured(const struct published_row *row)
{
	for (size_t i = 0; i < row->case_count; i++)
		if (!row->cases[i].measured)
			return false;
	return true;
}

bool published_is_gate(const struct published_row *row)
{
	bool concerns = strncmp(row->id, "B3-", 3) == 0 || strncmp(row->id, "C-", 2) == 0 ||
			strncmp(row->id, "F-", 2) == 0;

	return concerns && !row->tolerance.shape && row->tolerance.above <= gate_tolerance;
}
