/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/insn with random code: single instructions of each integer form, and
 * programs of up to forty instructions. Programs jump over some instructions, and half of them are
 * loops. They run on this processor and are emulated, in one piece and in slices of random length.
 * The callbacks own part of the memory. Registers, memory and all defined flags must be equal.
 * Flags are read only where they are defined. Also tests code that overwrites later code.
 */
#include <stdio.h>
#include <string.h>

#include "tests/preload/support/processor.h"
#include "tests/support/suite.h"
#include "verbs-shim/preload/insn.h"

#define TESTS(TEST)               \
	TEST(single_instructions) \
	TEST(wide_moves)          \
	TEST(programs)            \
	TEST(code_that_changes_itself)
SUITE_AFTER(set_up, TESTS)

enum { CF = 0x1, PF = 0x4, AF = 0x10, ZF = 0x40, SF = 0x80, OF = 0x800 };
enum { REX = 0x40, REX_B = 1, REX_R = 4, REX_W = 8 };
enum { PROGRAM_BYTES = 1024, PROGRAM_MOST = 40, RCX = 1, RSI = 6, RDI = 7 };

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % bound;
}

/* --- how code is carried out
 * ------------------------------------------------------------------------------------ */

static bool data_is_ours;

static bool touches_data(uint64_t address, uint64_t length)
{
	return address + length > (uint64_t)processor_data &&
	       address < (uint64_t)processor_data + PROCESSOR_DATA;
}

static bool is_ours(uint64_t address, uint32_t length)
{
	return data_is_ours && touches_data(address, length);
}

static bool access_is_clear(struct insn_access *access, uint64_t page)
{
	(void)access;
	return !data_is_ours || !touches_data(page, 4096);
}

static enum insn_access_result access_load(struct insn_access *access, uint64_t address,
					   void *bytes, uint32_t length)
{
	(void)access;
	if (!is_ours(address, length))
		return ACCESS_DIRECT;
	memcpy(bytes, (void *)address, length);
	return ACCESS_DONE;
}

static enum insn_access_result access_store(struct insn_access *access, uint64_t address,
					    const void *bytes, uint32_t length)
{
	(void)access;
	if (!is_ours(address, length))
		return ACCESS_DIRECT;
	memcpy((void *)address, bytes, length);
	return ACCESS_DONE;
}

static struct insn_access access_data = {
	.load = access_load, .store = access_store, .is_clear = access_is_clear};

static uint32_t slice;   /* instructions at a time */
static uint32_t carried; /* of all slices */
static bool slices_full; /* but for the last */

static void carry_out(ucontext_t *context)
{
	enum insn_result result;
	uint32_t count;

	carried = 0;
	slices_full = true;

	insn_distrust();
	memset(access_data.clear, 0, sizeof(access_data.clear));
	do {
		result = insn_run(context, &access_data, slice, &count);
		carried += count;
		slices_full &= result == INSN_UNKNOWN ? count < slice : count == slice;
	} while (result == INSN_DONE && carried < 1000);
}

/* --- random instructions
 * ---------------------------------------------------------------------------------------- */

struct program {
	uint8_t bytes[PROGRAM_BYTES];
	uint32_t length;
	greg_t undefined;        /* flags, at its end */
	uint32_t pushed, popped; /* few, because the stack is part of the data */
};

static void emit(struct program *program, uint32_t byte)
{
	program->bytes[program->length++] = (uint8_t)byte;
}

/* Zeros and ones more often than others. */
static void emit_immediate(struct program *program, uint32_t bytes)
{
	uint32_t kind = random_below(5);

	for (uint32_t i = 0; i < bytes; i++)
		emit(program, kind == 0 ? 0 : kind == 1 ? 0xff : random_below(256));
}

/* Returns a register that programs may write to: none of the registers that hold addresses. */
static uint8_t any_register(void)
{
	static const uint8_t registers[] = {0, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15};

	return registers[random_below(sizeof(registers))];
}

struct operands {
	uint32_t size;
	bool memory, second_bytes; /* byte registers without REX: AH and others */
	uint8_t reg, rm, rex;
};

/* `size` 0 means any size. */
static struct operands choose_operands(uint32_t size, bool memory)
{
	static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8};
	struct operands operands = {.size = size ? size : sizes[random_below(sizeof(sizes))],
				    .memory = memory,
				    .reg = any_register(),
				    .rm = any_register()};

	if (operands.size == 1 && random_below(3) == 0) { /* AL, DL, BL, AH, DH, BH */
		static const uint8_t bytes[] = {0, 2, 3, 4, 6, 7};

		operands.second_bytes = true;
		operands.reg = bytes[random_below(sizeof(bytes))];
		operands.rm = bytes[random_below(sizeof(bytes))];
	}
	return operands;
}

static void emit_prefixes(struct program *program, const struct operands *operands)
{
	uint8_t rex =
		(uint8_t)((operands->size == 8 ? REX_W : 0) | (operands->reg >= 8 ? REX_R : 0) |
			  (!operands->memory && operands->rm >= 8 ? REX_B : 0));

	if (operands->size == 2)
		emit(program, 0x66);
	if (rex || (operands->size == 1 && !operands->second_bytes))
		emit(program, REX | rex);
}

/* A memory operand is RDI or RSI, with or without RCX (which is 5) as index. */
static void emit_modrm(struct program *program, const struct operands *operands, uint32_t reg)
{
	uint8_t base = random_below(2) ? RDI : RSI;

	reg = (reg & 7) << 3;
	if (!operands->memory) {
		emit(program, 0xc0 | reg | (operands->rm & 7u));
	} else if (random_below(3) == 0) {
		emit(program, 0x44 | reg);
		emit(program, random_below(4) << 6 | RCX << 3 | base);
		emit(program, random_below(16));
	} else {
		emit(program, 0x40 | reg | base);
		emit(program, (random_below(64) - 32) & 0xff);
	}
}

static bool flags_defined(const struct program *program, uint32_t condition)
{
	static const greg_t read[8] = {OF, CF, ZF, CF | ZF, SF, PF, SF | OF, ZF | SF | OF};

	return !(program->undefined & read[condition >> 1]);
}

static uint32_t immediate_bytes(uint32_t size)
{
	return size > 4 ? 4 : size;
}

static void emit_arithmetic(struct program *program)
{
	struct operands operands = choose_operands(0, random_below(2));
	uint32_t op = random_below(8), wide = operands.size > 1;

	if ((op == 2 || op == 3) && program->undefined & CF)
		op = 0;
	switch (random_below(4)) {
	case 0:
		emit_prefixes(program, &operands);
		emit(program, op << 3 | wide);
		emit_modrm(program, &operands, operands.reg);
		break;
	case 1:
		emit_prefixes(program, &operands);
		emit(program, op << 3 | 2 | wide);
		emit_modrm(program, &operands, operands.reg);
		break;
	case 2:
		operands.reg = 0;
		emit_prefixes(program, &operands);
		emit(program, 0x80 | wide);
		emit_modrm(program, &operands, op);
		emit_immediate(program, immediate_bytes(operands.size));
		break;
	default:
		if (operands.size == 1)
			operands = choose_operands(4, operands.memory);
		operands.reg = 0;
		emit_prefixes(program, &operands);
		emit(program, 0x83);
		emit_modrm(program, &operands, op);
		emit_immediate(program, 1);
		break;
	}
	program->undefined = op == 1 || op == 4 || op == 6 ? AF : 0;
}

static void emit_test_or_move(struct program *program)
{
	struct operands operands = choose_operands(0, random_below(2));
	uint32_t wide = operands.size > 1, which = random_below(5);

	if (which == 3 || which == 4)
		operands.reg = 0;
	emit_prefixes(program, &operands);
	switch (which) {
	case 0:
		emit(program, 0x84 | wide); /* TEST */
		emit_modrm(program, &operands, operands.reg);
		program->undefined = AF;
		break;
	case 1:
		emit(program, 0x88 | wide); /* MOV */
		emit_modrm(program, &operands, operands.reg);
		break;
	case 2:
		emit(program, 0x8a | wide);
		emit_modrm(program, &operands, operands.reg);
		break;
	case 3:
		emit(program, 0xc6 | wide);
		emit_modrm(program, &operands, 0);
		emit_immediate(program, immediate_bytes(operands.size));
		break;
	default:
		emit(program, 0xf6 | wide); /* TEST */
		emit_modrm(program, &operands, 0);
		emit_immediate(program, immediate_bytes(operands.size));
		program->undefined = AF;
		break;
	}
}

static void emit_extension(struct program *program)
{
	static const uint8_t opcodes[] = {0xb6, 0xb7, 0xbe, 0xbf, 0x63};
	uint32_t opcode = opcodes[random_below(sizeof(opcodes))];
	struct operands operands =
		choose_operands(opcode == 0x63 ? 8 : 1u << (1 + random_below(3)), random_below(2));

	if (!(opcode & 1) && !operands.memory && operands.rm < 8)
		operands.rm &= 3; /* BPL and others would want REX */
	emit_prefixes(program, &operands);
	if (opcode != 0x63)
		emit(program, 0x0f);
	emit(program, opcode);
	emit_modrm(program, &operands, operands.reg);
}

static void emit_shift(struct program *program)
{
	static const uint8_t ops[] = {0, 1, 4, 5, 7};
	struct operands operands = choose_operands(0, random_below(2));
	uint32_t op = ops[random_below(sizeof(ops))], wide = operands.size > 1;
	uint32_t count = random_below(3) ? random_below(20) : 1, way = random_below(3);

	operands.reg = 0;
	emit_prefixes(program, &operands);
	if (way == 0) {
		emit(program, 0xc0 | wide);
		emit_modrm(program, &operands, op);
		emit(program, count);
	} else {
		count = way == 1 ? 1 : 5; /* RCX */
		emit(program, (way == 1 ? 0xd0 : 0xd2) | wide);
		emit_modrm(program, &operands, op);
	}
	if (count == 0)
		return;
	if (op >= 4)
		program->undefined = AF | (op != 7 && count >= 8 * operands.size ? CF : 0);
	else
		program->undefined &= ~CF;
	program->undefined = (program->undefined & ~OF) | (count != 1 ? OF : 0);
}

static void emit_single(struct program *program)
{
	struct operands operands = choose_operands(0, random_below(2));
	uint32_t wide = operands.size > 1, which = random_below(4);

	operands.reg = 0;
	emit_prefixes(program, &operands);
	emit(program, (which < 2 ? 0xfe : 0xf6) | wide); /* INC, DEC, NOT, NEG */
	emit_modrm(program, &operands, which);
	if (which != 2)
		program->undefined &= which == 3 ? 0 : CF;
}

static void emit_conditional(struct program *program)
{
	uint32_t condition = random_below(16);
	struct operands operands =
		choose_operands(random_below(2) ? 8 : 2u << random_below(2), random_below(2));

	if (!flags_defined(program, condition))
		return;
	if (random_below(2)) {
		operands.size = 1;
		operands.reg = 0;
		emit_prefixes(program, &operands);
		emit(program, 0x0f);
		emit(program, 0x90 | condition); /* SETcc */
	} else {
		emit_prefixes(program, &operands);
		emit(program, 0x0f);
		emit(program, 0x40 | condition); /* CMOVcc */
	}
	emit_modrm(program, &operands, operands.reg);
}

static void emit_multiply(struct program *program)
{
	struct operands operands = choose_operands(2u << random_below(3), random_below(2));
	uint32_t which = random_below(3);

	emit_prefixes(program, &operands);
	if (which == 0)
		emit(program, 0x0f);
	emit(program, which == 0 ? 0xaf : which == 1 ? 0x69 : 0x6b);
	emit_modrm(program, &operands, operands.reg);
	if (which > 0)
		emit_immediate(program, which == 2 ? 1 : immediate_bytes(operands.size));
	program->undefined = SF | ZF | AF | PF;
}

static void emit_other(struct program *program)
{
	struct operands operands = choose_operands(4u << random_below(2), false);
	uint32_t which = random_below(6);

	if (which == 2 || which == 3) {
		uint8_t number = which == 2 ? operands.rm : any_register();

		if (which == 2 ? program->pushed++ >= 2 : program->popped++ >= 1)
			return;
		if (number >= 8)
			emit(program, REX | REX_B);
		emit(program, (which == 2 ? 0x50 : 0x58) | (number & 7u)); /* PUSH, POP */
		return;
	}
	operands.memory = which == 1;
	if (which == 0)
		operands.reg = 0;
	emit_prefixes(program, &operands);
	switch (which) {
	case 0:
		emit(program, 0x0f);
		emit(program, 0xc8 | (operands.rm & 7u)); /* BSWAP */
		break;
	case 1:
		emit(program, 0x8d); /* LEA */
		emit_modrm(program, &operands, operands.reg);
		break;
	case 4:
		emit(program, 0x87); /* XCHG */
		emit_modrm(program, &operands, operands.reg);
		break;
	default:
		emit(program, random_below(2) ? 0x98 : 0x99); /* CDQE, CQO */
		break;
	}
}

/* Emits a move of a vector register in the encoding of AVX-512. Half of the registers exist only
 * there. */
static void emit_wide_move(struct program *program)
{
	static const struct {
		uint8_t prefix, opcode, width; /* W: 0, 1, or 2: as it may be */
	} moves[] = {{0, 0x10, 0}, {1, 0x10, 1}, {0, 0x28, 0}, {1, 0x28, 1},
		     {1, 0x6f, 2}, {2, 0x6f, 2}, {3, 0x6f, 2}};
	uint32_t which = random_below(sizeof(moves) / sizeof(moves[0])), width = moves[which].width;
	uint32_t store = random_below(2), length = random_below(3), memory = random_below(3);
	uint32_t reg = random_below(4) + 14, rm = random_below(4) + 14;
	uint32_t base = random_below(2) ? RDI : RSI;

	if (memory) /* X and B extend its base and index */
		rm = base;
	emit(program, 0x62);
	emit(program, (reg & 8 ? 0 : 0x80) | (rm & 16 ? 0 : 0x40) | (rm & 8 ? 0 : 0x20) |
			      (reg & 16 ? 0 : 0x10) | 1);
	emit(program, (width == 2 ? random_below(2) : width) << 7 | 0x7c | moves[which].prefix);
	emit(program, length << 5 | 8);
	emit(program,
	     moves[which].opcode + (store ? moves[which].opcode == 0x6f ? 0x10u : 1u : 0u));
	emit(program, (memory ? 0x40u : 0xc0u) | (reg & 7) << 3 | (rm & 7));
	if (memory)
		emit(program, (random_below(3) - 1) & 0xff); /* vectors */
}

static bool has_wide_moves(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl");
}

static void emit_instruction(struct program *program)
{
	static void (*const kinds[])(struct program * program) = {
		emit_arithmetic, emit_arithmetic, emit_test_or_move, emit_test_or_move,
		emit_extension,  emit_shift,      emit_single,       emit_conditional,
		emit_multiply,   emit_other};

	kinds[random_below(sizeof(kinds) / sizeof(kinds[0]))](program);
}

/* Emits a jump over one instruction. Flags are defined if both processors agree. */
static void emit_jump(struct program *program)
{
	uint32_t condition = random_below(16), at = program->length;
	greg_t undefined = program->undefined;

	if (!flags_defined(program, condition))
		return;
	emit(program, 0x70 | condition);
	emit(program, 0);
	emit_instruction(program);
	program->bytes[at + 1] = (uint8_t)(program->length - at - 2);
	program->undefined |= undefined;
}

/* Makes a loop of four iterations. RBP counts, and has no other use. */
static void emit_loop(struct program *program)
{
	static const uint8_t end[] = {0x48, 0x8d, 0x6d, 0xff, /* lea -1(%rbp),%rbp */
				      0x40, 0xf6, 0xc5, 0x03, /* test $3,%bpl */
				      0x0f, 0x85};            /* jne */
	uint32_t back;

	for (uint32_t i = 0; i < sizeof(end); i++)
		emit(program, end[i]);
	back = 0 - (program->length + 4);
	for (uint32_t i = 0; i < 4; i++)
		emit(program, back >> (8 * i) & 0xff);
	program->undefined = AF;
}

/* Tests. */

static bool is_same(const struct program *program, uint64_t seed)
{
	struct processor_state native, emulated;
	uint32_t carried_first = 0;
	bool same = true;

	processor_load(program->bytes, program->length);
	processor_run(seed, NULL, &native);
	for (uint32_t way = 0; way < 4 && same; way++) {
		data_is_ours = way & 1;
		slice = way & 2 ? 1 + random_below(6) : 400;
		processor_run(seed, carry_out, &emulated);
		same = processor_is_same(&native, &emulated, program->undefined) && slices_full;
		if (way == 0)
			carried_first = carried;
		same &= carried == carried_first; /* it counts the same */
	}
	return same;
}

static void fail(const struct program *program, uint64_t number)
{
	printf("\nprogram %llu:", (unsigned long long)number);
	for (uint32_t i = 0; i < program->length; i++)
		printf(" %02x", program->bytes[i]);
	printf("\n");
	CU_FAIL_FATAL("not as the processor does");
}

static void set_up(void)
{
	processor_init();
}

static void test_single_instructions(void)
{
	for (uint64_t number = 1; number <= 8000; number++) {
		struct program program = {.length = 0};

		random_state = number * UINT64_C(0x9e3779b97f4a7c15);
		emit_instruction(&program);
		if (!is_same(&program, random_state))
			fail(&program, number);
	}
	CU_PASS("all equal");
}

/* Registers are compared by their stored parts. */
static void test_wide_moves(void)
{
	for (uint64_t number = 1; number <= 4000 && has_wide_moves(); number++) {
		struct program program = {.length = 0};

		random_state = number * UINT64_C(0xa0761d6478bd642f);
		for (uint32_t i = 1 + random_below(PROGRAM_MOST); i > 0; i--)
			emit_wide_move(&program);
		if (!is_same(&program, random_state))
			fail(&program, number);
	}
	CU_PASS("all equal, or this processor has none");
}

static void test_programs(void)
{
	for (uint64_t number = 1; number <= 4000; number++) {
		struct program program = {.length = 0};
		uint32_t most;

		random_state = number * UINT64_C(0xd1342543de82ef95);
		most = 1 + random_below(PROGRAM_MOST);
		for (uint32_t i = 0; i < most; i++) {
			if (random_below(5) == 0)
				emit_jump(&program);
			else
				emit_instruction(&program);
		}
		if (number % 2)
			emit_loop(&program);
		if (!is_same(&program, random_state))
			fail(&program, number);
	}
	CU_PASS("all equal");
}

/* mov $3,%ecx; loop: mov $1,%eax; add %eax,%ebx; incl of MOV's 1; movb of ADD's operand; sub
 * $1,%ecx; jne loop */
static void test_code_that_changes_itself(void)
{
	static const uint8_t code[] = {
		0xb9, 3,    0,    0,    0,                /*  0: mov $3,%ecx */
		0xb8, 1,    0,    0,    0,                /*  5: mov $1,%eax */
		0x01, 0xc3,                               /* 10: add %eax,%ebx */
		0xff, 0x05, 0xf4, 0xff, 0xff, 0xff,       /* 12: incl 6: the 1 of MOV */
		0xc6, 0x05, 0x01, 0,    0,    0,    0x42, /* 18: movb $0x42,26: of the next one */
		0xba, 7,    0,    0,    0,                /* 25: mov $7,%edx, in this encoding */
		0x01, 0xd3,                               /* 30: add %edx,%ebx */
		0x83, 0xe9, 0x01,                         /* 32: sub $1,%ecx */
		0x75, 0xe0,                               /* 35: jne 5 */
	};

	for (uint32_t way = 0; way < 4; way++) {
		struct processor_state native, emulated;

		data_is_ours = way & 1;
		slice = way & 2 ? 3 : 400;
		processor_load(code, sizeof(code));
		processor_run(7, NULL, &native);
		processor_load(code, sizeof(code));
		processor_run(7, carry_out, &emulated);
		CU_ASSERT_TRUE(processor_is_same(&native, &emulated, 0));
		CU_ASSERT_EQUAL(carried, 1 + 3 * 8);
		CU_ASSERT_EQUAL(emulated.gregs[REG_RAX], 3);
		CU_ASSERT_EQUAL(emulated.gregs[REG_RDX], 0x42);
	}
}
