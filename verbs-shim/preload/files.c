/* SPDX-License-Identifier: Apache-2.0 */
/* files: see files.h. The file has the redirections first, then the libc functions. Each function
 * redirects the path and calls libc. */
#include "verbs-shim/preload/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/namespaces.h"
#include "verbs-shim/preload/shim.h"

static const char *root; /* the tree; NULL: not attached, nothing is redirected */
static size_t root_length;

/* Only the simulated host's RDMA and PCI devices are visible. A device that the tree lacks is
 * absent, even if the machine has one. */
static const char *const always[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/infiniband_mad",
	"/sys/class/infiniband_cm",
	"/sys/class/misc/rdma_cm",
	"/dev/infiniband",
	"/sys/bus/pci",
	"/sys/devices/pci0000:00",
	"/sys/class/net/eth0/statistics", /* of the machine's own interface */
	"/sys/devices/system/cpu",
	"/sys/devices/system/node",
	"/sys/kernel/mm",
};

/* In other folders, a file of the simulated host replaces the machine's file. */
static const char *const overlaid[] = {"/sys/", "/proc/", "/etc/"};

void files_init(const char *tree)
{
	root = tree;
	root_length = strlen(tree);
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool exists(const char *path) /* not through access(), which the library intercepts */
{
	return system_call(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

static const char *in_tree(const char *path, char changed[PATH_MAX])
{
	size_t length = strlen(path);

	if (root_length + length >= PATH_MAX)
		return path;
	memcpy(changed, root, root_length);
	memcpy(changed + root_length, path, length + 1);
	return changed;
}

/* Converts /proc/NUMBER from the program's process number to the machine's. Returns the changed
 * path. */
static const char *of_process(const char *path, char changed[PATH_MAX])
{
	char *rest;
	long id = strtol(path + sizeof("/proc/") - 1, &rest, 10);

	if ((*rest != '/' && *rest != '\0') || ids_real((int32_t)id) == id ||
	    snprintf(changed, PATH_MAX, "/proc/%d%s", ids_real((int32_t)id), rest) >= PATH_MAX)
		return path;
	return changed;
}

static bool is_counter(const char *path)
{
	return strncmp(path, "/sys/", sizeof("/sys/") - 1) == 0 &&
	       (strstr(path, "/counters/") || strstr(path, "/hw_counters/"));
}

const char *files_redirect(const char *path, char changed[PATH_MAX])
{
	int before = errno;

	if (!root || !path || path[0] != '/')
		return path;
	if (is_counter(path))
		device_refresh_counters();
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (is_below(path, always[i]))
			return in_tree(path, changed);
	for (size_t i = 0; i < sizeof(overlaid) / sizeof(overlaid[0]); i++)
		if (strncmp(path, overlaid[i], strlen(overlaid[i])) == 0 &&
		    exists(in_tree(path, changed))) {
			errno = before;
			return changed;
		}
	errno = before;
	return strncmp(path, "/proc/", sizeof("/proc/") - 1) == 0 ? of_process(path, changed)
								  : path;
}

/* Works as files_redirect(), for a path that may be relative to a descriptor. hwloc uses a
 * descriptor of /, lscpu one of /proc. */
static const char *redirect_at(int directory, const char *path, char changed[PATH_MAX])
{
	char link[64], whole[PATH_MAX];
	const char *result;
	int before = errno;
	long length;

	if (!root || directory < 0 || !path || path[0] == '/' || !path[0])
		return files_redirect(path, changed);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
	length = system_call(SYS_readlink, link, whole, (long)sizeof(whole));
	errno = before;
	if (length <= 0 || (size_t)length + strlen(path) + 2 > sizeof(whole))
		return path;
	if (whole[length - 1] != '/')
		whole[length++] = '/';
	memcpy(whole + length, path, strlen(path) + 1);
	result = files_redirect(whole, changed);
	return result == whole ? path : result;
}

bool files_is_device(const char *path)
{
	char changed[PATH_MAX];
	struct stat status;

	/* directories such as /dev/infiniband itself are read as they are */
	return root && path && is_below(path, "/dev/infiniband") &&
	       system_call(SYS_newfstatat, AT_FDCWD, in_tree(path, changed), &status, 0) == 0 &&
	       S_ISREG(status.st_mode);
}

static dev_t number_of(const char *path)
{
	static const char *const classes[] = {"infiniband_verbs", "infiniband_mad", "infiniband_cm",
					      "misc"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned major_number, minor_number;
	char file[PATH_MAX], text[32];

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		snprintf(file, sizeof(file), "%s/sys/class/%s/%s/dev", root, classes[i], name);
		int fd = (int)system_call(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		ssize_t length = read(fd, text, sizeof(text) - 1);

		system_call(SYS_close, fd);
		if (length <= 0)
			continue;
		text[length] = '\0';
		if (sscanf(text, "%u:%u", &major_number, &minor_number) == 2)
			return makedev(major_number, minor_number);
	}
	return 0;
}

static void make_device(struct stat *status, dev_t number)
{
	status->st_mode = S_IFCHR | 0666;
	status->st_rdev = number;
	status->st_size = 0;
}

void files_disguise(const char *path, struct stat *status)
{
	make_device(status, number_of(path));
}

/* Opening. */

static bool is_random(const char *path)
{
	return root && path && shim_active() &&
	       (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

int files_of_text(const char *name, const char *text, int length, int flags)
{
	int fd = (int)system_call(SYS_memfd_create, name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0U);

	if (fd >= 0)
		(void)!system_call(SYS_pwrite64, fd, text, length, 0L);
	return fd;
}

/* Creates the text of a file anew for each open. Returns a descriptor, or -1. */
typedef int file_maker(int flags);

static file_maker *maker_of(const char *path)
{
	static const struct {
		const char *path;
		file_maker *make;
	} files[] = {{"/proc/uptime", clock_uptime_file},
		     {"/proc/stat", statistics_file},
		     {"/proc/sys/kernel/random/uuid", process_uuid_file}};

	for (size_t i = 0; root && path && i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(path, files[i].path) == 0)
			return shim_active() ? files[i].make : NULL;
	return NULL;
}

/* Returns true for the first file that libibumad reads, and for its devices. */
static bool is_of_mads(const char *path)
{
	static const char *const files[] = {"/sys/class/infiniband_mad/abi_version",
					    "/dev/infiniband/umad", "/dev/infiniband/issm"};

	for (size_t i = 0; root && path && i < sizeof(files) / sizeof(files[0]); i++)
		if (strncmp(path, files[i], strlen(files[i])) == 0)
			return true;
	return false;
}

static int open_path(int directory, const char *path, int flags, mode_t mode)
{
	char changed[PATH_MAX];
	int fd;

	if (files_is_device(path))
		return device_open(path, flags);
	if (is_random(path))
		return process_random_file(flags);
	if (maker_of(path))
		return maker_of(path)(flags);
	fd = REAL(openat)(directory, redirect_at(directory, path, changed), flags, mode);
	if (fd < 0 && errno == ENOENT && is_of_mads(path))
		device_refused("umad", ENOENT);
	return fd;
}

static bool takes_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN_FUNCTION(name, directory, parameters)              \
	EXPORT int name parameters                              \
	{                                                       \
		mode_t mode = 0;                                \
		if (takes_mode(flags)) {                        \
			va_list rest;                           \
			va_start(rest, flags);                  \
			mode = va_arg(rest, mode_t);            \
			va_end(rest);                           \
		}                                               \
		return open_path(directory, path, flags, mode); \
	}

EXPORT int __open(const char *path, int flags, ...);
EXPORT int __open64(const char *path, int flags, ...);

OPEN_FUNCTION(open, AT_FDCWD, (const char *path, int flags, ...))
OPEN_FUNCTION(open64, AT_FDCWD, (const char *path, int flags, ...))
OPEN_FUNCTION(openat, directory, (int directory, const char *path, int flags, ...))
OPEN_FUNCTION(openat64, directory, (int directory, const char *path, int flags, ...))
OPEN_FUNCTION(__open, AT_FDCWD, (const char *path, int flags, ...))
OPEN_FUNCTION(__open64, AT_FDCWD, (const char *path, int flags, ...))

EXPORT int creat(const char *path, mode_t mode)
{
	return open_path(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int creat64(const char *path, mode_t mode)
{
	return creat(path, mode);
}

/* The name that _FORTIFY_SOURCE substitutes for open() with two arguments. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int directory, const char *path, int flags);
EXPORT int __openat64_2(int directory, const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

int __openat_2(int directory, const char *path, int flags)
{
	return open_path(directory, path, flags, 0);
}

int __openat64_2(int directory, const char *path, int flags)
{
	return open_path(directory, path, flags, 0);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	char changed[PATH_MAX];

	if (is_random(path))
		return process_random_stream(mode);
	if (maker_of(path))
		return fdopen(maker_of(path)(0), mode);
	return REAL(fopen)(files_redirect(path, changed), mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	char changed[PATH_MAX];

	if (is_random(path))
		return process_random_stream(mode);
	if (maker_of(path))
		return fdopen(maker_of(path)(0), mode);
	return REAL(fopen64)(files_redirect(path, changed), mode);
}

EXPORT DIR *opendir(const char *path)
{
	char changed[PATH_MAX];

	return REAL(opendir)(files_redirect(path, changed));
}

EXPORT int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	char changed[PATH_MAX];

	return REAL(scandir)(files_redirect(path, changed), list, filter, compare);
}

EXPORT int scandir64(const char *path, struct dirent64 ***list,
		     int (*filter)(const struct dirent64 *),
		     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	char changed[PATH_MAX];

	return REAL(scandir64)(files_redirect(path, changed), list, filter, compare);
}

/* Queries of files. struct stat and struct stat64 are identical on x86-64. */

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64");

static int stat_path(int directory, const char *path, struct stat *status, int flags)
{
	char changed[PATH_MAX];
	int result = REAL(fstatat)(directory, redirect_at(directory, path, changed), status, flags);

	if (result == 0 && files_is_device(path))
		files_disguise(path, status);
	if (result == 0 && root && namespaces_inode(path) && !(flags & AT_SYMLINK_NOFOLLOW)) {
		status->st_ino = namespaces_inode(path);
		status->st_dev = namespaces_device();
	}
	return result;
}

static int stat_descriptor(int fd, struct stat *status)
{
	int result = REAL(fstat)(fd, status);

	if (result == 0 && device_has(fd))
		make_device(status, device_number(fd));
	else if (result == 0 && process_random_is(status))
		make_device(status, makedev(1, 9));
	return result;
}

EXPORT int stat(const char *restrict path, struct stat *restrict status)
{
	return stat_path(AT_FDCWD, path, status, 0);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict status)
{
	return stat_path(AT_FDCWD, path, (struct stat *)status, 0);
}

EXPORT int lstat(const char *restrict path, struct stat *restrict status)
{
	return stat_path(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int lstat64(const char *restrict path, struct stat64 *restrict status)
{
	return stat_path(AT_FDCWD, path, (struct stat *)status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int directory, const char *restrict path, struct stat *restrict status,
		   int flags)
{
	if (flags & AT_EMPTY_PATH && !path[0])
		return stat_descriptor(directory, status);
	return stat_path(directory, path, status, flags);
}

EXPORT int fstatat64(int directory, const char *restrict path, struct stat64 *restrict status,
		     int flags)
{
	return fstatat(directory, path, (struct stat *)status, flags);
}

EXPORT int fstat(int fd, struct stat *status)
{
	return stat_descriptor(fd, status);
}

EXPORT int fstat64(int fd, struct stat64 *status)
{
	return stat_descriptor(fd, (struct stat *)status);
}

/* Names in programs that were built against glibc before 2.33. */
EXPORT int __xstat(int version, const char *path, struct stat *status);
EXPORT int __xstat64(int version, const char *path, struct stat64 *status);
EXPORT int __lxstat(int version, const char *path, struct stat *status);
EXPORT int __fxstat(int version, int fd, struct stat *status);
EXPORT int __fxstat64(int version, int fd, struct stat64 *status);

int __xstat(int version, const char *path, struct stat *status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, status, 0);
}

int __xstat64(int version, const char *path, struct stat64 *status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, (struct stat *)status, 0);
}

int __lxstat(int version, const char *path, struct stat *status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int __fxstat(int version, int fd, struct stat *status)
{
	(void)version;
	return stat_descriptor(fd, status);
}

int __fxstat64(int version, int fd, struct stat64 *status)
{
	(void)version;
	return stat_descriptor(fd, (struct stat *)status);
}

EXPORT int statx(int directory, const char *restrict path, int flags, unsigned mask,
		 struct statx *restrict status)
{
	char changed[PATH_MAX];
	bool descriptor = flags & AT_EMPTY_PATH && !path[0];
	int result =
		REAL(statx)(directory, redirect_at(directory, path, changed), flags, mask, status);

	if (result == 0 && (descriptor ? device_has(directory) : files_is_device(path))) {
		dev_t number = descriptor ? device_number(directory) : number_of(path);

		status->stx_mode = S_IFCHR | 0666;
		status->stx_rdev_major = major(number);
		status->stx_rdev_minor = minor(number);
		status->stx_size = 0;
	}
	if (result == 0 && root && namespaces_inode(path) && !(flags & AT_SYMLINK_NOFOLLOW)) {
		status->stx_ino = namespaces_inode(path);
		status->stx_dev_major = major(namespaces_device());
		status->stx_dev_minor = minor(namespaces_device());
	}
	return result;
}

EXPORT int access(const char *path, int mode)
{
	char changed[PATH_MAX];

	return REAL(access)(files_redirect(path, changed),
			    files_is_device(path) ? mode & ~X_OK : mode);
}

EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
	char changed[PATH_MAX];

	return REAL(faccessat)(directory, redirect_at(directory, path, changed), mode, flags);
}

EXPORT int euidaccess(const char *path, int mode)
{
	char changed[PATH_MAX];

	return REAL(euidaccess)(files_redirect(path, changed), mode);
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict target, size_t bytes)
{
	return readlinkat(AT_FDCWD, path, target, bytes);
}

EXPORT ssize_t readlinkat(int directory, const char *restrict path, char *restrict target,
			  size_t bytes)
{
	char changed[PATH_MAX];
	ssize_t length = root ? namespaces_link(path, target, bytes) : 0;

	return length ? length
		      : REAL(readlinkat)(directory, redirect_at(directory, path, changed), target,
					 bytes);
}

/* Converts a resolved path in the simulated tree to the program's path, because the program must
 * not learn the place of the tree. */
static char *leave_tree(char *resolved)
{
	if (root && resolved && strncmp(resolved, root, root_length) == 0 &&
	    resolved[root_length] == '/')
		memmove(resolved, resolved + root_length, strlen(resolved + root_length) + 1);
	return resolved;
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	char changed[PATH_MAX];

	return leave_tree(REAL(realpath)(files_redirect(path, changed), resolved));
}

EXPORT int chdir(const char *path)
{
	char changed[PATH_MAX];

	return REAL(chdir)(files_redirect(path, changed));
}

EXPORT char *getcwd(char *buffer, size_t bytes)
{
	char own[PATH_MAX];
	size_t length;

	if (!root)
		return REAL(getcwd)(buffer, bytes);
	if (!REAL(getcwd)(own, sizeof(own)))
		return NULL;
	length = strlen(leave_tree(own)) + 1;
	if (!buffer)
		return strdup(own);
	if (length > bytes) {
		errno = bytes ? ERANGE : EINVAL;
		return NULL;
	}
	return memcpy(buffer, own, length);
}

EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

EXPORT char *__realpath_chk(const char *path, char *resolved, size_t bytes);

char *__realpath_chk(const char *path, char *resolved, size_t bytes)
{
	(void)bytes;
	return realpath(path, resolved);
}
