/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim: the functions of include/hcasim/hcasim.h. They read, build, run and judge as `hcasim run`
 * does, with the same functions.
 */
#include "hcasim/hcasim.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hca/congestion/congestion.h"
#include "hcasim/library/problems.h"
#include "hcasim/library/process.h"
#include "hcasim/record/judgement.h"
#include "hcasim/schema/modules.h"
#include "sim/install_paths.h"
#include "traffic/load/load.h"

#define ERROR_BYTES 1024
#define TEXT_NAME   "(text)" /* in messages */

enum state { STATE_NEW, STATE_RUNNING, STATE_OVER };

struct hcasim {
	enum state state;
	char *file, *text; /* one of them is NULL */
	char **assignments;
	size_t assignment_count;
	const struct congestion_ops **attached; /* ends with NULL */
	size_t attached_count;
	struct process_claim claim;
	struct scenario *scenario;
	struct build *build;
	struct experiment *experiment; /* NULL: a load */
	struct load_result load;
	struct result_outcome outcome;
	char *remarks; /* NULL before the end */
	char *result;  /* of the last hcasim_result() */
	struct problems problems;
	locale_t locale; /* numbers have a decimal point in every locale */
};

const char *hcasim_version(void)
{
	return HCASIM_VERSION;
}

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* ---- before the run ---- */

static struct hcasim *create(void)
{
	struct hcasim *simulation = must(calloc(1, sizeof(*simulation)));

	simulation->attached = must(calloc(1, sizeof(*simulation->attached)));
	simulation->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return simulation;
}

/* Loads the file, or the file of the installation with this name. */
struct hcasim *hcasim_load(const char *file)
{
	struct hcasim *simulation = create();
	char path[PATH_MAX];

	if (access(file, F_OK) != 0 && install_paths_data(file, path))
		simulation->file = realpath(path, NULL);
	if (!simulation->file)
		simulation->file = must(strdup(file));
	return simulation;
}

struct hcasim *hcasim_load_text(const char *yaml)
{
	struct hcasim *simulation = create();

	simulation->text = must(strdup(yaml));
	return simulation;
}

bool hcasim_set(struct hcasim *simulation, const char *assignment)
{
	if (simulation->state != STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_set: the simulation has started");
	simulation->assignments =
		must(realloc(simulation->assignments, (simulation->assignment_count + 1) *
							      sizeof(*simulation->assignments)));
	simulation->assignments[simulation->assignment_count++] = must(strdup(assignment));
	return true;
}

bool hcasim_attach(struct hcasim *simulation, const struct congestion_ops *ops)
{
	size_t count = simulation->attached_count;
	char error[ERROR_BYTES];

	if (simulation->state != STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_attach: the simulation has started");
	if (!congestion_fits(ops, error, sizeof(error)))
		return problems_add(&simulation->problems, "hcasim_attach: %s", error);
	simulation->attached =
		must(realloc(simulation->attached, (count + 2) * sizeof(*simulation->attached)));
	simulation->attached[count] = ops;
	simulation->attached[count + 1] = NULL;
	simulation->attached_count++;
	return true;
}

static bool read_scenario(struct hcasim *simulation)
{
	const char *const *assignments = (const char *const *)simulation->assignments;
	size_t count = simulation->assignment_count;
	struct yaml_errors errors = {0};

	congestion_attach(simulation->attached);
	if (simulation->text)
		simulation->scenario = scenario_read_text(TEXT_NAME, simulation->text, assignments,
							  count, &errors);
	else
		simulation->scenario = scenario_read(simulation->file, assignments, count, &errors);
	congestion_attach(NULL);
	problems_take(&simulation->problems, &errors, false);
	yaml_errors_free(&errors);
	if (simulation->scenario)
		problems_take(&simulation->problems, &simulation->scenario->warnings, true);
	return simulation->scenario;
}

/* Settings of `hcasim run` that a simulation in a program does not have. */
static bool check_scope(struct hcasim *simulation)
{
	struct scenario *scenario = simulation->scenario;
	const char *path = NULL;
	char error[ERROR_BYTES];

	if (!scenario->has_workload && !scenario->has_load) {
		path = scenario->program_count > 0 ? "programs" : "";
		snprintf(error, sizeof(error), "nothing to simulate; expected workload: or load:");
	} else if (scenario->record.packets) {
		path = "record.packets";
		snprintf(error, sizeof(error),
			 "the library writes no captures; expected false, or hcasim run --out");
	} else if (scenario->trace_count > 0) {
		path = "record.trace";
		snprintf(error, sizeof(error),
			 "the library writes no traces; expected none, or hcasim run --out");
	}
	if (!path)
		return true;
	scenario_blame(scenario, path, error, sizeof(error));
	return problems_add_placed(&simulation->problems, scenario->file, error);
}

static bool build_all(struct hcasim *simulation)
{
	const struct scenario *scenario = simulation->scenario;
	const char *host, *block;
	char error[ERROR_BYTES] = "";
	struct process_claim claim = {
		.systemc = modules_first(scenario, &host, &block),
		.flow_level = scenario->fabric.fidelity == FIDELITY_FLOW,
	};
	bool good;

	if (!process_claim(claim, error, sizeof(error)))
		return problems_add(&simulation->problems, "%s", error);
	simulation->claim = claim;
	simulation->build =
		build_create(scenario, claim.systemc ? SIM_ENGINE_systemc : SIM_ENGINE_native,
			     false, false, error, sizeof(error));
	good = simulation->build;
	if (good && scenario->has_workload) {
		simulation->experiment = experiment_create(simulation->build, error, sizeof(error));
		good = simulation->experiment &&
		       experiment_knows_metrics(simulation->experiment, error, sizeof(error));
	}
	good = good && result_names(simulation->build, error, sizeof(error));
	return good || problems_add_placed(&simulation->problems, scenario->file, error);
}

/* Frees the objects that hcasim_start() makes. */
static void forget_run(struct hcasim *simulation)
{
	bool ran = hcasim_now(simulation) > 0;

	result_outcome_fini(&simulation->outcome);
	if (simulation->experiment)
		experiment_destroy(simulation->experiment);
	if (simulation->build)
		build_destroy(simulation->build);
	if (simulation->scenario)
		scenario_destroy(simulation->scenario);
	process_release(simulation->claim, ran);
	simulation->experiment = NULL;
	simulation->build = NULL;
	simulation->scenario = NULL;
	simulation->claim = (struct process_claim){0};
}

bool hcasim_start(struct hcasim *simulation)
{
	locale_t before;
	bool good;

	if (simulation->state != STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_start: the simulation has started");
	before = uselocale(simulation->locale);
	good = read_scenario(simulation) && check_scope(simulation) && build_all(simulation);
	if (good)
		simulation->state = STATE_RUNNING;
	else
		forget_run(simulation);
	uselocale(before);
	return good;
}

/* ---- the run ---- */

static void finish(struct hcasim *simulation)
{
	size_t bytes;
	FILE *out = must(open_memstream(&simulation->remarks, &bytes));

	if (simulation->experiment)
		judgement_workload(simulation->build, simulation->experiment, &simulation->outcome,
				   out);
	else
		judgement_load(simulation->build, &simulation->load, &simulation->outcome, out);
	fclose(out);
	simulation->state = STATE_OVER;
}

bool hcasim_step(struct hcasim *simulation, uint64_t time_ps)
{
	sim_time until = time_ps < SIM_NEVER ? time_ps : SIM_NEVER;
	char error[ERROR_BYTES];
	locale_t before;
	bool goes_on;

	if (simulation->state == STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_step: the simulation has not started");
	if (simulation->state == STATE_OVER)
		return false;
	if (!process_may_run(simulation->claim, error, sizeof(error)))
		return problems_add(&simulation->problems, "hcasim_step: %s", error);
	before = uselocale(simulation->locale);
	goes_on = simulation->experiment
			  ? experiment_advance(simulation->experiment, until, NULL, NULL)
			  : load_advance(simulation->build->load, until, NULL, NULL);
	if (!goes_on)
		finish(simulation);
	uselocale(before);
	return goes_on;
}

uint64_t hcasim_now(const struct hcasim *simulation)
{
	return simulation->build ? sim_now(simulation->build->sim) : 0;
}

bool hcasim_stop(struct hcasim *simulation)
{
	locale_t before;

	if (simulation->state == STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_stop: the simulation has not started");
	if (simulation->state == STATE_OVER)
		return true;
	before = uselocale(simulation->locale);
	if (simulation->experiment)
		experiment_stop(simulation->experiment);
	else
		load_stop(simulation->build->load);
	finish(simulation);
	uselocale(before);
	return true;
}

/* ---- results ---- */

bool hcasim_counter(struct hcasim *simulation, const char *pattern, uint64_t *value)
{
	*value = 0;
	if (simulation->state == STATE_NEW)
		return problems_add(&simulation->problems,
				    "hcasim_counter: the simulation has not started");
	return result_counter(simulation->build, pattern, value) ||
	       problems_add(&simulation->problems, "hcasim_counter: no counter is called %s",
			    pattern);
}

static bool is_over(struct hcasim *simulation, const char *function)
{
	return simulation->state == STATE_OVER ||
	       problems_add(&simulation->problems, "%s: the run is not over", function);
}

bool hcasim_metric(struct hcasim *simulation, const char *name, double *value)
{
	char error[ERROR_BYTES] = "";
	bool known = false;

	*value = (double)NAN;
	if (!is_over(simulation, "hcasim_metric"))
		return false;
	if (simulation->experiment) {
		known = metric_name_valid(name, error, sizeof(error)) &&
			experiment_find(simulation->experiment, name, value, error, sizeof(error));
	} else if (load_failure(simulation->build->load)) {
		snprintf(error, sizeof(error), "the load failed: %s",
			 load_failure(simulation->build->load));
	} else if (metric_load_name_valid(name, error, sizeof(error))) {
		*value = metric_of_load(&simulation->load, metric_index(metric_load_list, name));
		known = true;
	}
	return known || problems_add(&simulation->problems, "hcasim_metric: %s: %s", name, error);
}

const char *hcasim_result(struct hcasim *simulation, const char *file)
{
	locale_t before;
	size_t bytes;
	FILE *out;
	bool known;

	if (!is_over(simulation, "hcasim_result"))
		return NULL;
	free(simulation->result);
	before = uselocale(simulation->locale);
	out = must(open_memstream(&simulation->result, &bytes));
	known = result_print_file(simulation->build, &simulation->outcome, file, out);
	fclose(out);
	uselocale(before);
	if (known)
		return simulation->result;
	problems_add(&simulation->problems, "hcasim_result: the run has no file %s", file);
	return NULL;
}

int hcasim_exit_code(const struct hcasim *simulation)
{
	return simulation->state == STATE_OVER ? simulation->outcome.exit_code : HCASIM_BAD_INPUT;
}

const char *hcasim_remarks(const struct hcasim *simulation)
{
	return simulation->remarks ? simulation->remarks : "";
}

size_t hcasim_problem_count(const struct hcasim *simulation)
{
	return simulation->problems.count;
}

const struct hcasim_problem *hcasim_problem(const struct hcasim *simulation, size_t number)
{
	return number < simulation->problems.count ? &simulation->problems.list[number] : NULL;
}

void hcasim_destroy(struct hcasim *simulation)
{
	if (!simulation)
		return;
	forget_run(simulation);
	problems_fini(&simulation->problems);
	for (size_t i = 0; i < simulation->assignment_count; i++)
		free(simulation->assignments[i]);
	free(simulation->assignments);
	free(simulation->attached);
	free(simulation->remarks);
	free(simulation->result);
	free(simulation->file);
	free(simulation->text);
	if (simulation->locale)
		freelocale(simulation->locale);
	free(simulation);
}
