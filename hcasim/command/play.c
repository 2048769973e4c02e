/* SPDX-License-Identifier: Apache-2.0 */
/* play: see play.h. */
#include "hcasim/command/play.h"

#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "hcasim/command/run_ranks.h"
#include "hcasim/command/waveform.h"

#define ERROR_BYTES 1024
#define AUTO_MOST   2
#define LOOKS       8 /* at the number of running threads, at most */
#define LOOK_NS     500000
/* The estimate of lp_assignment.h is for packets of 1 KB on all links. Packets of 4 KB on half of
 * them give an eighth of these events. */
#define AUTO_MARGIN 8

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

/* Returns the number of other threads of the machine that run or wait for a processor. */
static unsigned others_running(void)
{
	FILE *file = fopen("/proc/loadavg", "r");
	unsigned running = 1;
	if (!file)
		return 0;
	if (fscanf(file, "%*s %*s %*s %u/", &running) != 1 || running == 0)
		running = 1;
	fclose(file);
	return running - 1;
}

/* Returns the number of threads for THREADS_AUTO: the idle processors that this process may use, up
 * to AUTO_MOST, because more were not measured. */
static unsigned idle_processors(void)
{
	unsigned others = others_running(), count = 1;
	cpu_set_t set;
	/* The system's own threads run for a moment. */
	for (unsigned i = 1; i < LOOKS && others > 0; i++) {
		unsigned now;
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		now = others_running();
		others = now < others ? now : others;
	}
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		count = (unsigned)CPU_COUNT(&set);
	count = count > others ? count - others : 1;
	return count < AUTO_MOST ? count : AUTO_MOST;
}

struct lp_assignment *play_assign_lps(const struct arguments *arguments,
				      const struct scenario *scenario, const char *unfit)
{
	char error[ERROR_BYTES] = "";
	struct lp_assignment *assignment = NULL;
	bool chosen = arguments->threads == THREADS_AUTO;
	unsigned threads = chosen ? idle_processors() : arguments->threads;
	if (threads == 1)
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
		assignment = lp_assignment_create(scenario, threads, NULL, error, sizeof(error));
	if (!assignment) {
		if (!chosen)
			say("%s: runs in one thread: %s", scenario->file, error);
	} else if (chosen && assignment->events < AUTO_MARGIN * SIM_WINDOW_WORTH) {
		lp_assignment_destroy(assignment);
		assignment = NULL;
	} else {
		assignment->measured = chosen;
	}
	return assignment;
}

void play_say_windows(const struct arguments *arguments, const struct build *build)
{
	if (!build->assignment)
		return;
	if (build->assignment->ranks) {
		if (arguments->verbose)
			run_ranks_say_traffic(build);
		return;
	}
	struct sim_windows windows = sim_windows(build->sim);
	double length = (double)windows.length / (double)NS;
	if (arguments->verbose)
		say("%u threads: %" PRIu64 " windows of at most %.3f ns, %" PRIu64
		    " of these in one thread; %" PRIu64 " events, %" PRIu64 " of these sequential",
		    build->assignment->lps, windows.count, length, windows.together, windows.events,
		    windows.longest);
	if (windows.together > windows.count / 2 && !build->assignment->measured)
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
	if (!ranks_agree(arguments->rank_group, result)) {
		if (result) /* without files, because rank 0 has none */
			result_finish(result, &outcome, error, sizeof(error));
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
