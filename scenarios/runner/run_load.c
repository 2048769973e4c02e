/*
 * run_load: the load of a scenario: work requests of processor cores on detailed HCAs (scenarios/load/load.h), and what came
 * of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "scenarios/bottleneck.h"
#include "scenarios/load/load.h"
#include "scenarios/result.h"
#include "scenarios/runner/progress.h"
#include "scenarios/runner/verb.h"
#include "scenarios/runner/waveform.h"

#define WHY_BYTES 1024

static void show(void *context, sim_time now, uint64_t done, uint64_t operations)
{
	progress_show(context, now, done, operations, "work requests");
}

static void print(const struct build *build, const struct load_result *result, FILE *out)
{
	struct bottleneck bottleneck = bottleneck_find(build->sim);

	fprintf(out, "completed  %.4f M/s, %.3f Gb/s of data\n", result->mops, result->gbps);
	if (result->received_mops > 0)
		fprintf(out, "received   %.4f M/s\n", result->received_mops);
	if (build->scenario->load.rival.threads > 0)
		fprintf(out, "rivals     %.4f M/s\n", result->rival_mops);
	if (result->median_ns > 0)
		fprintf(out, "latency    mean %.3f ns, p50 %.3f ns, p99 %.3f ns, p99.9 %.3f ns\n",
			result->mean_ns, result->median_ns, result->p99_ns, result->p999_ns);
	if (result->paused > 0)
		fprintf(out, "paused     %.2f %% of the time\n", result->paused * 100);
	bottleneck_print_line(&bottleneck, out);
}

/* Plays it, and judges what came of it. */
static int play(const struct build *build, struct load_result *figures, FILE *complaints)
{
	char why[WHY_BYTES] = "";
	struct progress progress = progress_begin();
	bool shown = isatty(STDERR_FILENO) != 0;
	bool good = load_play(build->load, shown ? show : NULL, &progress, why, sizeof(why));
	const struct result_outcome outcome = {.load = figures};
	unsigned wrong = !good;

	progress_end(&progress);
	if (good)
		load_take_result(build->load, figures);
	else
		fprintf(complaints, "the load failed: %s\n", why);
	wrong += trial_check_build(build, complaints);
	wrong += good ? result_compare_figures(build, &outcome, complaints) : 0;
	return wrong > 0 ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
}

static int run_and_record(const struct arguments *arguments, const struct build *build,
			  const struct result_paths *paths, FILE *out, FILE *complaints)
{
	char why[WHY_BYTES] = "";
	struct load_result figures = {0};
	struct result_outcome outcome = {.load = &figures};
	struct result *result = result_begin(build, paths, why, sizeof(why));

	if (result == NULL) {
		say("%s: %s", build->scenario->file, why);
		return EXIT_BAD_INPUT;
	}
	outcome.exit_code = play(build, &figures, complaints);
	if (out != NULL && arguments->json)
		result_print_summary(build, &outcome, out);
	else if (out != NULL)
		print(build, &figures, out);
	if (!result_finish(result, &outcome, why, sizeof(why))) {
		say("%s", why);
		return EXIT_NOT_AS_EXPECTED;
	}
	return outcome.exit_code;
}

int run_load(const struct arguments *arguments, const struct scenario *scenario, const char *folder,
	     FILE *out, FILE *complaints)
{
	char why[WHY_BYTES] = "";
	const struct result_paths paths = {.folder = folder,
					   .packets = arguments->pcap,
					   .trace = arguments->trace,
					   .counters = arguments->counters};
	int code = EXIT_BAD_INPUT;

	if (!result_check(&paths, why, sizeof(why))) {
		say("%s", why);
		return EXIT_BAD_INPUT;
	}
	if (arguments->threads > 1)
		say("%s: in one thread: detailed adapters are not divided", scenario->file);
	struct build *build =
		build_create(scenario, arguments->kernel, false, false, why, sizeof(why));
	if (build == NULL) {
		say("%s: %s", scenario->file, why);
		return EXIT_BAD_INPUT;
	}
	struct systemc_vcd *vcd;
	if (waveform_begin(arguments, build, &vcd))
		code = run_and_record(arguments, build, &paths, out, complaints);
	if (!waveform_end(vcd))
		code = EXIT_NOT_AS_EXPECTED;
	build_destroy(build);
	return code;
}
