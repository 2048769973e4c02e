/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: prints the processor that a program sees: with cpuid, in its own functions and in a
 * library that it loads later, and in /proc/cpuinfo. tests/programs/processor.sh compares it with
 * the processor of the scenario.
 */
#include <cpuid.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The bytes of cpuid are within another instruction. */
static uint32_t constant(void)
{
	uint32_t value;

	__asm__ volatile("movl $0x90a20f90, %0" : "=r"(value));
	return value;
}

static void print_leaf(uint32_t leaf, uint32_t subleaf)
{
	uint32_t a, b, c, d;

	__cpuid_count(leaf, subleaf, a, b, c, d);
	printf("%x.%x: %08x %08x %08x %08x\n", leaf, subleaf, a, b, c, d);
}

int main(int count, char **arguments)
{
	char line[4096];
	FILE *file;

	for (uint32_t leaf = 0; leaf <= 2; leaf++)
		print_leaf(leaf, 0);
	for (uint32_t cache = 0; cache <= 4; cache++)
		print_leaf(4, cache);
	print_leaf(7, 0);
	print_leaf(0x40000000, 0); /* of a virtual machine */
	for (uint32_t leaf = 0x80000000; leaf <= 0x80000008; leaf++)
		print_leaf(leaf, 0);
	printf("constant %08x\n", constant());
	for (int i = 1; i < count; i++) {
		void *library = dlopen(arguments[i], RTLD_NOW);
		int (*vendor)(void) =
			library ? (int (*)(void))dlsym(library, "ucs_arch_get_cpu_vendor") : NULL;

		if (vendor)
			printf("%s: vendor %d\n", arguments[i], vendor());
	}
	file = fopen("/proc/cpuinfo", "r");
	while (file && fgets(line, sizeof(line), file) && strcmp(line, "\n") != 0)
		if (!strstr(line, "siblings") && !strstr(line, "cpu cores"))
			fputs(line, stdout);
	return 0;
}
