/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main: the hcasim command. verbs.c lists its verbs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hcasim/command/verb.h"
#include "sim/memory.h"

/* Returns the exit code, or an error if standard output could not be written. */
static int with_output(int code)
{
	bool flushed = fflush(stdout) == 0;
	if (flushed && ferror(stdout) == 0)
		return code;
	if (flushed) { /* an earlier write failed; another write sets errno */
		clearerr(stdout);
		putchar('\n');
		flushed = fflush(stdout) == 0;
	}
	say("standard output could not be written%s%s", flushed ? "" : ": ",
	    flushed ? "" : strerror(errno));
	return code == EXIT_GOOD ? EXIT_BAD_INPUT : code;
}

/* Opens a placeholder in place of each closed standard stream. Otherwise a newly opened
 * file would get the number of a standard stream, and receive its output or the pipes of programs.
 * Reading finds the end of file, and writing fails with EBADF, as on a closed stream. */
static void hold_standard_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void too_large(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	hold_standard_streams();
	if (argc < 2) {
		say("no verb; hcasim help lists the verbs");
		return EXIT_BAD_INPUT;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("hcasim %s\n", HCASIM_VERSION);
		return with_output(EXIT_GOOD);
	}
	bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		    strcmp(argv[1], "-?") == 0;
	const struct verb *verb = verb_find(help ? "help" : argv[1]);
	if (!verb)
		return verb_report_unknown(argv[1]);
	memory_guard_new();
	signal(SIGXFSZ, too_large); /* a write beyond the limit of files fails, as on a full disk */
	arguments_read(verb, argc - 1, argv + 1, &arguments);
	int code = verb->run(&arguments);
	arguments_free(&arguments);
	return with_output(code);
}
