/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/insn. Each instruction is executed twice from the same registers, flags
 * and memory: by this processor and by insn_step(). The results must be equal. An unknown
 * instruction, or a refused store, changes nothing. A 64-byte doorbell copy takes one step and one
 * run.
 */
#include <string.h>
#include <ucontext.h>

#include "tests/preload/support/processor.h"
#include "tests/support/suite.h"
#include "verbs-shim/preload/insn.h"

#define TESTS(TEST)                               \
	TEST(as_the_processor_does)               \
	TEST(conditions)                          \
	TEST(divisions)                           \
	TEST(unknown_changes_nothing)             \
	TEST(refused_changes_nothing)             \
	TEST(a_doorbell_copy_is_one_run)          \
	TEST(a_run_goes_through_a_call)           \
	TEST(a_run_stops_where_told)              \
	TEST(a_run_calls_a_function_in_the_fence) \
	TEST(changed_code_is_seen)
SUITE_AFTER(set_up, TESTS)

enum { AUX = 0x10 }; /* AF is undefined after logic and shifts */

static ucontext_t *start; /* registers to start from */
static uint32_t ours_stores;
static bool refuse;

static bool is_ours(uint64_t address)
{
	return address >= (uint64_t)processor_data &&
	       address < (uint64_t)processor_data + PROCESSOR_DATA;
}

static enum insn_access_result access_load(struct insn_access *access, uint64_t address,
					   void *bytes, uint32_t length)
{
	(void)access;
	if (!is_ours(address))
		return ACCESS_DIRECT;
	memcpy(bytes, (void *)address, length);
	return ACCESS_DONE;
}

static enum insn_access_result access_store(struct insn_access *access, uint64_t address,
					    const void *bytes, uint32_t length)
{
	(void)access;
	if (!is_ours(address))
		return ACCESS_DIRECT;
	if (refuse)
		return ACCESS_REFUSED;
	ours_stores++;
	memcpy((void *)address, bytes, length);
	return ACCESS_DONE;
}

static bool access_is_clear(struct insn_access *access, uint64_t page)
{
	(void)access;
	return page + 4096 <= (uint64_t)processor_data ||
	       page >= (uint64_t)processor_data + PROCESSOR_DATA;
}

static struct insn_access access_data = {
	.load = access_load, .store = access_store, .is_clear = access_is_clear};

static enum insn_result emulated_result;

static void emulate(ucontext_t *context)
{
	insn_distrust();
	emulated_result = insn_step(context, &access_data);
}

static bool same_on_both(const uint8_t *bytes, size_t length, greg_t undefined, uint64_t seed)
{
	struct processor_state native, emulated;

	processor_load(bytes, length);
	processor_run(seed, NULL, &native);
	processor_run(seed, emulate, &emulated);
	return emulated_result == INSN_DONE &&
	       processor_is_same(&native, &emulated, undefined | AUX);
}

#define INSN(...) INSN_LEAVING(0, __VA_ARGS__)
#define INSN_NO_OF(...) \
	INSN_LEAVING(0x800, __VA_ARGS__) /* shifts by more than one leave OF undefined */
#define INSN_LEAVING(undefined, ...)                                                              \
	{                                                                                         \
		(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), undefined \
	}

static const struct {
	const uint8_t *bytes;
	size_t length;
	greg_t undefined; /* flags */
} instructions[] = {
	INSN(0x48, 0x89, 0x07),                         /* mov %rax,(%rdi) */
	INSN(0x89, 0x47, 0x08),                         /* mov %eax,8(%rdi) */
	INSN(0x66, 0x89, 0x47, 0xf8),                   /* mov %ax,-8(%rdi) */
	INSN(0x88, 0x67, 0x03),                         /* mov %ah,3(%rdi) */
	INSN(0x40, 0x88, 0x37),                         /* mov %sil,(%rdi) */
	INSN(0x4c, 0x8b, 0x44, 0x8f, 0x04),             /* mov 4(%rdi,%rcx,4),%r8 */
	INSN(0x8b, 0x06),                               /* mov (%rsi),%eax */
	INSN(0x8a, 0x26),                               /* mov (%rsi),%ah */
	INSN(0xc7, 0x07, 0x78, 0x56, 0x34, 0x92),       /* movl $0x92345678,(%rdi) */
	INSN(0x48, 0xc7, 0x07, 0x78, 0x56, 0x34, 0x92), /* movq $..,(%rdi), sign-extended */
	INSN(0xc6, 0x07, 0x80),                         /* movb $0x80,(%rdi) */
	INSN(0x49, 0xbb, 1, 2, 3, 4, 5, 6, 7, 0x88),    /* movabs $..,%r11 */
	INSN(0x0f, 0xb6, 0x06),                         /* movzbl (%rsi),%eax */
	INSN(0x0f, 0xb7, 0x46, 0x02),                   /* movzwl 2(%rsi),%eax */
	INSN(0x48, 0x0f, 0xbe, 0x06),                   /* movsbq (%rsi),%rax */
	INSN(0x66, 0x0f, 0xbe, 0x06),                   /* movsbw (%rsi),%ax */
	INSN(0x48, 0x63, 0x06),                         /* movslq (%rsi),%rax */
	INSN(0x80, 0x3e, 0x7f),                         /* cmpb $0x7f,(%rsi) */
	INSN(0x3b, 0x06),                               /* cmp (%rsi),%eax */
	INSN(0x48, 0x39, 0x06),                         /* cmp %rax,(%rsi) */
	INSN(0x66, 0x83, 0x3e, 0xff),                   /* cmpw $-1,(%rsi) */
	INSN(0xf6, 0x06, 0x01),                         /* testb $1,(%rsi) */
	INSN(0xf7, 0x06, 0, 0, 0, 0x80),                /* testl $0x80000000,(%rsi) */
	INSN(0x48, 0x85, 0x06),                         /* test %rax,(%rsi) */
	INSN(0x01, 0x07),                               /* add %eax,(%rdi) */
	INSN(0x48, 0x13, 0x06),                         /* adc (%rsi),%rax */
	INSN(0x48, 0x29, 0x07),                         /* sub %rax,(%rdi) */
	INSN(0x1a, 0x06),                               /* sbb (%rsi),%al */
	INSN(0x21, 0x07),                               /* and %eax,(%rdi) */
	INSN(0x48, 0x0b, 0x06),                         /* or (%rsi),%rax */
	INSN(0x81, 0x37, 1, 2, 3, 0x84),                /* xorl $..,(%rdi) */
	INSN(0x05, 1, 2, 3, 0x84),                      /* add $..,%eax */
	INSN(0xff, 0x07),                               /* incl (%rdi) */
	INSN(0x48, 0xff, 0x0f),                         /* decq (%rdi) */
	INSN(0xf7, 0x1f),                               /* negl (%rdi) */
	INSN(0x48, 0xf7, 0x17),                         /* notq (%rdi) */
	INSN_NO_OF(0xc1, 0x27, 0x05),                   /* shll $5,(%rdi) */
	INSN(0x48, 0xd1, 0x2f),                         /* shrq (%rdi) */
	INSN_NO_OF(0xc0, 0x3f, 0x03),                   /* sarb $3,(%rdi) */
	INSN(0x48, 0x0f, 0xc8),                         /* bswap %rax */
	INSN(0x41, 0x0f, 0xc9),                         /* bswap %r9d */
	INSN(0x48, 0x8d, 0x44, 0x8f, 0x10),             /* lea 16(%rdi,%rcx,4),%rax */
	INSN(0x0f, 0x94, 0x07),                         /* sete (%rdi) */
	INSN(0x0f, 0x9f, 0xc0),                         /* setg %al */
	INSN(0x0f, 0x46, 0x06),                         /* cmovbe (%rsi),%eax */
	INSN(0x48, 0x0f, 0x4c, 0xc3),                   /* cmovl %rbx,%rax */
	INSN(0x0f, 0xc3, 0x07),                         /* movnti %eax,(%rdi) */
	INSN(0xf3, 0x90),                               /* pause */
	INSN(0x0f, 0x1f, 0x44, 0x00, 0x00),             /* nopl 0(%rax,%rax) */
	INSN(0xa4),                                     /* movsb */
	INSN(0xf3, 0x48, 0xa5),                         /* rep movsq */
	INSN(0xf3, 0xaa),                               /* rep stosb */
	INSN(0x0f, 0x10, 0x06),                         /* movups (%rsi),%xmm0 */
	INSN(0x44, 0x0f, 0x11, 0x3f),                   /* movups %xmm15,(%rdi) */
	INSN(0xf3, 0x0f, 0x6f, 0x4e, 0x10),             /* movdqu 16(%rsi),%xmm1 */
	INSN(0x66, 0x0f, 0xe7, 0x17),                   /* movntdq %xmm2,(%rdi) (data is aligned) */
	INSN(0xf3, 0x0f, 0x7e, 0x1e),                   /* movq (%rsi),%xmm3 */
	INSN(0x66, 0x0f, 0xd6, 0x27),                   /* movq %xmm4,(%rdi) */
	INSN(0x66, 0x0f, 0x6e, 0x2e),                   /* movd (%rsi),%xmm5 */
	INSN(0x66, 0x48, 0x0f, 0x6e, 0xf0),             /* movq %rax,%xmm6 */
	INSN(0x66, 0x48, 0x0f, 0x7e, 0x3f),             /* movq %xmm7,(%rdi) */
	INSN(0xc5, 0xfa, 0x6f, 0x06),                   /* vmovdqu (%rsi),%xmm0 */
	INSN(0xc5, 0xfa, 0x7f, 0x07),                   /* vmovdqu %xmm0,(%rdi) */
	INSN(0xc1, 0x07, 0x01),                         /* roll $1,(%rdi) */
	INSN_NO_OF(0x66, 0xc1, 0x07, 0x08),             /* rolw $8,(%rdi) */
	INSN_NO_OF(0x48, 0xc1, 0xc0, 0x3f),             /* rol $63,%rax */
	INSN(0xd0, 0x0f),                               /* rorb (%rdi) */
	INSN_NO_OF(0x48, 0xd3, 0x0f),                   /* rorq %cl,(%rdi) */
	INSN_NO_OF(0xd3, 0xe0),                         /* shl %cl,%eax */
	INSN_NO_OF(0xd3, 0x3f),                         /* sarl %cl,(%rdi) */
	INSN_LEAVING(0xc4, 0x0f, 0xaf, 0x06),           /* imul (%rsi),%eax: ZF, SF, PF undefined */
	INSN_LEAVING(0xc4, 0x4c, 0x0f, 0xaf, 0x06),     /* imul (%rsi),%r8 */
	INSN_LEAVING(0xc4, 0x48, 0x6b, 0xc3, 0xf9),     /* imul $-7,%rbx,%rax */
	INSN_LEAVING(0xc4, 0x69, 0x06, 1, 2, 0, 0),     /* imul $..,(%rsi),%eax */
	INSN_LEAVING(0xc4, 0x66, 0x69, 0x06, 1, 2),     /* imul $..,(%rsi),%ax */
	INSN_LEAVING(0xc4, 0xf7, 0x26),                 /* mull (%rsi) */
	INSN_LEAVING(0xc4, 0x48, 0xf7, 0xe3),           /* mul %rbx */
	INSN_LEAVING(0xc4, 0xf7, 0xeb),                 /* imul %ebx */
	INSN_LEAVING(0xc4, 0x48, 0xf7, 0x2e),           /* imulq (%rsi) */
	INSN(0x87, 0xd8),                               /* xchg %ebx,%eax */
	INSN(0x4d, 0x87, 0xc8),                         /* xchg %r9,%r8 */
	INSN_LEAVING(0x8c4, 0x0f, 0xa3, 0xd8),          /* bt %ebx,%eax */
	INSN_LEAVING(0x8c4, 0x48, 0x0f, 0xba, 0x26, 45), /* btq $45,(%rsi) */
	INSN_LEAVING(0x885, 0x48, 0x0f, 0xbc, 0x06),     /* bsf (%rsi),%rax */
	INSN_LEAVING(0x885, 0x0f, 0xbd, 0xc3),           /* bsr %ebx,%eax */
	INSN(0x98),                                      /* cwtl */
	INSN(0x48, 0x98),                                /* cltq */
	INSN(0x66, 0x98),                                /* cbtw */
	INSN(0x99),                                      /* cltd */
	INSN(0x48, 0x99),                                /* cqto */
	INSN(0x50),                                      /* push %rax */
	INSN(0x41, 0x57),                                /* push %r15 */
	INSN(0x54),                                      /* push %rsp: as it was before */
	INSN(0x6a, 0xf0),                                /* push $-16 */
	INSN(0x68, 1, 2, 3, 0x84),                       /* push $.. */
	INSN(0xff, 0x76, 0x08),                          /* push 8(%rsi) */
	INSN(0x58),                                      /* pop %rax */
	INSN(0x41, 0x5d),                                /* pop %r13 */
	/* pop %rsp: loads the value from the old stack */
	INSN(0x5c), INSN(0xc9),                            /* leave */
	INSN(0xc3),                                        /* ret */
	INSN(0xe8, 0x20, 0, 0, 0),                         /* call */
	INSN(0xff, 0x56, 0x40),                            /* call *64(%rsi) */
	INSN(0xff, 0x14, 0x24),                            /* call *(%rsp) */
	INSN(0xff, 0x66, 0x40),                            /* jmp *64(%rsi) */
	INSN(0xf3, 0x0f, 0x1e, 0xfa),                      /* endbr64 */
	INSN(0x0f, 0xae, 0xe8),                            /* lfence */
	INSN(0x0f, 0xae, 0xf8),                            /* sfence */
	INSN(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0), /* mov %fs:0x28,%rax */
	INSN(0x66, 0x0f, 0x62, 0x06),                      /* punpckldq (%rsi),%xmm0 */
	INSN(0x66, 0x0f, 0x62, 0xca),                      /* punpckldq %xmm2,%xmm1 */
	INSN(0x66, 0x0f, 0x6c, 0xc8),                      /* punpcklqdq %xmm0,%xmm1 */
	INSN(0x66, 0x44, 0x0f, 0x6d, 0xc0),                /* punpckhqdq %xmm0,%xmm8 */
	INSN(0x66, 0x0f, 0x70, 0xc1, 0x4e),                /* pshufd $0x4e,%xmm1,%xmm0 */
	INSN(0x66, 0x0f, 0x70, 0x06, 0x1b),                /* pshufd $0x1b,(%rsi),%xmm0 */
	INSN(0x66, 0x41, 0x0f, 0x73, 0xd9, 0x08),          /* psrldq $8,%xmm9 */
	INSN(0x66, 0x0f, 0x73, 0xd8, 0x11),                /* psrldq $17,%xmm0 */
	INSN(0x66, 0x0f, 0xdb, 0x06),                      /* pand (%rsi),%xmm0 */
	INSN(0x66, 0x0f, 0xdf, 0xc1),                      /* pandn %xmm1,%xmm0 */
	INSN(0x66, 0x0f, 0xeb, 0x06),                      /* por (%rsi),%xmm0 */
	INSN(0x66, 0x0f, 0xef, 0xc0),                      /* pxor %xmm0,%xmm0 */
	INSN(0x0f, 0x16, 0x06),                            /* movhps (%rsi),%xmm0 */
	INSN(0x0f, 0x17, 0x07),                            /* movhps %xmm0,(%rdi) */
};

static void set_up(void)
{
	processor_init();
}

static void test_as_the_processor_does(void)
{
	for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
		for (uint64_t seed = 1; seed <= 40; seed++)
			if (!same_on_both(instructions[i].bytes, instructions[i].length,
					  instructions[i].undefined, seed * 0x9e3779b97f4a7c15u)) {
				char text[64];

				snprintf(text, sizeof(text), "instruction %zu, seed %llu", i,
					 (unsigned long long)seed);
				CU_FAIL_FATAL(text);
			}
	CU_PASS("all equal");
}

static void test_conditions(void)
{
	for (uint8_t condition = 0; condition < 16; condition++)
		for (uint64_t seed = 1; seed <= 64; seed++) {
			const uint8_t set[] = {0x0f, (uint8_t)(0x90 | condition), 0x07};

			CU_ASSERT_TRUE(
				same_on_both(set, sizeof(set), 0, seed * 0x9e3779b97f4a7c15u));
		}
}

static ucontext_t *fresh_context(void)
{
	static ucontext_t context;
	static struct _libc_fpstate floating;

	insn_distrust();
	memset(&context, 0, sizeof(context));
	memset(&floating, 0, sizeof(floating));
	context.uc_mcontext.fpregs = &floating;
	processor_set_registers(&context, 99);
	processor_fill_data(99);
	return &context;
}

/* Carries out one division of RDX:RAX by RBX. */
static void divide(bool sign, bool wide, uint64_t high, uint64_t low, uint64_t divisor)
{
	const uint8_t code[] = {wide ? 0x48 : 0x40, 0xf7, sign ? 0xfb : 0xf3};
	__int128 dividend = wide   ? (__int128)((unsigned __int128)high << 64 | low)
			    : sign ? (__int128)(int64_t)(high << 32 | (uint32_t)low)
				   : (__int128)(high << 32 | (uint32_t)low);
	bool raises = divisor == 0;
	greg_t *registers;
	uint64_t quotient = 0, remainder = 0;

	if (sign && !raises) {
		__int128 by = wide ? (int64_t)divisor : (int32_t)divisor,
			 most = wide ? INT64_MAX : INT32_MAX;

		quotient = (uint64_t)(dividend / by);
		remainder = (uint64_t)(dividend % by);
		raises = dividend / by > most || dividend / by < -most - 1;
	} else if (!raises) {
		unsigned __int128 of = (unsigned __int128)dividend;

		quotient = (uint64_t)(of / divisor);
		remainder = (uint64_t)(of % divisor);
		raises = of / divisor > (wide ? UINT64_MAX : UINT32_MAX);
	}
	memcpy(processor_code, code, sizeof(code));
	start = fresh_context();
	registers = start->uc_mcontext.gregs;
	registers[REG_RAX] = (greg_t)low;
	registers[REG_RDX] = (greg_t)high;
	registers[REG_RBX] = (greg_t)divisor;
	CU_ASSERT_EQUAL(insn_step(start, &access_data), raises ? INSN_UNKNOWN : INSN_DONE);
	if (raises) {
		quotient = low;
		remainder = high;
	} else if (!wide) {
		quotient = (uint32_t)quotient;
		remainder = (uint32_t)remainder;
	}
	CU_ASSERT_EQUAL((uint64_t)registers[REG_RAX], quotient);
	CU_ASSERT_EQUAL((uint64_t)registers[REG_RDX], remainder);
}

/* Divisions by all pairs of values near the limits. Those that raise #DE are left to the
 * machine. */
static void test_divisions(void)
{
	static const uint64_t values[] = {0,          1,          2,          7,
					  0x7fffffff, 0x80000000, 0xfffffff9, 0xffffffff};
	const size_t count = sizeof(values) / sizeof(values[0]);

	for (size_t i = 0; i < count * count * count; i++) {
		uint64_t high = values[i % count], low = values[i / count % count];
		uint64_t divisor = values[i / count / count];

		for (int sign = 0; sign < 2; sign++) {
			divide(sign, false, high, low, divisor);
			divide(sign, true, (uint64_t)(int64_t)(int32_t)high,
			       (uint64_t)(int64_t)(int32_t)low << 32,
			       (uint64_t)(int64_t)(int32_t)divisor);
			divide(sign, true, high << 32, low, divisor << 32 | 5);
		}
	}
}

static void test_unknown_changes_nothing(void)
{
	static const uint8_t unknown[][4] = {
		{0xf0, 0xff, 0x07, 0x90}, /* lock incl */
		{0x0f, 0x05, 0x90, 0x90}, /* syscall */
		{0x87, 0x07, 0x90, 0x90}, /* xchg %eax,(%rdi): atomic */
		{0x0f, 0xa3, 0x07, 0x90}, /* bt %eax,(%rdi): a bit anywhere */
		{0x65, 0x8b, 0x07, 0x90}, /* mov %gs:(%rdi),%eax */
		{0x62, 0xf1, 0x7c, 0x49}, /* EVEX, with a mask */
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		ucontext_t before;

		memcpy(processor_code, unknown[i], sizeof(unknown[i]));
		start = fresh_context();
		before = *start;
		CU_ASSERT_EQUAL(insn_step(start, &access_data), INSN_UNKNOWN);
		CU_ASSERT_EQUAL(memcmp(&before.uc_mcontext.gregs, &start->uc_mcontext.gregs,
				       sizeof(gregset_t)),
				0);
	}
}

static void test_refused_changes_nothing(void)
{
	static const uint8_t store[] = {0x48, 0x01,
					0x07}; /* add %rax,(%rdi): flags must stay too */
	ucontext_t before;

	memcpy(processor_code, store, sizeof(store));
	start = fresh_context();
	before = *start;
	refuse = true;
	CU_ASSERT_EQUAL(insn_step(start, &access_data), INSN_REFUSED);
	refuse = false;
	CU_ASSERT_EQUAL(
		memcmp(&before.uc_mcontext.gregs, &start->uc_mcontext.gregs, sizeof(gregset_t)), 0);
}

static void test_a_doorbell_copy_is_one_run(void)
{
	/* loop: mov (%rsi),%rax; mov %rax,(%rdi); add $8,%rsi; add $8,%rdi; sub $8,%rdx; jne loop;
	 * syscall */
	static const uint8_t loop[] = {0x48, 0x8b, 0x06, 0x48, 0x89, 0x07, 0x48, 0x83,
				       0xc6, 0x08, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x83,
				       0xea, 0x08, 0x75, 0xec, 0x0f, 0x05};

	uint32_t count;

	memcpy(processor_code, loop, sizeof(loop));
	start = fresh_context();
	start->uc_mcontext.gregs[REG_RDX] = 64;
	start->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)processor_data;
	ours_stores = 0;
	CU_ASSERT_EQUAL(insn_step(start, &access_data), INSN_DONE);
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 1000, &count), INSN_UNKNOWN);
	CU_ASSERT_EQUAL(count, 8 * 6 - 1);
	CU_ASSERT_EQUAL(ours_stores, 8);
	CU_ASSERT_EQUAL(memcmp(processor_data, processor_data + 128, 64), 0);
	CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RIP], (greg_t)(uintptr_t)processor_code + 20);
	start->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)processor_code;
	start->uc_mcontext.gregs[REG_RSI] = (greg_t)(uintptr_t)processor_data;
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 10, &count), INSN_DONE);
	CU_ASSERT_EQUAL(count, 10); /* and it stops when told */
}

/* call 1f; syscall; 1: push %rbx; mov %rax,(%rdi); pop %rbx; ret */
static const uint8_t function[] = {0xe8, 0x02, 0,    0,    0,    0x0f, 0x05,
				   0x53, 0x48, 0x89, 0x07, 0x5b, 0xc3};

static void test_a_run_goes_through_a_call(void)
{
	uint32_t count;

	memcpy(processor_code, function, sizeof(function));
	start = fresh_context();
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 1000, &count), INSN_UNKNOWN);
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RIP], (greg_t)(uintptr_t)processor_code + 5);
	CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RSP],
			(greg_t)(uintptr_t)(processor_data + PROCESSOR_STACK));
	start = fresh_context();
	refuse = true; /* in the first store, which is CALL's */
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 1000, &count), INSN_REFUSED);
	refuse = false;
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RSP],
			(greg_t)(uintptr_t)(processor_data + PROCESSOR_STACK));
}

static uint32_t calls;

/* Returns the sum of both arguments, and sets the number of instructions that are left. */
static bool access_call(struct insn_access *access, ucontext_t *context, uint32_t *left)
{
	greg_t *registers = context->uc_mcontext.gregs;

	(void)access;
	if (registers[REG_RIP] != (greg_t)(uintptr_t)processor_code + 16)
		return false;
	calls++;
	registers[REG_RAX] = registers[REG_RDI] + registers[REG_RSI];
	registers[REG_RIP] = *(greg_t *)(uintptr_t)registers[REG_RSP];
	registers[REG_RSP] += 8;
	*left = 3;
	return true;
}

static void test_a_run_calls_a_function_in_the_fence(void)
{
	/* loop: call 16; mov %rax,(%rdi); jmp loop */
	static const uint8_t loop[] = {0xe8, 0x0b, 0, 0, 0, 0x48, 0x89, 0x07, 0xeb, 0xf6};
	/* call 17 */
	static const uint8_t other[] = {0xe8, 0x0c, 0, 0, 0};
	struct insn_access access = access_data;
	uint64_t data = (uint64_t)(uintptr_t)processor_data, stored;
	uint32_t count;

	access.call = access_call;
	access.fence = (uint64_t)(uintptr_t)processor_code + 16;
	access.fence_length = 16;
	memcpy(processor_code, loop, sizeof(loop));
	start = fresh_context();
	start->uc_mcontext.gregs[REG_RDI] = (greg_t)data;
	start->uc_mcontext.gregs[REG_RSI] = 5;
	calls = 0;
	CU_ASSERT_EQUAL(insn_run(start, &access, 1, &count), INSN_DONE);
	CU_ASSERT_EQUAL(calls, 0); /* the call is the last instruction */
	CU_ASSERT_EQUAL(insn_run(start, &access, 1, &count), INSN_DONE);
	CU_ASSERT_EQUAL(calls, 1); /* three more, up to the next call */
	memcpy(&stored, processor_data, sizeof(stored));
	CU_ASSERT_EQUAL(stored, data + 5);

	memcpy(processor_code, other, sizeof(other));
	start = fresh_context();
	CU_ASSERT_EQUAL(insn_run(start, &access, 10, &count), INSN_UNKNOWN);
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RIP], (greg_t)(uintptr_t)processor_code + 17);
}

static void test_a_run_stops_where_told(void)
{
	uint32_t count;

	memcpy(processor_code, function, sizeof(function));
	start = fresh_context();
	access_data.fence = (uint64_t)processor_code + 11; /* POP */
	access_data.fence_length = 1;
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 1000, &count), INSN_UNKNOWN);
	CU_ASSERT_EQUAL(count, 3);
	access_data.fence_length = 0;
	start = fresh_context();
	access_data.shallow = true;
	CU_ASSERT_EQUAL(insn_run(start, &access_data, 1000, &count), INSN_UNKNOWN);
	CU_ASSERT_EQUAL(count, 0);
	access_data.shallow = false;
}

static void test_changed_code_is_seen(void)
{
	static const uint8_t one[] = {0xb8, 1, 0, 0, 0, 0x0f, 0x05}; /* mov $1,%eax; syscall */

	for (uint8_t value = 1; value < 4; value++) {
		memcpy(processor_code, one, sizeof(one));
		processor_code[1] = value;
		start = fresh_context();
		CU_ASSERT_EQUAL(insn_step(start, &access_data), INSN_DONE);
		CU_ASSERT_EQUAL(start->uc_mcontext.gregs[REG_RAX], value);
	}
}
