/* SPDX-License-Identifier: Apache-2.0 */
/* play: see play.h. */
#include "hcasim/command/play.h"

#include <inttypes.h>

#include "hcasim/command/waveform.h"

#define ERROR_BYTES 1024

static struct result_paths paths_of(const struct arguments *arguments, const char *folder)
{
	return (struct result_paths){.folder = folder,
				     .packets = arguments->pcap,
				     .trace = arguments->trace,
				     .counters = arguments->counters};
}

bool play_check(const struct arguments *arguments, const char *folder)
{
	const struct result_paths paths = paths_of(arguments, folder);
	char error[ERROR_BYTES] = "";
	if (result_check(&paths, error, sizeof(error)))
		return true;
	say("%s", error);
	return false;
}

struct lp_assignment *play_assign_lps(const struct arguments *arguments,
				      const struct scenario *scenario, const char *unfit)
{
	char error[ERROR_BYTES] = "";
	struct lp_assignment *assignment = NULL;
	if (arguments->threads == 1)
		return NULL;
	if (arguments->engine != SIM_ENGINE_native)
		snprintf(error, sizeof(error), "only the native engine supports several threads");
	else if (scenario->fabric.fidelity == FIDELITY_FLOW)
		snprintf(error, sizeof(error),
			 "fidelity: flow computes the rates of all links together");
	else if (arguments->trace || arguments->pcap ||
		 (arguments->out && (scenario->record.packets || scenario->trace_count > 0)))
		snprintf(error, sizeof(error),
			 "a trace or capture is written in the order of events");
	else if (unfit)
		snprintf(error, sizeof(error), "%s", unfit);
	else
		assignment =
			lp_assignment_create(scenario, arguments->threads, error, sizeof(error));
	if (!assignment)
		say("%s: runs in one thread: %s", scenario->file, error);
	return assignment;
}

void play_say_windows(const struct arguments *arguments, const struct build *build)
{
	if (!build->assignment)
		return;
	struct sim_windows windows = sim_windows(build->sim);
	double length = (double)windows.length / (double)NS;
	if (arguments->verbose)
		say("%u threads: %" PRIu64 " windows of at most %.3f ns, %" PRIu64
		    " of these in one thread; %" PRIu64 " events, %" PRIu64 " of these sequential",
		    build->assignment->lps, windows.count, length, windows.together, windows.events,
		    windows.longest);
	if (windows.together > windows.count / 2)
		say("%s: runs mostly in one thread: the shortest link between the logical "
		    "processes gives windows of %.3f ns, which have %.1f events outside the "
		    "busiest process; threads help from %u events on",
		    build->scenario->file, length,
		    (double)(windows.events - windows.longest) / (double)windows.count,
		    SIM_WINDOW_WORTH);
}

static int play_and_record(const struct arguments *arguments, const struct build *build,
			   struct play_act *act, const char *folder, FILE *out, FILE *complaints)
{
	const struct result_paths paths = paths_of(arguments, folder);
	char error[ERROR_BYTES] = "";
	struct result_outcome outcome = {0};
	struct result *result = result_begin(build, &paths, error, sizeof(error));
	if (!result) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	outcome.exit_code = act->play(act, build, &outcome, complaints);
	if (out && arguments->json)
		result_print_summary(build, &outcome, out);
	else if (out)
		act->print(act, build, out);
	if (!result_finish(result, &outcome, error, sizeof(error))) {
		say("%s", error);
		outcome.exit_code = EXIT_BAD_INPUT;
	}
	result_outcome_fini(&outcome);
	return outcome.exit_code;
}

int play_run(const struct arguments *arguments, const struct build *build, struct play_act *act,
	     const char *folder, FILE *out, FILE *complaints)
{
	struct systemc_vcd *vcd;
	int code = EXIT_BAD_INPUT;
	if (waveform_begin(arguments, build, &vcd))
		code = play_and_record(arguments, build, act, folder, out, complaints);
	return waveform_end(vcd) ? code : EXIT_BAD_INPUT;
}
