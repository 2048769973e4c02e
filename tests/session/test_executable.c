/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a program that cannot run on a simulated host is recognised from its file before
 * anything starts, with the reason.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/suite.h"
#include "verbs-shim/session/executable.h"

#define TESTS(TEST)   \
	TEST(good)    \
	TEST(missing) \
	TEST(mode)    \
	TEST(format)  \
	TEST(scripts)
SUITE(TESTS)

static const char *write_file(const char *name, const void *bytes, size_t length, mode_t mode)
{
	static char path[128];
	snprintf(path, sizeof(path), "./%s", name);
	FILE *file = fopen(path, "wb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fwrite(bytes, 1, length, file), length);
	fclose(file);
	CU_ASSERT_EQUAL(chmod(path, mode), 0);
	return path;
}

static void expect_refused(const char *command, const char *reason)
{
	char error[512] = "";
	CU_ASSERT_FALSE(executable_check(command, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, reason));
	if (strstr(error, reason) == NULL)
		printf("\n%s: %s", command, error);
}

/* Writes an ELF file with one program header of that type. */
static const char *write_elf(const char *name, unsigned char class, uint16_t machine,
			     uint32_t segment)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} file = {.header = {.e_type = ET_DYN,
			     .e_machine = machine,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1},
		  .segment = {.p_type = segment}};
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = class;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	return write_file(name, &file, sizeof(file), 0755);
}

static void test_good(void)
{
	char error[512] = "";
	CU_ASSERT_TRUE(executable_check("/bin/ls", error, sizeof(error)));
	CU_ASSERT_TRUE(executable_check("ls", error, sizeof(error)));
	CU_ASSERT_TRUE(executable_check(write_elf("good", ELFCLASS64, EM_X86_64, PT_INTERP), error,
					sizeof(error)));
	CU_ASSERT_TRUE(executable_check(write_file("script", "#!/bin/sh\n", 10, 0755), error,
					sizeof(error)));
	CU_ASSERT_TRUE(executable_check(write_file("env", "#! /usr/bin/env ls\n", 19, 0755), error,
					sizeof(error)));
}

static void test_missing(void)
{
	expect_refused("no-such-program-anywhere",
		       "no-such-program-anywhere: no such program in PATH");
	expect_refused("/no/such/program", "/no/such/program: No such file or directory");
	expect_refused("", "empty");
	expect_refused("/tmp", "/tmp is not a program but a directory");
	expect_refused("/dev/null", "/dev/null is not a program but a special file");
}

static void test_mode(void)
{
	expect_refused(write_file("plain", "#!/bin/sh\n", 10, 0644),
		       "is not executable; run chmod +x");
	expect_refused(write_file("setuid", "#!/bin/sh\n", 10, 04755), "is set-user-ID");
	expect_refused(write_file("setgid", "#!/bin/sh\n", 10, 02755), "is set-user-ID");
}

static void test_format(void)
{
	expect_refused(write_elf("bits32", ELFCLASS32, EM_386, PT_INTERP), "is a 32-bit program");
	expect_refused(write_elf("arm", ELFCLASS64, EM_AARCH64, PT_INTERP), "another kind of CPU");
	expect_refused(write_elf("static", ELFCLASS64, EM_X86_64, PT_LOAD), "is statically linked");
	expect_refused(write_file("cut", ELFMAG "\2\1\1\0\0\0\0\0\0\0\0\0\0\0", 18, 0755),
		       "is a damaged program");
	expect_refused(write_file("short", ELFMAG "\2\1\1\0", 8, 0755),
		       "is neither a program nor a script");
	expect_refused(write_file("text", "hello\n", 6, 0755), "is neither a program nor a script");
	expect_refused(write_file("empty", "", 0, 0755), "is neither a program nor a script");
}

static void test_scripts(void)
{
	char line[200];
	expect_refused(write_file("nobody", "#!\n", 3, 0755), "names no interpreter");
	expect_refused(write_file("lost", "#!/no/such/sh\n", 14, 0755),
		       "/no/such/sh: No such file");
	expect_refused(write_file("env-lost", "#!/usr/bin/env no-such-thing\n", 29, 0755),
		       "no-such-thing: no such program");
	expect_refused(write_file("self", "#!./self\n", 9, 0755), "at too many levels");
	expect_refused(write_file("env-set", "#!/usr/bin/env A=1 no-such-thing\n", 33, 0755),
		       "no-such-thing: no such program");
	/* Linux follows a chain of four scripts that interpret each other, and refuses a fifth. */
	write_file("script1", "#!/bin/sh\n", 10, 0755);
	for (int i = 2; i <= 5; i++) {
		char name[16], error[512] = "";
		int bytes = snprintf(line, sizeof(line), "#!./script%d\n", i - 1);
		snprintf(name, sizeof(name), "script%d", i);
		const char *path = write_file(name, line, (size_t)bytes, 0755);
		CU_ASSERT_EQUAL(executable_check(path, error, sizeof(error)), i <= 4);
	}
	const char *bits32 = write_elf("bits32", ELFCLASS32, EM_386, PT_INTERP);
	int length = snprintf(line, sizeof(line), "#!%s -x\n", bits32);
	expect_refused(write_file("by32", line, (size_t)length, 0755),
		       "bits32 is a 32-bit program");
}
