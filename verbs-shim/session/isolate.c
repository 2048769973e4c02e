/* SPDX-License-Identifier: Apache-2.0 */
/* isolate: see isolate.h. */
#include "verbs-shim/session/isolate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define NAMESPACES (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC)
/* Every kernel has this path. No other process sees the new /proc, and no program reads the
 * path. */
#define FOLDER "/proc/fs"
#define PREFIX "hcasim-"

static bool isolated;
static int watcher = -1; /* pipe to it */

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* The user keeps the same name in the new user namespace. */
static bool unshare_as_user(void)
{
	unsigned user = geteuid(), group = getegid();
	char text[64];

	if (unshare(CLONE_NEWUSER | NAMESPACES) != 0)
		return false;
	(void)write_text("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "%u %u 1\n", user, user);
	if (!write_text("/proc/self/uid_map", text))
		return false;
	snprintf(text, sizeof(text), "%u %u 1\n", group, group);
	return write_text("/proc/self/gid_map", text);
}

static bool loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool good = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0;

	request.ifr_flags |= IFF_UP;
	good = good && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	if (fd >= 0)
		close(fd);
	return good;
}

static bool furnish(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 &&
	       mount("hcasim", FOLDER, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") ==
		       0 &&
	       loopback_up();
}

/* Handles signals of process 1 of a namespace, which receives only signals that have a handler. */
static void on_early_end(int number)
{
	_exit(128 + number);
}

static void take_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGABRT};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		signal(numbers[i], on_early_end);
}

/* Runs in the simulator: reports the result to the starter, and waits until the supervisor is its
 * parent. */
static void arrive(int starter, int supervisor)
{
	char byte = furnish() ? 'y' : 'n';

	take_signals();
	if (write(starter, &byte, 1) != 1 || byte == 'n')
		_exit(1);
	close(starter);
	if (read(supervisor, &byte, 1) != 1)
		_exit(1);
	close(supervisor);
	isolated = true;
}

/* Runs in the starter, which ends. Returns in the simulator. */
static void start(int supervisor)
{
	int pair[2];
	char byte = 'n';
	pid_t simulator;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
	    (unshare(NAMESPACES) != 0 && !unshare_as_user()))
		_exit(1);
	simulator = fork();
	if (simulator == 0) {
		close(pair[0]);
		arrive(pair[1], supervisor);
		return;
	}
	close(pair[1]);
	if (simulator < 0 || read(pair[0], &byte, 1) != 1 || byte != 'y' ||
	    write(supervisor, &simulator, sizeof(simulator)) != (ssize_t)sizeof(simulator))
		_exit(1);
	_exit(0);
}

pid_t isolate_start(void)
{
	int pair[2], status;
	pid_t starter, simulator = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	starter = fork();
	if (starter == 0) {
		close(pair[0]);
		start(pair[1]);
		return 0;
	}
	close(pair[1]);
	if (starter > 0 &&
	    read(pair[0], &simulator, sizeof(simulator)) != (ssize_t)sizeof(simulator))
		simulator = -1;
	if (starter > 0)
		/* from this point on the simulator is a child process */
		(void)waitpid(starter, &status, 0);
	if (simulator > 0)
		(void)!write(pair[0], "g", 1);
	close(pair[0]);
	return simulator;
}

const char *isolate_folder(void)
{
	return isolated ? FOLDER : NULL;
}

void isolate_shared_memory(const char *folder)
{
	if (isolated && unshare(CLONE_NEWNS) == 0)
		(void)mount(folder, SHIM_SHARED_MEMORY, NULL, MS_BIND, NULL);
}

void isolate_hold_addresses(void)
{
	static const char name[] =
		/* abstract socket, which disappears with its last holder */
		"hcasim-addresses-127.77.0";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool said = false;

	memcpy(address.sun_path + 1, name, sizeof(name) - 1);
	while (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) != 0 &&
	       errno == EADDRINUSE) {
		if (!said)
			fprintf(stderr, "hcasim: another run on this machine uses the hosts' "
					"addresses, and this system does not permit namespaces to "
					"separate the two; waiting for that run to end\n");
		said = true;
		usleep(100000);
	}
}

/* Locks a run's folder. The owner of a folder holds its lock. */
static int lock_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static const char *temporary(void)
{
	const char *path = getenv("TMPDIR");

	return path && path[0] == '/' && strlen(path) < 40 ? path : "/tmp";
}

static void sweep(void)
{
	DIR *folder = opendir(temporary());
	const struct dirent *entry;
	char path[PATH_MAX];
	struct stat status;
	int fd;

	while (folder && (entry = readdir(folder)) != NULL) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    strlen(entry->d_name) != strlen(PREFIX) + 6)
			continue;
		snprintf(path, sizeof(path), "%s/%s", temporary(), entry->d_name);
		fd = lock_folder(path);
		if (fd < 0)
			continue;
		if (fstat(fd, &status) == 0 && status.st_uid == geteuid())
			supervise_remove_tree(path);
		close(fd);
	}
	if (folder)
		closedir(folder);
}

bool isolate_make_folder(char *path, size_t bytes)
{
	sweep();
	snprintf(path, bytes, "%s/" PREFIX "XXXXXX", temporary());
	if (!mkdtemp(path) || lock_folder(path) < 0)
		return false;
	if (watcher >= 0)
		(void)!write(watcher, path, strlen(path) + 1);
	return true;
}

void isolate_watch(void)
{
	char path[PATH_MAX] = "";
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid != 0) {
		close(ends[0]);
		watcher = ends[1];
		return;
	}
	close(ends[1]);
	(void)setsid(); /* signals to the process group of the run do not reach it */
	(void)prctl(PR_SET_NAME, "hcasim-watcher");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int fd = 0; fd < 3; fd++)
		close(fd); /* no other process waits for the end of a pipe */
	if (read(ends[0], path, sizeof(path) - 1) > 0) {
		char byte;
		while (read(ends[0], &byte, 1) > 0)
			;
		usleep(200000); /* programs that lose their simulator end by themselves */
		supervise_remove_tree(path);
	}
	_exit(0);
}
