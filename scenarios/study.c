/*
 * study: see study.h. Here a file is read, checked and printed; study_run.c builds and plays it.
 */
#include "scenarios/study.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/composite.h"
#include "scenarios/preset.h"

/* clang-format off */
#define ROW_STUDY(...)  PARAM_ROW(struct study_params, __VA_ARGS__)
#define ROW_FABRIC(...) PARAM_ROW(struct study_fabric_params, __VA_ARGS__)
#define ROW_HCA(...)    PARAM_ROW(struct study_hca_params, __VA_ARGS__)
static const struct param study_list[]        = { STUDY_PARAMS(ROW_STUDY) { 0 } };
static const struct param study_fabric_list[] = { STUDY_FABRIC_PARAMS(ROW_FABRIC) { 0 } };
static const struct param study_hca_list[]    = { STUDY_HCA_PARAMS(ROW_HCA) { 0 } };

#define VALUE_ENTRY(name, unit, meaning) {#name, unit, meaning, offsetof(struct study_values, name)},
const struct study_value study_value_list[] = { STUDY_VALUES(VALUE_ENTRY) { 0 } };
/* clang-format on */

/* clang-format off */
const struct scenario_section study_sections[] = {
	{"study",          study_list,          "a file with a workload"},
	{"study.fabric",   study_fabric_list,   "what joins the hosts; and `switch`, `link`"},
	{"study.hcas",     study_hca_list,      "all HCAs; and the parameters of endpoint HCAs"},
	{"study.hcas",     endpoint_param_list, "endpoint HCAs"},
	{"study.workload", workload_param_list, "what is sent"},
	{"study.flows",    player_param_list,   "how flows are posted"},
	{ 0 },
};
/* clang-format on */

struct bounds {
	double at_least, at_most;
};

static const struct param bounds_list[] = {
	{"at_least", PARAM_RATIO, offsetof(struct bounds, at_least), "0", "", "lower bound",
	 "choice"},
	{"at_most", PARAM_RATIO, offsetof(struct bounds, at_most), "0", "", "upper bound",
	 "choice"},
	{0},
};

bool study_is(const char *file)
{
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_file(file, &errors);
	bool is = false;

	if (document) {
		struct yaml_node *root = yaml_root(document);

		is = root && root->kind == YAML_MAP && yaml_get(root, "workload") &&
		     !yaml_get(root, "hosts"); /* with hosts it is a scenario */
		yaml_close(document);
	}
	yaml_errors_free(&errors);
	return is;
}

/* ---- reading ---- */

/* Errors for keys that are in none of the lists (NULL: no list) nor among the others. */
static void refuse_unused(const struct yaml_node *map, const struct param *one,
			  const struct param *other, const char *const *others,
			  struct yaml_errors *errors)
{
	const char *names[128];
	size_t count = 0;

	for (; one && one->name; one++)
		names[count++] = one->name;
	for (; other && other->name; other++)
		names[count++] = other->name;
	for (; others && *others; others++)
		names[count++] = *others;
	assert(count <= ARRAY_SIZE(names));
	yaml_refuse_unused(map, names, count, errors);
}

static void read_fabric(struct fabric_study *study, struct yaml_node *node,
			struct yaml_errors *errors)
{
	static const char *const others[] = {"switch", "link", NULL};
	struct yaml_node *entry;

	params_default(study_fabric_list, &study->fabric);
	study->box = composite_create(COMPOSITE_SWITCH);
	study->link = composite_create(COMPOSITE_LINK);
	if (!node || !yaml_expect_map(node, "what joins the hosts", errors))
		return;
	yaml_override_params(node, study_fabric_list, &study->fabric, errors);
	entry = yaml_get(node, "switch");
	if (entry)
		preset_read(COMPOSITE_SWITCH, entry, NULL, study->box, NULL, errors);
	entry = yaml_get(node, "link");
	if (entry)
		preset_read(COMPOSITE_LINK, entry, NULL, study->link, &study->link_given, errors);
	refuse_unused(node, study_fabric_list, NULL, others, errors);
}

static void read_hcas(struct fabric_study *study, struct yaml_node *node,
		      struct yaml_errors *errors)
{
	params_default(study_hca_list, &study->fidelity);
	params_default(endpoint_param_list, &study->hca);
	if (!node || !yaml_expect_map(node, "parameters of all HCAs", errors))
		return;
	yaml_override_params(node, study_hca_list, &study->fidelity, errors);
	yaml_override_params(node, endpoint_param_list, &study->hca, errors);
	refuse_unused(node, study_hca_list, endpoint_param_list, NULL, errors);
}

/* A name, or a map with `algorithm` and the algorithm's own keys. */
static void read_congestion(struct fabric_study *study, struct yaml_node *node,
			    struct yaml_errors *errors)
{
	struct yaml_node *name = node;
	const char *text = "none";
	char why[1024];

	if (node && node->kind == YAML_MAP) {
		name = yaml_get(node, "algorithm");
		if (!name)
			yaml_error(errors, node, "no algorithm; expected algorithm: dcqcn-paper");
	}
	if (name && !(text = yaml_expect_text(name, "the name of a congestion control", errors)))
		return;
	if (!congestion_init(&study->congestion, text, why, sizeof(why))) {
		yaml_error(errors, name, "%s", why);
		return;
	}
	for (struct yaml_node *entry = name == node ? NULL : node->children; entry;
	     entry = entry->next) {
		const char *value;

		if (entry == name)
			continue;
		value = yaml_expect_text(entry, "a value", errors);
		if (value &&
		    !congestion_set(&study->congestion, entry->key, value, why, sizeof(why)))
			yaml_error(errors, entry, "%s", why);
	}
}

static void read_workload(struct fabric_study *study, struct yaml_node *node,
			  struct yaml_errors *errors)
{
	static const char *const others[] = {"trace", NULL};
	struct yaml_node *trace;

	params_default(workload_param_list, &study->workload);
	if (!yaml_expect_map(node, "what is sent", errors))
		return;
	yaml_override_params(node, workload_param_list, &study->workload, errors);
	trace = yaml_get(node, "trace");
	if (trace)
		study->trace = yaml_expect_text(trace, "a CSV file", errors);
	if (!trace == (study->workload.pattern == PATTERN_trace))
		yaml_error(errors, trace ? trace : node,
			   "a file of flows goes with pattern: trace, and with no other");
	refuse_unused(node, workload_param_list, NULL, others, errors);
}

static void read_flows(struct fabric_study *study, struct yaml_node *node,
		       struct yaml_errors *errors)
{
	params_default(player_param_list, &study->flows);
	if (!node || !yaml_expect_map(node, "how flows are posted", errors))
		return;
	yaml_override_params(node, player_param_list, &study->flows, errors);
	refuse_unused(node, player_param_list, NULL, NULL, errors);
}

static const struct study_value *find_value(const char *name)
{
	for (const struct study_value *value = study_value_list; value->name; value++)
		if (!strcmp(value->name, name))
			return value;
	return NULL;
}

static void read_expectation(struct fabric_study *study, struct yaml_node *node,
			     struct yaml_errors *errors)
{
	static const char *const others[] = {"value", NULL};
	struct bounds bounds = {-DBL_MAX, DBL_MAX};
	struct yaml_node *name;
	const char *text;

	if (!yaml_expect_map(node, "a value and its bounds", errors))
		return;
	name = yaml_get(node, "value");
	text = name ? yaml_expect_text(name, "the name of a value", errors) : NULL;
	if (!name)
		yaml_error(errors, node, "no value; expected value: slowdown_p99");
	else if (text && !find_value(text))
		yaml_error(errors, name, "there is no value \"%s\"", text);
	yaml_override_params(node, bounds_list, &bounds, errors);
	refuse_unused(node, bounds_list, NULL, others, errors);
	if (text)
		study->expectations[study->expectation_count++] = (struct study_expectation){
			find_value(text), bounds.at_least, bounds.at_most};
}

static void read_expectations(struct fabric_study *study, struct yaml_node *node,
			      struct yaml_errors *errors)
{
	uint32_t count = 0;

	if (!node)
		return;
	if (node->kind != YAML_LIST) {
		yaml_error(errors, node, "found %s; expected a list of values and their bounds",
			   yaml_kind_name(node->kind));
		return;
	}
	for (struct yaml_node *entry = node->children; entry; entry = entry->next)
		count++;
	study->expectations = calloc(count + 1, sizeof(study->expectations[0]));
	assert(study->expectations);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next)
		read_expectation(study, entry, errors);
}

static void read_all(struct fabric_study *study, struct yaml_node *root, struct yaml_errors *errors)
{
	static const char *const sections[] = {"fabric", "hcas",   "congestion", "workload",
					       "flows",  "expect", NULL};
	struct study_params params;

	if (!yaml_expect_map(root, "a study", errors))
		return;
	params_default(study_list, &params);
	yaml_override_params(root, study_list, &params, errors);
	study->seed = params.seed;
	read_fabric(study, yaml_get(root, "fabric"), errors);
	read_hcas(study, yaml_get(root, "hcas"), errors);
	read_congestion(study, yaml_get(root, "congestion"), errors);
	read_workload(study, yaml_get(root, "workload"), errors);
	read_flows(study, yaml_get(root, "flows"), errors);
	read_expectations(study, yaml_get(root, "expect"), errors);
	refuse_unused(root, study_list, NULL, sections, errors);
}

struct fabric_study *study_read(const char *file, const char *const *overrides, size_t count,
				struct yaml_errors *errors)
{
	struct yaml_document *document = yaml_read_file(file, errors);
	unsigned before = errors->count;
	struct fabric_study *study;

	if (!document)
		return NULL;
	study = calloc(1, sizeof(*study));
	assert(study);
	study->document = document;
	study->file = yaml_root(document)->file;
	for (size_t i = 0; i < count; i++)
		yaml_set(document, overrides[i], errors);
	if (errors->count == before)
		read_all(study, yaml_root(document), errors);
	if (errors->count == before)
		return study;
	study_destroy(study);
	return NULL;
}

void study_destroy(struct fabric_study *study)
{
	if (study->congestion.ops)
		congestion_fini(&study->congestion);
	free(study->box);
	free(study->link);
	free(study->expectations);
	yaml_close(study->document);
	free(study);
}

/* ---- printing ---- */

/* given: bit i, print entry i. */
static void print_params(const struct param *list, const void *params, uint64_t given,
			 const char *indent, FILE *out)
{
	char text[128];

	for (unsigned i = 0; list && list[i].name; i++) {
		if (!(given >> (i & 63) & 1))
			continue;
		param_print(&list[i], params, text, sizeof(text));
		fprintf(out, "%s%s: %s\n", indent, list[i].name, text);
	}
}

static void print_expectations(const struct fabric_study *study, FILE *out)
{
	if (study->expectation_count)
		fputs("expect:\n", out);
	for (uint32_t i = 0; i < study->expectation_count; i++) {
		const struct study_expectation *expectation = &study->expectations[i];

		fprintf(out, "  - {value: %s", expectation->value->name);
		if (expectation->at_least > -DBL_MAX)
			fprintf(out, ", at_least: %.17g", expectation->at_least);
		if (expectation->at_most < DBL_MAX)
			fprintf(out, ", at_most: %.17g", expectation->at_most);
		fputs("}\n", out);
	}
}

void study_print(const struct fabric_study *study, FILE *out)
{
	fprintf(out, "seed: %" PRIu64 "\nfabric:\n", study->seed);
	print_params(study_fabric_list, &study->fabric, UINT64_MAX, "  ", out);
	if (study->link_given)
		fputs("  link:\n", out);
	print_params(port_param_list, study->link, study->link_given, "    ", out);
	fputs("  switch:\n", out);
	composite_print(COMPOSITE_SWITCH, study->box, 4, out);
	fputs("hcas:\n", out);
	print_params(study_hca_list, &study->fidelity, UINT64_MAX, "  ", out);
	print_params(endpoint_param_list, &study->hca, UINT64_MAX, "  ", out);
	fprintf(out, "congestion:\n  algorithm: %s\n", study->congestion.ops->name);
	print_params(study->congestion.ops->params, study->congestion.params, UINT64_MAX, "  ",
		     out);
	fputs("workload:\n", out);
	print_params(workload_param_list, &study->workload, UINT64_MAX, "  ", out);
	if (study->trace)
		fprintf(out, "  trace: %s\n", study->trace);
	fputs("flows:\n", out);
	print_params(player_param_list, &study->flows, UINT64_MAX, "  ", out);
	print_expectations(study, out);
}

unsigned study_compare(const struct fabric_study *study, const struct study_values *values,
		       FILE *out)
{
	unsigned wrong = 0;

	for (uint32_t i = 0; i < study->expectation_count; i++) {
		const struct study_expectation *expectation = &study->expectations[i];
		double value = *(const double *)(const void *)((const char *)values +
							       expectation->value->offset);

		if (value >= expectation->at_least && value <= expectation->at_most)
			continue;
		wrong++;
		fprintf(out, "%s: %s is %.6g; expected", study->file, expectation->value->name,
			value);
		if (expectation->at_least > -DBL_MAX)
			fprintf(out, " at least %.6g", expectation->at_least);
		if (expectation->at_most < DBL_MAX)
			fprintf(out, " at most %.6g", expectation->at_most);
		fputc('\n', out);
	}
	return wrong;
}
