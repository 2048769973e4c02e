/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_chart: hcasim chart RUN --qp HOST:QPN | --pair A:B: message sequence chart of two hosts, as
 * text and as SVG.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "hcasim/report/report.h"
#include "hcasim/report/sequence.h"
#include "sim/quantity.h"

#define ERROR_BYTES 1024
#define EVENTS      200 /* unless told */

/* Splits "host0:64" at the colon. Returns NULL if there is no colon, or if one side is empty. The
 * caller frees the result. */
static char *split(const char *text, const char **second)
{
	char *first = strdup(text), *colon;
	if (!first)
		abort();
	colon = strrchr(first, ':');
	if (!colon || colon == first || colon[1] == '\0') {
		free(first);
		return NULL;
	}
	*colon = '\0';
	*second = colon + 1;
	return first;
}

static bool make(const struct arguments *arguments, const struct passages *all, const char *trace,
		 struct sequence *sequence, char *error)
{
	const char *text = arguments->qp ? arguments->qp : arguments->pair, *second;
	char *first = split(text, &second), *end = NULL;
	bool good = false;
	unsigned long qpn = first && arguments->qp ? strtoul(second, &end, 0) : 0;
	if (!first || (end && *end) || qpn > 0xffffff)
		snprintf(error, ERROR_BYTES, "%s \"%s\"; expected %s",
			 arguments->qp ? "--qp" : "--pair", text,
			 arguments->qp ? "HOST:QPN, as host0:64" : "A:B, as host0:host1");
	else if (arguments->qp)
		good = sequence_of_qp(sequence, all, first, (uint32_t)qpn, trace, error,
				      ERROR_BYTES);
	else
		good = sequence_of_pair(sequence, all, first, second, error, ERROR_BYTES);
	free(first);
	return good;
}

/* Reads a time in the notation of scenarios, such as 10us. */
static bool read_from(const char *text, sim_time *from, char *error)
{
	static const struct quantity_unit units[] = {{"ps", PS, true}, {"ns", NS, true},
						     {"us", US, true}, {"ms", MS, true},
						     {"s", SEC, true}, {0}};
	char reason[ERROR_BYTES / 2];
	*from = 0;
	if (!text || quantity_parse(text, units, from, reason, sizeof(reason)))
		return true;
	snprintf(error, ERROR_BYTES, "--from: %s", reason);
	return false;
}

static bool draw(const struct sequence *sequence, const char *path)
{
	FILE *out = fopen(path, "w");
	bool good = out != NULL;
	if (out) {
		sequence_draw(sequence, out);
		good = ferror(out) == 0;
		good = fclose(out) == 0 && good;
	}
	if (!good)
		say("%s: %s", path, strerror(errno));
	if (!good && out)
		remove(path);
	return good;
}

/* Notes for readers on the times and losses of the chart. */
static void print_limits(const struct sequence *sequence)
{
	for (unsigned side = 0; side < 2; side++) {
		if (!sequence->exact[side])
			fprintf(stderr,
				"arrivals at %s are departures from the last port, and losses on "
				"the last link are not shown; record: {trace: [\"*.port\"]} gives "
				"both\n",
				sequence->hosts[side]);
	}
	if (sequence->before > 0 || sequence->behind > 0)
		fprintf(stderr,
			"%zu events before and %zu after the chart are left out; --from TIME and "
			"--events NUMBER select others\n",
			sequence->before, sequence->behind);
}

static int chart(const struct arguments *arguments, const struct passages *all, const char *folder)
{
	struct sequence sequence = {0};
	char error[ERROR_BYTES] = "", path[PATH_MAX];
	sim_time from;
	bool traced = report_has(folder, "trace.bin", path);
	bool good = read_from(arguments->from, &from, error) &&
		    make(arguments, all, traced ? path : NULL, &sequence, error);
	if (good && traced)
		good = sequence_add_trace(&sequence, path, error, sizeof(error));
	if (good) {
		sequence_cut(&sequence, from, arguments->events ? arguments->events : EVENTS);
		/* first the file, because a reader of the text may close its pipe */
		good = !arguments->svg || draw(&sequence, arguments->svg);
		sequence_print(&sequence, stdout);
		print_limits(&sequence);
	}
	if (*error)
		say("%s", error);
	sequence_free(&sequence);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static bool is_given(struct yaml_node *map, const char *key)
{
	struct yaml_node *node = map ? yaml_get(map, key) : NULL;
	return node && !(node->kind == YAML_SCALAR && strtod(node->text, NULL) == 0);
}

/* Returns true if the run left packets out of its record. */
static bool is_partial(const char *folder)
{
	static const char *const keys[] = {"ports", "hosts", "qps", "opcodes", "from", "until"};
	struct yaml_errors errors = {0};
	char path[PATH_MAX];
	bool partial = false;
	if (!report_has(folder, "scenario.yaml", path))
		return false;
	struct yaml_document *document = yaml_read_file(path, &errors);
	struct yaml_node *root = document ? yaml_root(document) : NULL;
	struct yaml_node *record = root ? yaml_get(root, "record") : NULL;
	struct yaml_node *only = record ? yaml_get(record, "only") : NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		partial = partial || is_given(only, keys[i]);
	partial = partial || is_given(record ? yaml_get(record, "ring") : NULL, "packets");
	if (document)
		yaml_close(document);
	yaml_errors_free(&errors);
	return partial;
}

int verb_chart(const struct arguments *arguments)
{
	struct passages all;
	char error[ERROR_BYTES], path[PATH_MAX];
	int code = EXIT_BAD_INPUT;
	if (!arguments->qp == !arguments->pair) {
		say("no packets are selected; expected --qp HOST:QPN or --pair A:B");
		return EXIT_BAD_INPUT;
	}
	if (!report_has(arguments->word, "packets.pcapng", path)) {
		say("%s has no packets.pcapng; expected the result folder of a run with record: "
		    "{packets: true}",
		    arguments->word);
		return EXIT_BAD_INPUT;
	}
	if (!passages_read(&all, path, error, sizeof(error)))
		say("%s", error);
	else if (all.too_short > 0)
		say("%s: the headers of %zu packets are cut; expected a run with record: {snap: "
		    "160B} or more, or without snap",
		    path, all.too_short);
	else
		code = chart(arguments, &all, arguments->word);
	if (code == EXIT_GOOD && is_partial(arguments->word))
		fprintf(stderr, "record.only or record.ring left packets out; a packet without a "
				"recorded arrival looks lost\n");
	if (code == EXIT_GOOD && all.cut > 0)
		fprintf(stderr, "record.snap cut %zu packets; the chart needs only their headers\n",
			all.cut);
	passages_free(&all);
	return code;
}
