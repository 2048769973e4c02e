/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_explain: implements hcasim explain TRACE. Prints the time of send work requests in each
 * stage, from the store that posted them to their CQE. The source is the adapters' `latency` blocks
 * (hca/work/latency_stages.h).
 *
 *     hcasim explain RUN --bottleneck            most used resources; explain_bottleneck.c
 *     hcasim explain RUN --bounds                rate that each resource allows; explain_bounds.c
 *     hcasim explain RUN --cpu                   processor time of programs; explain_cpu.c
 *     hcasim explain run.trace                   mean of all work requests, stage by stage
 *     hcasim explain run.trace --received        receives, from the first bit to their CQE
 *     hcasim explain run.trace --wqe 7           the work request with tag 7
 *     hcasim explain run.trace --percentile 99   the one at this percentile of latency
 *     ... --perfetto FILE                        a timeline of the same; explain_timeline.c
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hcasim/command/explain.h"
#include "hcasim/command/verb.h"
#include "sim/json.h"

#define ERROR_BYTES 1024

static void print_table(const struct breakdown_side *side, const struct breakdown *shown,
			size_t among)
{
	printf("%-12s %14s %7s  %s\n", "stage", "ns", "share", "until");
	for (unsigned stage = 0; stage < side->count; stage++) {
		sim_time time = shown->stages[stage];

		if (time)
			printf("%-12s %14.3f %6.1f%%  %s\n", side->names[stage],
			       (double)time / 1e3 / (double)among,
			       100 * (double)time / (double)shown->latency, side->meanings[stage]);
	}
	printf("%-12s %14.3f %6.1f%%\n", "latency", (double)shown->latency / 1e3 / (double)among,
	       100.0);
}

static void print_json(const struct breakdown_side *side, const struct breakdown *shown,
		       const char *adapter, size_t among)
{
	printf("{\"work_requests\": %zu, \"tag\": %" PRIu64 ", \"adapter\": ", among, shown->tag);
	json_text(stdout, adapter);
	printf(", \"qpn\": %" PRIu64 ", \"latency_ps\": %" PRIu64 ", \"stages_ps\": {", shown->qpn,
	       shown->latency);
	for (unsigned stage = 0; stage < side->count; stage++)
		printf("%s\"%s\": %" PRIu64, stage ? ", " : "", side->names[stage],
		       shown->stages[stage]);
	puts("}}");
}

/* Returns for example "host0.hca": the latency block's name without its last part. */
static char *adapter_of(const struct breakdowns *all, const struct breakdown *shown)
{
	const char *block = all->sources.names[shown->source];
	char *name = strndup(block, strlen(block) - strlen(strrchr(block, '.')));

	if (!name)
		abort();
	return name;
}

static void print_one(const struct breakdowns *all, const struct breakdown *shown, bool json)
{
	char *adapter = adapter_of(all, shown);

	if (json) {
		print_json(all->side, shown, adapter, 1);
	} else {
		printf("work request with tag %" PRIu64 " of queue pair %" PRIu64
		       " of %s, complete at %.3f ns\n\n",
		       shown->tag, shown->qpn, adapter, (double)shown->closed_at / 1e3);
		print_table(all->side, shown, 1);
	}
	free(adapter);
}

/* Keeps only the work request with that tag. */
static bool keep_tag(struct breakdowns *all, uint64_t tag)
{
	size_t at = 0;

	while (at < all->count && all->list[at].tag != tag)
		at++;
	if (at == all->count) {
		say("no completion of the trace has tag %" PRIu64, tag);
		return false;
	}
	all->list[0] = all->list[at];
	all->count = 1;
	return true;
}

static void keep_percentile(struct breakdowns *all, double percentile)
{
	size_t at = (size_t)(percentile / 100 * (double)(all->count - 1) + 0.5);

	all->list[0] = all->list[at];
	all->count = 1;
}

static void print_mean(const struct breakdowns *all, bool json)
{
	struct breakdown sum = breakdowns_sum(all);

	if (json) {
		print_json(all->side, &sum, "", all->count);
		return;
	}
	printf("mean of %zu work requests; latencies %.3f to %.3f ns, half below %.3f\n\n",
	       all->count, (double)all->list[0].latency / 1e3,
	       (double)all->list[all->count - 1].latency / 1e3,
	       (double)all->list[all->count / 2].latency / 1e3);
	print_table(all->side, &sum, all->count);
}

static bool print(const struct arguments *arguments, struct breakdowns *all)
{
	if (!all->count) {
		say("%s: no %s in this trace; expected a trace with the blocks named *.latency%s",
		    arguments->word, arguments->received ? "receive" : "completion of a send",
		    arguments->received
			    ? ", and messages that take a receive WQE (no READ, no WRITE "
			      "without immediate)"
			    : "");
		return false;
	}
	breakdowns_sort(all);
	if (arguments->tag && !keep_tag(all, arguments->tag))
		return false;
	if (arguments->percentile >= 0)
		keep_percentile(all, arguments->percentile);
	if (arguments->tag || arguments->percentile >= 0)
		print_one(all, &all->list[0], arguments->json);
	else
		print_mean(all, arguments->json);
	return !arguments->perfetto || explain_timeline(arguments->perfetto, all->side,
							&all->sources, all->list, all->count);
}

/* Returns the trace of a result folder, or the word itself. */
static const char *trace_path(const char *word, char path[PATH_MAX])
{
	struct stat status;

	if (stat(word, &status) != 0 || !S_ISDIR(status.st_mode))
		return word;
	snprintf(path, PATH_MAX, "%s/trace.bin", word);
	return path;
}

/* Returns true for a result folder without a trace. Its processor time can be explained. */
static bool has_no_trace(const struct arguments *arguments)
{
	char path[PATH_MAX];
	bool folder = trace_path(arguments->word, path) == path;

	return folder && access(path, F_OK) != 0 && !arguments->tag && !arguments->received &&
	       arguments->percentile < 0 && !arguments->perfetto;
}

static int explain_trace(const struct arguments *arguments, const char *file)
{
	struct breakdowns all;
	char error[ERROR_BYTES];
	bool good;

	if (!breakdowns_read(&all, file, arguments->received, error, sizeof(error))) {
		say("%s%s", error,
		    file == arguments->word ? "" : "; expected a run with trace: [...]");
		return EXIT_BAD_INPUT;
	}
	good = print(arguments, &all);
	if (*error) {
		say("%s", error);
		good = false;
	}
	breakdowns_free(&all);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int verb_explain(const struct arguments *arguments)
{
	char path[PATH_MAX];

	if (arguments->cpu)
		return explain_cpu(arguments);
	if (arguments->bounds)
		return explain_bounds(arguments);
	if (arguments->bottleneck)
		return explain_bottleneck(arguments);
	if (arguments->perfetto && !arguments->tag && arguments->percentile < 0) {
		say("--perfetto draws single work requests; add --wqe or --percentile");
		return EXIT_BAD_INPUT;
	}
	if (has_no_trace(arguments))
		return explain_cpu(arguments);
	return explain_trace(arguments, trace_path(arguments->word, path));
}
