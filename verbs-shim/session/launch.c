/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch: starts a program so that its run can be repeated. It has no address randomisation, a
 * fixed environment, empty standard input, output through pipes, and the preload library.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/install_paths.h"
#include "verbs-shim/session/executable.h"
#include "verbs-shim/session/host_view.h"
#include "verbs-shim/session/isolate.h"
#include "verbs-shim/session/state.h"

#define LIBRARY             "libhcasim-shim.so"
#define ATTACH_MILLISECONDS 10000

extern char **environ;

/* Variables that a program's environment omits. They differ between shells or between machines, and
 * would move the program's stack. */
static const char *const dropped[] = {"_=",
				      "SHLVL=",
				      "OLDPWD=",
				      "PWD=",
				      "LD_PRELOAD=",
				      SHIM_ENVIRONMENT "=",
				      SHIM_HOST_VARIABLE "=",
				      "SYSFS_PATH=",
				      "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE="};

bool launch_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes)
{
	char library[PATH_MAX];

	if (!install_paths_library(LIBRARY, library)) {
		snprintf(error, error_bytes,
			 "%s is not beside the hcasim executable; build or install it", LIBRARY);
		return false;
	}
	return executable_find(name, path, error, error_bytes);
}

/* Returns the folder that programs of a host see as /dev/shm. */
static void shared_memory_of(const struct session_host *host, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" SHIM_SHARED_FOLDER, host->tree);
}

/* Writes the files of a host for /sys, /dev and /proc. */
static bool write_tree(const struct session *session, struct session_host *host, uint32_t number)
{
	char text[64], folder[PATH_MAX];
	int error = 0;

	snprintf(host->tree, sizeof(host->tree), "%s/%u", session->directory, number);
	(void)mkdir(host->tree, 0755);
	if (host->kernel)
		error = kernel_write_sysfs_files(host->kernel, host->tree);
	if (error) {
		errno = -error;
		return false;
	}
	shared_memory_of(host, folder);
	(void)mkdir(folder, 0777);
	(void)chmod(folder, 01777);
	snprintf(text, sizeof(text), "68636173-696d-4000-8000-%012x\n", number + 1);
	return host_view_write(&session->cpu, session->directory, host->tree) &&
	       host_view_file(host->tree, "/proc/sys/kernel/random/boot_id", text);
}

bool session_prepare(struct session *session, char *error, size_t error_bytes)
{
	if (!limits_have_room(session, error, error_bytes) ||
	    !host_view_is_possible(&session->cpu, error, error_bytes) ||
	    (session->socket_params &&
	     !sockets_are_possible(session->socket_params, error, error_bytes)))
		return false;
	start_prepare(session);
	if (isolate_folder()) {
		snprintf(session->directory, sizeof(session->directory), "%s", isolate_folder());
	} else if (isolate_make_folder(session->directory, sizeof(session->directory))) {
		supervise_notify(session, session->directory);
	} else {
		snprintf(error, error_bytes,
			 "no directory for the run's files under TMPDIR or /tmp: %s",
			 strerror(errno));
		return false;
	}
	for (uint32_t i = 0; i < session->host_count; i++)
		if (!write_tree(session, &session->hosts[i], i)) {
			snprintf(error, error_bytes,
				 "the run's files in %s could not be written: %s",
				 session->directory, strerror(errno));
			launch_clean(session);
			return false;
		}
	return true;
}

void launch_clean(struct session *session)
{
	if (!isolate_folder())
		supervise_remove_tree(session->directory);
}

static unsigned long inode_of(int fd)
{
	struct stat status;

	assert(fstat(fd, &status) == 0);
	return status.st_ino;
}

static char **environment(const struct program *program, const int output[2])
{
	char **result, library[PATH_MAX];
	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	result = calloc(count + 3, sizeof(*result));
	for (size_t i = 0; i < count; i++) {
		bool keep = true;
		for (size_t d = 0; d < ARRAY_SIZE(dropped); d++)
			keep &= strncmp(environ[i], dropped[d], strlen(dropped[d])) != 0;
		if (keep)
			result[used++] = environ[i];
	}
	if (!install_paths_library(LIBRARY, library) ||
	    asprintf(&result[used++], "LD_PRELOAD=%s", library) < 0 ||
	    asprintf(&result[used++], "%s=%d,%d,%u,%016lx,%016lx", SHIM_ENVIRONMENT, SHIM_FIRST_FD,
		     SHIM_FIRST_FD + 1, program->host, inode_of(output[0]),
		     inode_of(output[1])) < 0)
		_exit(127);
	return result;
}

/* Returns true if the path is hidden by the shared memory of a host. */
static bool is_hidden(const char *path)
{
	return strncmp(path, SHIM_SHARED_MEMORY "/", sizeof(SHIM_SHARED_MEMORY)) == 0;
}

/* Opens the pipes of a program's output, at its end and at the ends of supervisor and simulator.
 * Returns false with errno on failure. */
static bool open_outputs(const struct session *session, struct program *program, int far[2])
{
	const char *name = session->hosts[program->host].name;

	for (int i = 0; i < 2; i++) {
		int pair[2];

		if (pipe2(pair, O_CLOEXEC) != 0)
			return false;
		far[i] = pair[1];
		program->output[i] =
			(struct output){.fd = pair[0], .to = 1 + i, .host = program->host};
		(void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
		(void)fcntl(pair[0], F_SETPIPE_SZ, 1 << 18);
		supervise_output(session, &program->output[i], name);
	}
	return true;
}

/* Turns the child into the program. */
static _Noreturn void become(struct session *session, const struct program *program,
			     const int far[2])
{
	char **variables = environment(program, far);
	int null = open("/dev/null", O_RDONLY);
	char folder[PATH_MAX];

	dup2(null, 0);
	dup2(far[0], 1);
	dup2(far[1], 2);
	dup2(session->attach_far, SHIM_FIRST_FD);
	dup2(session->shared_fd, SHIM_FIRST_FD + 1);
	close(session->shared_fd);
	if (null > 2)
		close(null);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	personality(ADDR_NO_RANDOMIZE);
	limits_become_program();
	place_share_counter(false);
	place_program(session);
	shared_memory_of(&session->hosts[program->host], folder);
	if (!is_hidden(program->path) && !is_hidden(install_paths_program()))
		isolate_shared_memory(folder);
	execve(program->path, program->argv, variables);
	dprintf(2, "%s: %s\n", program->path, strerror(errno));
	_exit(127);
}

static void ended(struct session *session, struct program *program, int exit_code)
{
	program->ended = true;
	program->exit_code = exit_code;
	if (session->exit_code == 0)
		session->exit_code = exit_code;
}

/* Waits until the program attaches, or ends, or can no longer attach. */
static void await_attach(struct session *session, struct program *program)
{
	int status;

	for (int waited = 0; waited < ATTACH_MILLISECONDS; waited += 10) {
		struct process *process = attach_accept(session, 10);

		if (process && process->real_pid == program->real_pid) {
			session->awaiting = 0;
			return;
		}
		if (waitpid(program->real_pid, &status, WNOHANG) == program->real_pid) {
			ended(session, program,
			      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
			output_drain(session);
			return;
		}
	}
	fprintf(stderr, "hcasim: %s: %s did not load the preload library\n",
		session->hosts[program->host].name, program->argv[0]);
	kill(program->real_pid, SIGKILL);
	(void)waitpid(program->real_pid, NULL, 0);
	ended(session, program, 126);
}

void launch_program(struct session *session, struct program *program)
{
	int far[2];

	fflush(NULL);
	program->real_pid = open_outputs(session, program, far) ? fork() : -1;
	if (program->real_pid < 0) {
		fprintf(stderr, "hcasim: %s: %s cannot be started: %s\n",
			session->hosts[program->host].name, program->argv[0], strerror(errno));
		session->broken = true;
		ended(session, program, 126);
		return;
	}
	if (program->real_pid == 0)
		become(session, program, far);
	close(far[0]);
	close(far[1]);
	program->started = true;
	program->launched = sim_now(session->sim);
	await_attach(session, program);
}
