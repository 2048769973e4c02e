/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments: one argp parser for all verbs. Each verb lists its options.
 */
#include "hcasim/command/arguments.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hcasim/command/scenario_files.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/modules.h"
#include "sim/parallel.h"
#include "sim/renamed_keys.h"

#define OPTIONS_MAX 32
#define DOC_BYTES   1024

static void add_override(struct arguments *arguments, const char *prefix, const char *text)
{
	char *override = NULL;
	const char **list =
		realloc(arguments->overrides, (arguments->override_count + 1) * sizeof(*list));
	if (!list || asprintf(&override, "%s%s", prefix, text) < 0)
		abort();
	arguments->overrides = list;
	list[arguments->override_count++] = override;
}

static void add_text(const char ***list, size_t *count, const char *text)
{
	*list = realloc(*list, (*count + 1) * sizeof(**list));
	if (!*list)
		abort();
	(*list)[(*count)++] = text;
}

static void read_engine(struct argp_state *state, const char *name, enum sim_engine *engine)
{
#define ENGINE_NAME(name, text, meaning) text,
	static const char *const names[] = {SIM_ENGINES(ENGINE_NAME)};
	if (sim_engine_from_name(name, engine))
		return;
	char hint[128];
	renamed_key_hint(renamed_key("value.engine", name), name, names, ARRAY_SIZE(names), hint,
			 sizeof(hint));
	argp_error(state, "no engine \"%s\"; expected native, systemc or systemc-reference%s", name,
		   hint);
}

static void read_tag(struct argp_state *state, const char *text, uint64_t *tag)
{
	char *end;

	errno = 0;
	*tag = strtoull(text, &end, 0);
	if (errno || *end || end == text || text[0] == '-' || *tag == 0)
		argp_error(state, "\"%s\" is not a tag; expected a number from 1", text);
}

static void read_percentile(struct argp_state *state, const char *text, double *percentile)
{
	char *end;

	*percentile = strtod(text, &end);
	if (*end || end == text || !(*percentile >= 0 && *percentile <= 100))
		argp_error(state, "\"%s\" is not a percentile; expected a number from 0 to 100",
			   text);
}

static unsigned read_count(struct argp_state *state, const char *option, const char *of,
			   const char *text, unsigned most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || text[0] == '-' || value == 0 || value > most)
		argp_error(state, "\"%s\" is not a number of %s; expected %s NUMBER, 1 to %u", text,
			   of, option, most);
	return (unsigned)value;
}

/* Options without checks: a key, and the field of struct arguments that it sets. */
#define FIELD(KEY, field)                              \
	{                                              \
		KEY, offsetof(struct arguments, field) \
	}
struct plain {
	int key;
	size_t field;
};

/* The field is a const char *, the text of the option. */
static const struct plain texts[] = {
	FIELD(KEY_REPLAY, replay),
	FIELD(KEY_CAPTURE, capture),
	FIELD(KEY_OUT, out),
	FIELD(KEY_PCAP, pcap),
	FIELD(KEY_TRACE, trace),
	FIELD(KEY_COUNTERS, counters),
	FIELD(KEY_PERFETTO, perfetto),
	FIELD(KEY_VCD, vcd),
	FIELD(KEY_SIGNALS, signals),
	FIELD(KEY_PRESET, preset),
	FIELD(KEY_X, x_key),
	FIELD(KEY_PICTURES, pictures),
	FIELD(KEY_QP, qp),
	FIELD(KEY_PAIR, pair),
	FIELD(KEY_SVG, svg),
	FIELD(KEY_FROM, from),
	FIELD(KEY_VIA, via),
	FIELD(KEY_EVERY, every_text),
	FIELD(KEY_BY, by),
	FIELD(KEY_PART, part),
};

/* bool: the option is present. */
static const struct plain flags[] = {
	FIELD(KEY_RECEIVED, received), FIELD(KEY_BOTTLENECK, bottleneck),
	FIELD(KEY_JSON, json),         FIELD(KEY_VERBOSE, verbose),
	FIELD(KEY_EXPECT, expect),     FIELD(KEY_FULL, full),
	FIELD(KEY_ROBUST, robust),     FIELD(KEY_WORDS, words),
	FIELD(KEY_BOUNDS, bounds),     FIELD(KEY_EFFECTIVE, effective),
	FIELD(KEY_CPU, cpu),
};

static void *find_field(struct arguments *arguments, const struct plain *list, size_t count,
			int key)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].key == key)
			return (char *)arguments + list[i].field;
	return NULL;
}

static void read_word(struct argp_state *state, struct arguments *arguments, const char *text)
{
	if (state->arg_num >= arguments->verb->words_most)
		argp_error(state, "unexpected argument \"%s\"%s", text,
			   arguments->verb->programs ? "; programs follow --" : "");
	if (arguments->verb->words_most > 1)
		add_text(&arguments->words_given, &arguments->word_count, text);
	else
		arguments->word = text;
}

static error_t read_argument(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	const char **plain_text = find_field(arguments, texts, ARRAY_SIZE(texts), key);
	bool *flag = find_field(arguments, flags, ARRAY_SIZE(flags), key);

	if (plain_text) {
		*plain_text = text;
		return 0;
	}
	if (flag) {
		*flag = true;
		return 0;
	}
	switch (key) {
	case KEY_SET:
		add_override(arguments, "", text);
		return 0;
	case KEY_SEED:
		add_override(arguments, "seed=", text);
		return 0;
	case KEY_UNTIL:
		add_override(arguments, "run.until=", text);
		return 0;
	case KEY_JOBS:
		arguments->jobs = read_count(state, "--jobs", "runs", text, 256);
		return 0;
	case KEY_POINTS:
		arguments->points = read_count(state, "--points", "points", text, 1000000);
		return 0;
	case KEY_PORTS:
		arguments->ports = read_count(state, "--ports", "ports", text, 1000000);
		return 0;
	case KEY_THREADS:
		arguments->threads = strcmp(text, "auto") == 0
					     ? THREADS_AUTO
					     : read_count(state, "--threads auto, or --threads",
							  "threads", text, SIM_LPS_MAX);
		return 0;
	case KEY_RANKS:
		arguments->ranks = read_count(state, "--np", "ranks", text, 1000000);
		return 0;
	case KEY_ENGINE:
		read_engine(state, text, &arguments->engine);
		arguments->engine_given = true;
		return 0;
	case KEY_EVENTS:
		arguments->events = read_count(state, "--events", "events", text, 1000000);
		return 0;
	case KEY_TAG:
		read_tag(state, text, &arguments->tag);
		return 0;
	case KEY_PERCENTILE:
		read_percentile(state, text, &arguments->percentile);
		return 0;
	case KEY_NUMBER:
		add_text(&arguments->numbers, &arguments->number_count, text);
		return 0;
	case KEY_CASE:
		add_text(&arguments->cases, &arguments->case_count, text);
		return 0;
	case KEY_METRIC:
		add_text(&arguments->metrics, &arguments->metric_count, text);
		return 0;
	case ARGP_KEY_ARG:
		read_word(state, arguments, text);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < arguments->verb->words_least)
			argp_error(state, "%s is missing", arguments->verb->usage);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Suggests an option for a misspelt one. argp reports the misspelling. */
static void suggest_option(const struct verb *verb, const char *word)
{
	const char *names[OPTIONS_MAX];
	size_t count = 0, length = strcspn(word, "=");
	char name[64];
	if (strncmp("help", word, length) == 0 || strncmp("usage", word, length) == 0)
		return;
	for (const struct argp_option *option = verb->options; option->name; option++) {
		if (strncmp(option->name, word, length) == 0)
			return; /* a valid option, perhaps abbreviated */
		if (count < OPTIONS_MAX)
			names[count++] = option->name;
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	const char *now = renamed_key("option", name);
	const char *near = now ? now : yaml_suggest(name, names, count);
	if (near)
		say("no option --%s of %s; %s --%s%s", name, verb->name,
		    now ? "it is now" : "did you mean", near, now ? "" : "?");
}

/* Replaces a scenario that does not exist by a file of the installation, so that the README's
 * commands work in any folder. */
static void find_scenario(struct arguments *arguments)
{
	static const char takes_file[] = "FILE";
	const char *word = arguments->word;

	if (!word || access(word, F_OK) == 0)
		return;
	arguments->word_found = scenario_files_find(word);
	if (arguments->word_found)
		arguments->word = arguments->word_found;
	else if (strncmp(arguments->verb->usage, takes_file, strlen(takes_file)) == 0)
		scenario_files_suggest(word);
}

static bool has_option(const struct verb *verb, int key)
{
	for (const struct argp_option *option = verb->options; option->name; option++)
		if (option->key == key)
			return true;
	return false;
}

void arguments_read(const struct verb *verb, int argc, char **argv, struct arguments *arguments)
{
	char name[64], doc[DOC_BYTES];
	struct argp argp = {verb->options, read_argument, verb->usage, doc, NULL, NULL, NULL};
	snprintf(doc, sizeof(doc), "%s\v%s", verb->summary, verb->help ? verb->help : "");
	*arguments =
		(struct arguments){.verb = verb,
				   .engine = SIM_ENGINE_native,
				   .percentile = -1,
				   .jobs = 1,
				   .threads = has_option(verb, KEY_THREADS) ? THREADS_AUTO : 1};
	for (int i = 1; i < argc && verb->programs; i++) {
		if (strcmp(argv[i], "--") == 0) {
			arguments->programs = argv + i + 1;
			argv[i] = NULL;
			argc = i;
		}
	}
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) == 0 && argv[i][2] != '\0')
			suggest_option(verb, argv[i] + 2);
	}
	snprintf(name, sizeof(name), "hcasim %s", verb->name);
	argv[0] = name;
	argp_err_exit_status = EXIT_BAD_INPUT;
	argp_parse(&argp, argc, argv, 0, NULL, arguments);
	argv[0] = (char *)verb->name;
	find_scenario(arguments);
}

void arguments_free(struct arguments *arguments)
{
	free(arguments->word_found);
	for (size_t i = 0; i < arguments->override_count; i++)
		free((char *)arguments->overrides[i]);
	free(arguments->overrides);
	free(arguments->words_given);
	free(arguments->numbers);
	free(arguments->cases);
	free(arguments->metrics);
}

struct scenario *arguments_read_scenario(const struct arguments *arguments,
					 struct yaml_errors *errors)
{
	return scenario_read(arguments->word, arguments->overrides, arguments->override_count,
			     errors);
}

struct scenario *arguments_scenario(const struct arguments *arguments)
{
	struct yaml_errors errors = {0};
	struct scenario *scenario = arguments_read_scenario(arguments, &errors);
	if (!say_is_silent()) {
		yaml_errors_print(&errors, stderr);
		if (scenario)
			yaml_errors_print(&scenario->warnings, stderr);
	}
	if (!scenario)
		say("%u problem%s in %s", errors.count, errors.count == 1 ? "" : "s",
		    arguments->word);
	yaml_errors_free(&errors);
	return scenario;
}

bool arguments_engine(const struct arguments *arguments, const struct scenario *scenario,
		      enum sim_engine *engine)
{
	const char *host, *block;
	*engine = arguments->engine;
	if (arguments->signals && !arguments->vcd) {
		say("--signals selects signals of a waveform; add --vcd FILE");
		return false;
	}
	if (*engine != SIM_ENGINE_native)
		return true;
	if (arguments->vcd && arguments->engine_given) {
		say("--engine native has no waveforms, which SystemC writes; use systemc or "
		    "systemc-reference");
		return false;
	}
	if (arguments->vcd)
		*engine = SIM_ENGINE_systemc;
	if (*engine != SIM_ENGINE_native || !modules_first(scenario, &host, &block))
		return true;
	if (arguments->engine_given) {
		say("%s: a module replaces %s.hca.%s, and --engine native cannot run modules; use "
		    "systemc or systemc-reference",
		    scenario->file, host, block);
		return false;
	}
	say("a module replaces %s.hca.%s, so the run uses --engine systemc", host, block);
	*engine = SIM_ENGINE_systemc;
	return true;
}
