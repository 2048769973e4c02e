/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise: process that outlives the simulator. It forwards signals to the simulator. When the
 * simulator has died, it prints the remaining output of its programs, ends them, and removes the
 * files of the run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-shim/session/isolate.h"
#include "verbs-shim/session/state.h"

#define END_MILLISECONDS   10000 /* for a simulator that was asked to end */
#define GRACE_MILLISECONDS 3000  /* for programs whose simulator has ended to report this and end */

struct word { /* from the simulator to the supervisor; for an output with its descriptor */
	char directory[64];
	char name[64];
	uint32_t to, host;
};

static int simulator_socket = -1; /* the simulator's end */

static struct output outputs[2 * SESSION_PROGRAMS];
static char output_names[2 * SESSION_PROGRAMS][64];
static uint32_t output_count;
static char directory[64];

void supervise_remove_tree(const char *path)
{
	DIR *folder;
	struct dirent *entry;
	char below[PATH_MAX];

	if (path[0] == '\0' || unlink(path) == 0)
		return;
	folder = opendir(path);
	while (folder && (entry = readdir(folder)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    (size_t)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
			    sizeof(below))
			supervise_remove_tree(below);
	if (folder)
		closedir(folder);
	(void)rmdir(path);
}

static bool listen_to(int socket) /* returns false at the end */
{
	struct word word;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&word, sizeof(word)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != (ssize_t)sizeof(word))
		return false;
	if (word.directory[0])
		memcpy(directory, word.directory, sizeof(directory));
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
	     header = CMSG_NXTHDR(&message, header)) {
		struct output *output = &outputs[output_count];
		if (header->cmsg_type != SCM_RIGHTS || output_count == ARRAY_SIZE(outputs))
			continue;
		memcpy(&output->fd, CMSG_DATA(header), sizeof(int));
		output->to = (int)word.to;
		output->host = word.host;
		memcpy(output_names[output_count], word.name, sizeof(word.name));
		output_count++;
	}
	return true;
}

/* Kills child processes: programs whose simulator has ended became children of the supervisor. */
static bool kill_children(int number)
{
	char path[64], text[4096], *next = text;
	ssize_t length;
	bool any = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	for (;;) {
		long pid = strtol(next, &next, 10);
		if (pid <= 0)
			break;
		any = true;
		if (number)
			kill((pid_t)pid, number);
	}
	return any;
}

/* Programs that still run have `grace` milliseconds to end by themselves. */
static void clean_up(int grace)
{
	for (int waited = 0; waited < grace + 1000; waited += 5) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		for (uint32_t i = 0; i < output_count; i++)
			while (outputs[i].fd > 0 &&
			       output_read(&outputs[i], output_names[i], false))
				;
		if (!kill_children(waited >= grace ? SIGKILL : 0))
			break;
		usleep(5000);
	}
	for (uint32_t i = 0; i < output_count; i++)
		while (outputs[i].fd > 0 && output_read(&outputs[i], output_names[i], false))
			;
	supervise_remove_tree(directory);
}

void session_supervise(void)
{
	sigset_t set, old;
	int pair[2], signals, one, status = 0;
	bool ended = false, notified = false;
	pid_t simulator, gone;

	fflush(NULL);
	limits_raise_open_files();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	simulator = isolate_start();
	if (simulator < 0) {
		isolate_hold_addresses();
		isolate_watch();
		simulator = fork();
	}
	if (simulator == 0) {
		/* set the signal for the death of the supervisor; if it is already dead, its end of
		 * the pair is closed */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		close(pair[0]);
		if (poll(&(struct pollfd){pair[1], POLLIN, 0}, 1, 0) != 0)
			_exit(128 + SIGTERM);
		sigprocmask(SIG_SETMASK, &old, NULL);
		simulator_socket = pair[1];
		return;
	}
	if (simulator < 0)
		return;
	close(pair[1]);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		struct pollfd waiting[2] = {{signals, POLLIN, 0}, {pair[0], POLLIN, 0}};
		struct signalfd_siginfo info;

		if (poll(waiting, 2, notified ? END_MILLISECONDS : -1) == 0)
			kill(simulator, SIGKILL);
		if (waiting[1].revents && !listen_to(pair[0]))
			pair[0] = -1;
		while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (info.ssi_signo != SIGCHLD) {
				kill(simulator, (int)info.ssi_signo);
				notified = true;
			}
		while (!ended &&
		       (gone = waitpid(-1, &one, WNOHANG)) > 0) { /* or an orphan of a program */
			ended = gone == simulator;
			if (ended)
				status = one;
		}
		if (ended)
			break;
	}
	while (pair[0] >= 0 && listen_to(pair[0]))
		;
	if (WIFSIGNALED(status)) {
		fprintf(stderr,
			"hcasim: the simulator was ended by signal %d (%s); its programs end too\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
		clean_up(GRACE_MILLISECONDS);
		_exit(128 + WTERMSIG(status));
	}
	if (kill_children(SIGKILL) || directory[0])
		clean_up(0);
	_exit(WEXITSTATUS(status));
}

static void notify(const struct session *session, const struct word *word, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {(void *)(uintptr_t)word, sizeof(*word)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (session->supervisor < 0)
		return;
	if (fd >= 0) {
		struct cmsghdr *header;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	(void)sendmsg(session->supervisor, &message, MSG_NOSIGNAL);
}

void supervise_notify(const struct session *session, const char *path)
{
	struct word word = {.to = 0};

	snprintf(word.directory, sizeof(word.directory), "%s", path);
	notify(session, &word, -1);
}

void supervise_output(const struct session *session, const struct output *output, const char *name)
{
	struct word word = {.to = (uint32_t)output->to, .host = output->host};

	snprintf(word.name, sizeof(word.name), "%s", name);
	notify(session, &word, output->fd);
}

int supervise_socket(void)
{
	return simulator_socket;
}
