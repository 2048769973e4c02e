/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_help: implements hcasim help [VERB]; with --words prints words for shell completion.
 */
#include <stdio.h>
#include <string.h>

#include "hcasim/command/verb.h"

static void print_words(const struct verb *one)
{
	if (!one) {
		for (const struct verb *verb = verbs; verb->name; verb++)
			printf("%s\n", verb->name);
		return;
	}
	for (const struct argp_option *option = one->options; option->name; option++)
		printf("--%s\n", option->name);
}

static void print_verb(const struct verb *verb)
{
	printf("hcasim %s %s\n\n%s\n", verb->name, verb->usage, verb->summary);
	if (verb->help)
		printf("%s\n", verb->help);
	for (const struct argp_option *option = verb->options; option->name; option++) {
		char text[64];
		snprintf(text, sizeof(text), "--%s%s%s", option->name, option->arg ? "=" : "",
			 option->arg ? option->arg : "");
		printf("  %-24s %s\n", text, option->doc);
	}
}

int verb_help(const struct arguments *arguments)
{
	const struct verb *one = arguments->word ? verb_find(arguments->word) : NULL;
	if (arguments->word && !one)
		return verb_report_unknown(arguments->word);
	if (arguments->words) {
		print_words(one);
		return EXIT_GOOD;
	}
	if (one) {
		print_verb(one);
		return EXIT_GOOD;
	}
	printf("hcasim simulates RDMA host channel adapters and the fabric between them.\n\n");
	for (const struct verb *verb = verbs; verb->name; verb++)
		printf("  %-9s %-9s %s\n", verb->name,
		       strncmp(verb->usage, "FILE ", 5) == 0 ? "FILE ..." : verb->usage,
		       verb->summary);
	printf("\nhcasim help VERB prints details. Exit codes: 0 success; 1 an expectation or "
	       "check failed; 2 invalid input,\nor output that cannot be written. exec and mpi "
	       "return the exit code of the programs.\n");
	return EXIT_GOOD;
}
