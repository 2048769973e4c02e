/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio: reads and writes that libc makes itself, for its streams. libc calls its own read() and
 * write() there, past the library. stdio_init() patches both functions with a jump to this file.
 * Calls that may wait, at a pipe, a socket or a terminal, use the library's functions. For files
 * the functions behave as before and take no virtual time.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/vdso.h"

static ssize_t read_inside(int fd, void *bytes, size_t length)
{
	if (!shim_active() || wait_is_plain(fd))
		return system_call(SYS_read, fd, bytes, length);
	return read(fd, bytes, length);
}

static ssize_t write_inside(int fd, const void *bytes, size_t length)
{
	if (!shim_active() || wait_is_plain(fd))
		return wait_write_plain(fd, bytes, length);
	return write(fd, bytes, length);
}

static void redirect(void *function, void *target)
{
	uint64_t first = (uint64_t)(uintptr_t)function & ~(PAGE - 1);
	uint64_t end = ((uint64_t)(uintptr_t)function + VDSO_JUMP_BYTES + PAGE - 1) & ~(PAGE - 1);

	if (!function ||
	    system_call(SYS_mprotect, first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return; /* streams at pipes are then not tracked, which the run reports */
	vdso_write_jump(function, target);
	(void)system_call(SYS_mprotect, first, end - first, PROT_READ | PROT_EXEC);
}

void stdio_init(void)
{
	redirect(dlsym(RTLD_NEXT, "read"), (void *)read_inside);
	redirect(dlsym(RTLD_NEXT, "write"), (void *)write_inside);
}
