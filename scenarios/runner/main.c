/*
 * main: the hcasim command. See verbs.c for what it can do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/runner/verb.h"

#define VERBS_MAX 32

static int report_unknown(const char *name)
{
	const char *names[VERBS_MAX];
	size_t count = 0;
	for (const struct verb *verb = verbs; verb->name != NULL && count < VERBS_MAX; verb++)
		names[count++] = verb->name;
	const char *near = yaml_suggest(name, names, count);
	if (near != NULL)
		say("no verb \"%s\"; did you mean \"%s\"?", name, near);
	else
		say("no verb \"%s\"; hcasim help lists them", name);
	return EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	if (argc < 2) {
		say("what to do? hcasim help lists the verbs");
		return EXIT_BAD_INPUT;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("hcasim %s\n", HCASIM_VERSION);
		return EXIT_GOOD;
	}
	bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		    strcmp(argv[1], "-?") == 0;
	const struct verb *verb = verb_find(help ? "help" : argv[1]);
	if (verb == NULL)
		return report_unknown(argv[1]);
	arguments_read(verb, argc - 1, argv + 1, &arguments);
	int code = verb->run(&arguments);
	arguments_free(&arguments);
	return code;
}
