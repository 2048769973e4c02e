/* SPDX-License-Identifier: Apache-2.0 */
/* image: see image.h. Layouts: <elf.h>; System V ABI, "Program Header"; execve(2) for scripts. */
#include "verbs-shim/preload/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define SCRIPTS_MAX 4 /* as in the kernel: levels of scripts that interpret scripts */

static uint32_t check(int fd, const char *path, unsigned scripts);

static uint32_t check_elf(int fd, const char *path, const Elf64_Ehdr *header)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return OUTSIDE_32_BIT;
	if (slash && strncmp(slash, "/ld-", 4) == 0) /* the linker itself, which preloads */
		return OUTSIDE_NOT;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		uint64_t at = header->e_phoff + i * sizeof(segment);

		if (system_call(SYS_pread64, fd, &segment, sizeof(segment), at) !=
			    (long)sizeof(segment) ||
		    segment.p_type == PT_INTERP)
			return OUTSIDE_NOT;
	}
	return OUTSIDE_STATIC;
}

static uint32_t check_path(const char *path, unsigned scripts)
{
	int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	uint32_t outside;

	if (fd < 0)
		return OUTSIDE_NOT;
	outside = check(fd, path, scripts);
	(void)system_call(SYS_close, fd);
	return outside;
}

static uint32_t check(int fd, const char *path, unsigned scripts)
{
	struct stat status;
	char head[256] = "", *rest;
	Elf64_Ehdr header;

	if (system_call(SYS_pread64, fd, head, sizeof(head) - 1, 0L) < (long)sizeof(header) &&
	    memcmp(head, "#!", 2) != 0)
		return OUTSIDE_NOT;
	memcpy(&header, head, sizeof(header));
	if (system_call(SYS_fstat, fd, &status) == 0 && status.st_mode & S_ISUID &&
	    status.st_uid != geteuid())
		return OUTSIDE_SET_USER;
	if (memcmp(head, ELFMAG, SELFMAG) == 0)
		return check_elf(fd, path, &header);
	if (memcmp(head, "#!", 2) != 0 || scripts == SCRIPTS_MAX)
		return OUTSIDE_NOT;
	head[strcspn(head, "\n")] = '\0';
	rest = head + 2 + strspn(head + 2, " \t");
	rest[strcspn(rest, " \t")] = '\0';
	return check_path(rest, scripts + 1);
}

static bool has_variable(char *const environment[], const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, length) == 0)
			return true;
	return false;
}

static uint32_t with_environment(uint32_t outside, char *const environment[])
{
	if (outside == OUTSIDE_NOT && (!has_variable(environment, "LD_PRELOAD=") ||
				       !has_variable(environment, SHIM_ENVIRONMENT "=")))
		return OUTSIDE_ENVIRONMENT;
	return outside;
}

uint32_t image_check(const char *path, char *const environment[])
{
	int before = errno;
	uint32_t outside = OUTSIDE_NOT;

	if (path && system_call(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
		outside = with_environment(check_path(path, 0), environment);
	errno = before;
	return outside;
}

uint32_t image_check_fd(int fd, char *const environment[])
{
	int before = errno;
	uint32_t outside = with_environment(check(fd, NULL, 0), environment);

	errno = before;
	return outside;
}

const char *image_find(const char *file, char *found, uint64_t room)
{
	const char *list = getenv("PATH");

	if (!file || !*file || strchr(file, '/'))
		return file;
	list = list ? list : "/bin:/usr/bin";
	for (;; list++) {
		int length = (int)strcspn(list, ":");
		int written = snprintf(found, room, "%.*s/%s", length ? length : 1,
				       length ? list : ".", file);

		if (written > 0 && (uint64_t)written < room &&
		    system_call(SYS_faccessat, AT_FDCWD, found, X_OK) == 0)
			return found;
		list += length;
		if (*list == '\0')
			return file;
	}
}
