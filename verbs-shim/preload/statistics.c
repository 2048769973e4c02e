/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics: /proc/stat of a simulated host: the processor time of its cores since its start.
 * Source: Linux, Documentation/filesystems/proc.rst, 1.7.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/shim.h"

#define PS_PER_TICK UINT64_C(10000000000) /* USER_HZ of Linux is 100 */
#define NS_PER_TICK UINT64_C(10000000)
#define NS_PER_S    UINT64_C(1000000000)
#define LINE_BYTES  160

struct file {
	int fd;
	long bytes;
};

static void put(struct file *file, const char *line, int length)
{
	(void)!system_call(SYS_pwrite64, file->fd, line, length, file->bytes);
	file->bytes += length;
}

/* Columns: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice. */
static void put_times(struct file *file, const char *name, const struct shim_core_time *time,
		      uint64_t ticks)
{
	uint64_t user = time->user / PS_PER_TICK, system = time->system / PS_PER_TICK,
		 softirq = time->softirq / PS_PER_TICK, busy = user + system + softirq;
	char line[LINE_BYTES];
	int length = snprintf(line, sizeof(line), "%s %llu 0 %llu %llu 0 0 %llu 0 0 0\n", name,
			      (unsigned long long)user, (unsigned long long)system,
			      (unsigned long long)(ticks > busy ? ticks - busy : 0),
			      (unsigned long long)softirq);

	put(file, line, length);
}

static void put_all(struct file *file)
{
	const struct shim_core_time *cores = shim.memory->core_times[shim.process->host];
	uint64_t count = shim.memory->host.cores, since = shim.memory->monotonic_base_ns;
	uint64_t ticks = (since + gate_now() / 1000) / NS_PER_TICK;
	struct shim_core_time sum = {0};
	char text[LINE_BYTES];
	int length;

	for (uint64_t i = 0; i < count; i++) {
		sum.user += cores[i].user;
		sum.system += cores[i].system;
		sum.softirq += cores[i].softirq;
	}
	put_times(file, "cpu ", &sum, ticks * count);
	for (uint64_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "cpu%llu", (unsigned long long)i);
		put_times(file, text, &cores[i], ticks);
	}
	length = snprintf(text, sizeof(text),
			  "intr 0\nctxt 0\nbtime %llu\nprocesses 0\nprocs_running 1\n"
			  "procs_blocked 0\nsoftirq 0\n",
			  (unsigned long long)((shim.memory->realtime_base_ns - since) / NS_PER_S));
	put(file, text, length);
}

int statistics_file(int flags)
{
	struct file file = {.fd = files_of_text("stat", "", 0, flags)};

	if (file.fd >= 0) {
		gate_count();
		put_all(&file);
	}
	return file.fd;
}
