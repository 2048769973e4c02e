/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable: see executable.h. Reads the first bytes as execve() would, ELF program headers
 * (PT_INTERP: a dynamic loader is asked for) and the #! line of scripts. Layouts: <elf.h>, System V
 * ABI, "Program Header".
 */
#include "verbs-shim/session/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPTS_MAX 4 /* limit of nested script interpreters, as in the kernel */
#define HEAD_BYTES  256

struct check {
	char *error;
	size_t error_bytes;
	unsigned scripts;
};

static bool check_command(struct check *check, const char *command);

__attribute__((format(printf, 2, 3))) static bool refuse(struct check *check, const char *format,
							 ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(check->error, check->error_bytes, format, values);
	va_end(values);
	return false;
}

static bool check_elf(struct check *check, const char *path, int file, const unsigned char *head,
		      size_t length)
{
	Elf64_Ehdr header;
	if (head[EI_CLASS] != ELFCLASS64)
		return refuse(check,
			      "%s is a 32-bit program; expected an x86-64 program (64 bits): "
			      "install or build that one",
			      path);
	if (length < sizeof(header))
		return refuse(check, "%s is a damaged program: it is truncated", path);
	memcpy(&header, head, sizeof(header));
	if (head[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
		return refuse(check, "%s is a program for another kind of CPU; expected x86-64",
			      path);
	if ((header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return refuse(check, "%s is an ELF file but not a program", path);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));
		if (pread(file, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return refuse(check, "%s is a damaged program: it is truncated", path);
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return refuse(check,
		      "%s is statically linked, so the library cannot be preloaded; expected a "
		      "dynamically linked program",
		      path);
}

/* Checks "#! interpreter [argument]". With env as the interpreter, the argument is the program. */
static bool check_script(struct check *check, const char *path, char *line)
{
	static const char blanks[] = " \t";
	char *rest = NULL;
	line[strcspn(line, "\n")] = '\0';
	char *interpreter = strtok_r(line + 2, blanks, &rest);
	if (interpreter == NULL)
		return refuse(check, "%s is a script that names no interpreter", path);
	if (++check->scripts > SCRIPTS_MAX)
		return refuse(check, "%s: scripts interpret scripts at too many levels", path);
	char script[PATH_MAX];
	snprintf(script, sizeof(script), "%s", interpreter);
	if (!check_command(check, script))
		return false;
	const char *base = strrchr(script, '/');
	char *argument = strtok_r(NULL, blanks, &rest);
	if (base == NULL || strcmp(base, "/env") != 0)
		return true;
	while (argument != NULL && (*argument == '-' || strchr(argument, '=') != NULL))
		argument = strtok_r(NULL, blanks, &rest);
	return argument == NULL || check_command(check, argument);
}

static bool check_file(struct check *check, const char *path)
{
	unsigned char head[HEAD_BYTES] = {0};
	struct stat status;
	if (stat(path, &status) != 0)
		return refuse(check, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return refuse(check, "%s is not a program but a %s", path,
			      S_ISDIR(status.st_mode) ? "directory" : "special file");
	if (access(path, X_OK) != 0)
		return refuse(check, "%s is not executable; run chmod +x", path);
	if ((status.st_mode & (S_ISUID | S_ISGID)) != 0)
		return refuse(check,
			      "%s is set-user-ID, so the library cannot be preloaded; expected a "
			      "program without this bit",
			      path);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return refuse(check, "%s cannot be read: %s", path, strerror(errno));
	ssize_t length = pread(file, head, sizeof(head) - 1, 0);
	bool good = false;
	if (length >= EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0)
		good = check_elf(check, path, file, head, (size_t)length);
	else if (length >= 2 && head[0] == '#' && head[1] == '!')
		good = check_script(check, path, (char *)head);
	else
		refuse(check, "%s is neither a program nor a script with a #! line", path);
	close(file);
	return good;
}

/* Finds a command as execvp() does: in the first folder of PATH in which it is an executable
 * file. */
static bool find_in_path(const char *command, char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	if (list == NULL)
		list = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t length = strcspn(list, ":");
		struct stat status;
		int written = length == 0 ? snprintf(path, PATH_MAX, "./%s", command)
					  : snprintf(path, PATH_MAX, "%.*s/%s", (int)length, list,
						     command);
		if (written < PATH_MAX && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    access(path, X_OK) == 0)
			return true;
		if (list[length] == '\0')
			return false;
		list += length + 1;
	}
}

static bool find(struct check *check, const char *command, char path[PATH_MAX])
{
	if (*command == '\0')
		return refuse(check, "the name of the program is empty");
	if (strchr(command, '/') == NULL)
		return find_in_path(command, path) ||
		       refuse(check, "%s: no such program in PATH", command);
	return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX ||
	       refuse(check, "the name of the program is too long");
}

static bool check_command(struct check *check, const char *command)
{
	char path[PATH_MAX];
	return find(check, command, path) && check_file(check, path);
}

bool executable_find(const char *command, char path[PATH_MAX], char *error, size_t error_bytes)
{
	struct check check = {error, error_bytes, 0};
	return find(&check, command, path) && check_file(&check, path);
}

bool executable_check(const char *command, char *error, size_t error_bytes)
{
	char path[PATH_MAX];
	return executable_find(command, path, error, error_bytes);
}
