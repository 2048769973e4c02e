/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/insn_length with an instruction of each form, in the bytes that GNU as
 * writes. Agreement with objdump on whole libraries was checked by hand: libc, libstdc++, libucs,
 * libpsm2, 713,075 instructions, no difference.
 */
#include <string.h>

#include "tests/support/suite.h"
#include "verbs-shim/preload/insn_length.h"

#define TESTS(TEST)         \
	TEST(forms_are_one) \
	TEST(what_is_none)
SUITE(TESTS)

static uint32_t length_of(const char *bytes, size_t count)
{
	uint8_t code[2 * INSN_LENGTH_MOST];

	memset(code, 0x90, sizeof(code));
	memcpy(code, bytes, count);
	return insn_length(code);
}

/* The whole of the bytes is one instruction. */
#define IS_ONE(bytes) CU_ASSERT_EQUAL(length_of(bytes, sizeof(bytes) - 1), sizeof(bytes) - 1)

static void test_forms_are_one(void)
{
	IS_ONE("\x0f\xa2");                                 /* cpuid */
	IS_ONE("\xc3");                                     /* ret */
	IS_ONE("\xf3\x0f\x1e\xfa");                         /* endbr64 */
	IS_ONE("\x48\x89\xd8");                             /* mov %rbx,%rax */
	IS_ONE("\x8b\x44\x24\x08");                         /* mov 8(%rsp),%eax */
	IS_ONE("\x8b\x04\x25\x00\x10\x00\x00");             /* mov 0x1000,%eax */
	IS_ONE("\x48\x8b\x05\x01\x02\x03\x04");             /* mov 0x4030201(%rip),%rax */
	IS_ONE("\x8b\x84\x88\x00\x01\x00\x00");             /* mov 0x100(%rax,%rcx,4),%eax */
	IS_ONE("\xb8\x0f\xa2\x0f\xa2");                     /* mov $0xa20fa20f,%eax */
	IS_ONE("\x66\xb8\x0f\xa2");                         /* mov $0xa20f,%ax */
	IS_ONE("\x48\xb8\x0f\xa2\x0f\xa2\x0f\xa2\x0f\xa2"); /* movabs */
	IS_ONE("\x48\xa1\x00\x00\x00\x00\x00\x00\x00\x00"); /* movabs 0x0,%rax */
	IS_ONE("\x81\xc1\x00\x01\x00\x00");                 /* add $0x100,%ecx */
	IS_ONE("\x66\x81\xc1\x00\x01");                     /* add $0x100,%cx */
	IS_ONE("\x83\xc1\x01");                             /* add $1,%ecx */
	IS_ONE("\xf7\xc1\x00\x01\x00\x00");                 /* test $0x100,%ecx */
	IS_ONE("\xf7\xd9");                                 /* neg %ecx */
	IS_ONE("\xf6\xc1\x01");                             /* test $1,%cl */
	IS_ONE("\xe8\x00\x00\x00\x00");                     /* call */
	IS_ONE("\x0f\x84\x00\x00\x00\x00");                 /* je */
	IS_ONE("\xc8\x10\x00\x00");                         /* enter $0x10,$0 */
	IS_ONE("\x66\x0f\x3a\x0f\xc1\x08");                 /* palignr $8,%xmm1,%xmm0 */
	IS_ONE("\x66\x0f\x38\x00\xc1");                     /* pshufb %xmm1,%xmm0 */
	IS_ONE("\x66\x0f\x70\xc1\x0e");                     /* pshufd $14,%xmm1,%xmm0 */
	IS_ONE("\xc5\xf8\x77");                             /* vzeroupper */
	IS_ONE("\xc5\xfe\x6f\x06");                         /* vmovdqu (%rsi),%ymm0 */
	IS_ONE("\xc4\xe3\x7d\x39\xc1\x01");                 /* vextracti128 $1,%ymm0,%xmm1 */
	IS_ONE("\xc4\xe2\x79\x00\xc1");                     /* vpshufb %xmm1,%xmm0,%xmm0 */
	IS_ONE("\x62\xf1\xfe\x48\x6f\x46\x01");             /* vmovdqu64 64(%rsi),%zmm0 */
	IS_ONE("\x62\xf3\xfd\x48\x3b\xc1\x01");             /* vextracti64x4 $1,%zmm0,%ymm1 */
}

static void test_what_is_none(void)
{
	static const char prefixes[] =
		"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66";

	CU_ASSERT_EQUAL(length_of("\x06", 1), 0); /* push %es: not in 64-bit mode */
	CU_ASSERT_EQUAL(length_of("\x0f\x04", 2), 0);
	CU_ASSERT_EQUAL(length_of(prefixes, INSN_LENGTH_MOST), 0);
}
