/* SPDX-License-Identifier: Apache-2.0 */
/* processor: see processor.h. */
#include "verbs-shim/session/processor.h"

#include <assert.h>
#include <cpuid.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "verbs-shim/protocol.h"

enum { EAX, EBX, ECX, EDX, REGISTERS };

#define EXTENDED 0x80000000U

/* Name in /proc/cpuinfo, in the order there, leaf, register and bit. */
/* clang-format off */
#define FEATURES(X) \
	X(fpu, 1, EDX, 0) X(tsc, 1, EDX, 4) X(msr, 1, EDX, 5) X(pae, 1, EDX, 6) \
	X(cx8, 1, EDX, 8) X(apic, 1, EDX, 9) X(sep, 1, EDX, 11) X(pge, 1, EDX, 13) \
	X(cmov, 1, EDX, 15) X(pat, 1, EDX, 16) X(clflush, 1, EDX, 19) X(mmx, 1, EDX, 23) \
	X(fxsr, 1, EDX, 24) X(sse, 1, EDX, 25) X(sse2, 1, EDX, 26) \
	X(syscall, EXTENDED + 1, EDX, 11) X(nx, EXTENDED + 1, EDX, 20) \
	X(rdtscp, EXTENDED + 1, EDX, 27) X(lm, EXTENDED + 1, EDX, 29) \
	X(nonstop_tsc, EXTENDED + 7, EDX, 8) X(pni, 1, ECX, 0) X(pclmulqdq, 1, ECX, 1) \
	X(ssse3, 1, ECX, 9) X(fma, 1, ECX, 12) X(cx16, 1, ECX, 13) X(sse4_1, 1, ECX, 19) \
	X(sse4_2, 1, ECX, 20) X(movbe, 1, ECX, 22) X(popcnt, 1, ECX, 23) X(aes, 1, ECX, 25) \
	X(xsave, 1, ECX, 26) X(avx, 1, ECX, 28) X(f16c, 1, ECX, 29) \
	X(lahf_lm, EXTENDED + 1, ECX, 0) X(abm, EXTENDED + 1, ECX, 5) X(fsgsbase, 7, EBX, 0) \
	X(bmi1, 7, EBX, 3) X(avx2, 7, EBX, 5) X(bmi2, 7, EBX, 8) X(erms, 7, EBX, 9)
/* clang-format on */

static const struct feature {
	const char *name;
	uint32_t leaf, place, bit;
} features[] = {
#define FEATURE_ROW(name, leaf, place, bit) {#name, leaf, place, bit},
	FEATURES(FEATURE_ROW)};

#define FEATURE_COUNT (sizeof(features) / sizeof(features[0]))
#define OSXSAVE       (1U << 27) /* the system uses xsave: no name in /proc/cpuinfo */
#define CACHE(type, level, ways, kib)                                                           \
	{                                                                                       \
		0x100 | (level) << 5 | (type), ((ways)-1U) << 22 | 63, (kib)*16U / (ways)-1U, 0 \
	}

enum { DATA = 1, INSTRUCTION, UNIFIED };

static const struct identity {
	const char *vendor;
	uint32_t family, model, stepping, l2_kib, l3_kib, l3_ways;
	const struct shim_leaf *own; /* leaves in addition to the common ones */
	uint32_t own_count;
} identities[] = {
	/* 32 KiB and 32 KiB of 8 ways, 256 KiB of 8, 15 MiB of 20: Intel: Xeon E5-2637 v3 */
	[PROCESSOR_XEON_E5_V3] =
		{"GenuineIntel", 6, 63, 2, 256, 15 << 10, 20,
		 (const struct shim_leaf[]){
			 {2, 0, 0, {0x76036301, 0x00f0b5ff, 0, 0x00c10000}},
			 {4, 0, 1, CACHE(DATA, 1, 8, 32)},
			 {4, 1, 1, CACHE(INSTRUCTION, 1, 8, 32)},
			 {4, 2, 1, CACHE(UNIFIED, 2, 8, 256)},
			 {4, 3, 1, CACHE(UNIFIED, 3, 20, 15 << 10)},
			 {11, 0, 1, {0, 1, 1 << 8, 0}}, /* a thread of a core */
			 {11, 1, 1, {0, 1, 2 << 8 | 1, 0}},
			 {EXTENDED + 6, 0, 0, {0, 0, 256 << 16 | 6 << 12 | 64, 0}}},
		 8},
	/* first-level caches as above, 512 KiB with 8 ways, 32 MiB with 16 ways per complex: AMD:
	 * EPYC 7003 */
	[PROCESSOR_EPYC_7003] = {"AuthenticAMD", 0x19, 1, 1, 512, 32 << 10, 16,
				 (const struct shim_leaf[]){
					 {EXTENDED + 5, 0, 0, {0, 0, 0x20080140, 0x20080140}},
					 {EXTENDED + 6,
					  0,
					  0,
					  {0, 0, 512 << 16 | 6 << 12 | 64,
					   64 << 18 | 8 << 12 | 64}}},
				 2},
};

/* The name has no frequency, because UCX would use a frequency at its end as the rate of the time
 * stamp counter. */
#define NAME "simulated"

static bool machine_has(const struct feature *feature)
{
	uint32_t words[REGISTERS] = {0};

	/* feature of the time stamp counter, which is simulated */
	if (feature->leaf == EXTENDED + 7)
		return true;
	return __get_cpuid_count(feature->leaf, 0, &words[EAX], &words[EBX], &words[ECX],
				 &words[EDX]) &&
	       words[feature->place] >> feature->bit & 1;
}

static uint32_t *leaf_words(struct shim_leaves *leaves, uint32_t leaf)
{
	for (uint32_t i = 0; i < leaves->count; i++)
		if (leaves->leaf[i].leaf == leaf && leaves->leaf[i].subleaf == 0)
			return leaves->leaf[i].words;
	assert(leaves->count < SHIM_LEAVES);
	leaves->leaf[leaves->count] = (struct shim_leaf){.leaf = leaf};
	return leaves->leaf[leaves->count++].words;
}

/* Family, model and stepping as leaf 1 has them. */
static uint32_t signature(const struct identity *identity)
{
	uint32_t base = identity->family < 15 ? identity->family : 15;

	return (identity->family - base) << 20 | identity->model >> 4 << 16 | base << 8 |
	       (identity->model & 15) << 4 | identity->stepping;
}

void processor_leaves(enum processor processor, struct shim_leaves *leaves)
{
	const struct identity *identity = &identities[processor];
	uint32_t *words, name[12] = {0};

	memset(leaves, 0, sizeof(*leaves));
	words = leaf_words(leaves, 0);
	words[EAX] = SHIM_LEAF_STATE;
	memcpy(&words[EBX], identity->vendor, 4);
	memcpy(&words[EDX], identity->vendor + 4, 4);
	memcpy(&words[ECX], identity->vendor + 8, 4);
	words = leaf_words(leaves, 1);
	words[EAX] = signature(identity);
	words[EBX] = 1 << 16 | 64 / 8 << 8; /* one thread; lines that clflush writes back */
	words = leaf_words(leaves, EXTENDED);
	words[EAX] = EXTENDED + 8;
	words[EBX] = strcmp(identity->vendor, "AuthenticAMD") == 0 ? leaves->leaf[0].words[EBX] : 0;
	if (words[EBX]) {
		words[ECX] = leaves->leaf[0].words[ECX];
		words[EDX] = leaves->leaf[0].words[EDX];
	}
	memcpy(name, NAME, sizeof(NAME));
	for (uint32_t i = 0; i < 3; i++)
		memcpy(leaf_words(leaves, EXTENDED + 2 + i), name + REGISTERS * i, 16);
	leaf_words(leaves, EXTENDED + 8)[EAX] = 48 << 8 | 46; /* bits of addresses */
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (machine_has(&features[i]))
			leaf_words(leaves, features[i].leaf)[features[i].place] |=
				1U << features[i].bit;
	words = leaf_words(leaves, 1);
	if (words[ECX] & 1U << 26)
		words[ECX] |= OSXSAVE;
	for (uint32_t i = 0; i < leaves->count; i++)
		leaves->leaf[i].by_subleaf = leaves->leaf[i].leaf == 7;
	for (uint32_t i = 0; i < identity->own_count; i++) {
		assert(leaves->count < SHIM_LEAVES);
		leaves->leaf[leaves->count++] = identity->own[i];
	}
}

void processor_caches(enum processor processor, struct shim_host_view *view)
{
	const struct identity *identity = &identities[processor];
	uint32_t kib[SHIM_CACHES] = {32, 32, identity->l2_kib, identity->l3_kib};

	for (uint32_t i = 0; i < SHIM_CACHES; i++) {
		view->caches[i].bytes = kib[i] << 10;
		view->caches[i].ways = i == 3 ? identity->l3_ways : 8;
	}
}

size_t processor_describe(enum processor processor, uint32_t number, uint32_t of, uint64_t tsc,
			  char *text, size_t bytes)
{
	const struct identity *identity = &identities[processor];
	char flags[1024] = "";
	size_t used = 0;
	int length;

	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (machine_has(&features[i])) {
			used += (size_t)snprintf(flags + used, sizeof(flags) - used, " %s",
						 features[i].name);
			assert(used < sizeof(flags));
		}
	length = snprintf(text, bytes,
			  "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
			  "model name\t: " NAME "\nstepping\t: %u\nmicrocode\t: 0x1\n"
			  "cpu MHz\t\t: %.3f\ncache size\t: %u KB\nphysical id\t: 0\n"
			  "siblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\napicid\t\t: %u\n"
			  "initial apicid\t: %u\nfpu\t\t: yes\nfpu_exception\t: yes\n"
			  "cpuid level\t: %u\nwp\t\t: yes\nflags\t\t:%s\nbugs\t\t:\n"
			  "bogomips\t: %.2f\nclflush size\t: 64\ncache_alignment\t: 64\n"
			  "address sizes\t: 46 bits physical, 48 bits virtual\n"
			  "power management:\n\n",
			  number, identity->vendor, identity->family, identity->model,
			  identity->stepping, (double)tsc / 1e6, identity->l3_kib, of, number, of,
			  number, number, SHIM_LEAF_STATE, flags, (double)tsc / 5e5);
	assert(length > 0 && (size_t)length < bytes);
	return (size_t)length;
}
