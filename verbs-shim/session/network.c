/*
 * network: the loop-back network in which the programs of a run find each other by socket. Each run gets one of its own, where
 * the system lets it: hosts of two simulations on one machine may have the same addresses, and what else the machine
 * does there reaches no program.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fprintf(stderr, "hcasim: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Who may not make a network makes a user namespace first, in which he is who he was. */
static bool unshare_as_user(void)
{
	char user[32], group[32];

	snprintf(user, sizeof(user), "%u %u 1", getuid(), getuid());
	snprintf(group, sizeof(group), "%u %u 1", getgid(), getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", user);
	write_file("/proc/self/gid_map", group);
	return true;
}

void network_isolate(void)
{
	struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd;

	if (unshare(CLONE_NEWNET) != 0 && !unshare_as_user())
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)ioctl(fd, SIOCSIFFLAGS, &loopback);
	close(fd);
}
