/* insn: see insn.h. An instruction first reads all it needs, then stores, and only then changes registers. */
#include "verbs-shim/preload/insn.h"

#include <cpuid.h>
#include <string.h>

#include "verbs-shim/preload/insn_alu.h"
#include "verbs-shim/preload/insn_decode.h"

#define REPEAT_CHUNK 512
#define DECODED      2048
#define PAGE         4096u

struct machine {
	ucontext_t *context;
	struct insn_access *access;
	const struct insn *insn;
	struct insn fresh; /* what *insn is when it is not kept */
	uint64_t address;  /* of the memory operand */
};

static greg_t *general(struct machine *machine, uint8_t number)
{
	static const uint8_t place[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	return &machine->context->uc_mcontext.gregs[place[number]];
}

static uint64_t read_general(struct machine *machine, uint8_t number, uint32_t size)
{
	if (size == 1 && machine->insn->legacy_bytes && number >= 4 && number < 8)
		return (uint64_t)*general(machine, (uint8_t)(number - 4)) >> 8 & 0xff;
	return insn_truncate((uint64_t)*general(machine, number), size);
}

static void write_general(struct machine *machine, uint8_t number, uint32_t size, uint64_t value)
{
	if (size == 1 && machine->insn->legacy_bytes && number >= 4 && number < 8) {
		greg_t *place = general(machine, (uint8_t)(number - 4));

		*place = (greg_t)(((uint64_t)*place & ~UINT64_C(0xff00)) | (value & 0xff) << 8);
		return;
	}
	greg_t *place = general(machine, number);

	if (size >= 4)
		*place = (greg_t)insn_truncate(value, size);
	else
		*place = (greg_t)(((uint64_t)*place & ~((UINT64_C(1) << (8 * size)) - 1)) |
				  insn_truncate(value, size));
}

static bool load(struct machine *machine, uint64_t address, void *bytes, uint32_t length)
{
	if (machine->access->ours(machine->access, address, length))
		return machine->access->load(machine->access, address, bytes, length);
	if (length == 8)
		__builtin_memcpy(bytes, (const void *)address, 8);
	else if (length == 4)
		__builtin_memcpy(bytes, (const void *)address, 4);
	else
		memcpy(bytes, (const void *)address, length);
	return true;
}

static bool store(struct machine *machine, uint64_t address, const void *bytes, uint32_t length)
{
	if (machine->access->ours(machine->access, address, length))
		return machine->access->store(machine->access, address, bytes, length);
	if (length == 8)
		__builtin_memcpy((void *)address, bytes, 8);
	else if (length == 4)
		__builtin_memcpy((void *)address, bytes, 4);
	else
		memcpy((void *)address, bytes, length);
	return true;
}

static uint64_t effective_address(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t address = (uint64_t)insn->displacement;

	if (insn->base != INSN_NO_REG)
		address += (uint64_t)*general(machine, insn->base);
	if (insn->index != INSN_NO_REG)
		address += (uint64_t)*general(machine, insn->index) * insn->scale;
	if (insn->fs) /* thread-local data: its first word holds its address (System V ABI) */
		address += (uint64_t)(uintptr_t)__builtin_thread_pointer();
	if (insn->rip_relative)
		address += (uint64_t)machine->context->uc_mcontext.gregs[REG_RIP] + insn->length;
	return address;
}

/* Vector registers: the XSAVE area that the kernel put on the signal stack. Intel SDM volume 1, 13.4. */
enum { XSAVE_HEADER = 512, XSAVE_SSE = 2, XSAVE_AVX = 4 };

static uint32_t avx_offset(void) /* of the upper halves, as this machine lays them out */
{
	static uint32_t offset;
	uint32_t a, b, c, d;

	if (!offset && __get_cpuid_count(0xd, 2, &a, &b, &c, &d))
		offset = b;
	return offset;
}

static uint64_t *saved_features(struct machine *machine) /* NULL: only the legacy area was saved */
{
	uint8_t *area = (uint8_t *)machine->context->uc_mcontext.fpregs;
	uint32_t magic;

	memcpy(&magic, area + 464, sizeof(magic)); /* struct _fpx_sw_bytes */
	return magic == 0x46505853u ? (uint64_t *)(void *)(area + XSAVE_HEADER) : NULL;
}

static uint8_t *vector_low(struct machine *machine, uint8_t number)
{
	return (uint8_t *)&machine->context->uc_mcontext.fpregs->_xmm[number];
}

static uint8_t *vector_high(struct machine *machine, uint8_t number)
{
	return (uint8_t *)machine->context->uc_mcontext.fpregs + avx_offset() + 16 * number;
}

static bool read_vector(struct machine *machine, uint8_t number, uint8_t bytes[32], uint32_t size)
{
	uint64_t *features = saved_features(machine);

	memset(bytes, 0, 32);
	if (!features || *features & XSAVE_SSE)
		memcpy(bytes, vector_low(machine, number), 16);
	if (size < 32)
		return true;
	if (!features || !avx_offset())
		return false;
	if (*features & XSAVE_AVX)
		memcpy(bytes + 16, vector_high(machine, number), 16);
	return true;
}

static bool can_write_vector(struct machine *machine)
{
	return !machine->insn->vex || (saved_features(machine) && avx_offset());
}

static void write_vector(struct machine *machine, uint8_t number, const uint8_t bytes[32])
{
	uint64_t *features = saved_features(machine);

	if (features && !(*features & XSAVE_SSE)) { /* all were in their initial state: zero */
		memset(vector_low(machine, 0), 0, 16 * 16);
		*features |= XSAVE_SSE;
	}
	memcpy(vector_low(machine, number), bytes, 16);
	if (!machine->insn->vex)
		return;
	if (!(*features & XSAVE_AVX)) {
		memset(vector_high(machine, 0), 0, 16 * 16);
		*features |= XSAVE_AVX;
	}
	memcpy(vector_high(machine, number), bytes + 16, 16);
}

static bool run_vector_load(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32] = {0};

	if (!can_write_vector(machine))
		return false;
	if (insn->rm_reg == INSN_NO_REG) {
		if (!load(machine, machine->address, bytes, insn->size))
			return false;
	} else if (insn->rm_general) {
		uint64_t value = read_general(machine, insn->rm_reg, insn->size);

		memcpy(bytes, &value, insn->size);
	} else {
		uint8_t source[32];

		if (!read_vector(machine, insn->rm_reg, source, insn->size))
			return false;
		memcpy(bytes, source, insn->size);
	}
	write_vector(machine, insn->reg, bytes);
	return true;
}

static bool run_vector_store(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32];

	if (!read_vector(machine, insn->reg, bytes, insn->size))
		return false;
	if (insn->rm_reg == INSN_NO_REG)
		return store(machine, machine->address, bytes, insn->size);
	if (insn->rm_general) {
		uint64_t value = 0;

		memcpy(&value, bytes, insn->size);
		write_general(machine, insn->rm_reg, insn->size, value);
		return true;
	}
	if (!can_write_vector(machine))
		return false;
	memset(bytes + insn->size, 0, 32u - insn->size);
	write_vector(machine, insn->rm_reg, bytes);
	return true;
}

/* The upper half of the lowest 16 bytes alone. */
static bool run_vector_high(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32];

	(void)read_vector(machine, insn->reg, bytes, 16);
	if (insn->op == OP_VECTOR_HIGH_STORE)
		return store(machine, machine->address, bytes + 8, 8);
	if (!load(machine, machine->address, bytes + 8, 8))
		return false;
	write_vector(machine, insn->reg, bytes);
	return true;
}

static void shuffle(uint8_t order, const uint32_t from[4], uint32_t to[4])
{
	for (uint32_t i = 0; i < 4; i++)
		to[i] = from[order >> (2 * i) & 3];
}

static void operate(enum insn_vector_op op, uint8_t immediate, const uint8_t left[16],
		    const uint8_t right[16], uint8_t result[16])
{
	uint64_t a[2], b[2], r[2] = {0, 0};
	uint32_t low[4];

	memcpy(a, left, 16);
	memcpy(b, right, 16);
	for (uint32_t i = 0; i < 2; i++)
		r[i] = op == VECTOR_XOR   ? a[i] ^ b[i]
		       : op == VECTOR_OR  ? a[i] | b[i]
		       : op == VECTOR_AND ? a[i] & b[i]
					  : ~a[i] & b[i];
	memcpy(low, right, 16);
	switch (op) {
	case VECTOR_INTERLEAVE_LOW_4:
		r[0] = (a[0] & UINT32_MAX) | b[0] << 32;
		r[1] = a[0] >> 32 | (b[0] >> 32) << 32;
		break;
	case VECTOR_INTERLEAVE_LOW_8:
		r[0] = a[0];
		r[1] = b[0];
		break;
	case VECTOR_INTERLEAVE_HIGH_8:
		r[0] = a[1];
		r[1] = b[1];
		break;
	case VECTOR_SHUFFLE_4:
		shuffle(immediate, low, (uint32_t *)(void *)r);
		break;
	case VECTOR_SHIFT_RIGHT_BYTES:
		r[0] = r[1] = 0;
		if (immediate < 16)
			memcpy(r, right + immediate, 16u - immediate);
		break;
	default:
		break;
	}
	memcpy(result, r, 16);
}

static bool run_vector_operation(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	bool one = insn->vector_op == VECTOR_SHIFT_RIGHT_BYTES; /* register: the r/m one */
	uint8_t left[32], right[32], to = one ? insn->rm_reg : insn->reg;

	(void)read_vector(machine, insn->reg, left, 16);
	if (insn->rm_reg != INSN_NO_REG)
		(void)read_vector(machine, insn->rm_reg, right, 16);
	else if (!load(machine, machine->address, right, 16))
		return false;
	operate(insn->vector_op, (uint8_t)insn->immediate, left, right, left);
	write_vector(machine, to, left);
	return true;
}

/* MOVS and STOS, with or without REP; a piece at a time. false: a callback refused; registers stand at what was done. */
static bool run_string(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	uint64_t count = insn->repeat ? (uint64_t)gregs[REG_RCX] : 1;
	uint8_t bytes[REPEAT_CHUNK];

	while (count) {
		uint64_t items =
			sizeof(bytes) / insn->size < count ? sizeof(bytes) / insn->size : count;
		uint32_t length = (uint32_t)items * insn->size;
		uint64_t to = (uint64_t)gregs[REG_RDI], from = (uint64_t)gregs[REG_RSI];

		if (insn->op == OP_MOVS && to > from &&
		    to - from < length) { /* overlapping: it repeats a pattern */
			items = 1;
			length = insn->size;
		}
		if (insn->op == OP_MOVS) {
			if (!load(machine, from, bytes, length))
				return false;
		} else {
			for (uint32_t i = 0; i < length; i += insn->size)
				memcpy(bytes + i, &gregs[REG_RAX], insn->size);
		}
		if (!store(machine, to, bytes, length))
			return false;
		gregs[REG_RDI] += length;
		if (insn->op == OP_MOVS)
			gregs[REG_RSI] += length;
		count -= items;
		if (insn->repeat)
			gregs[REG_RCX] = (greg_t)count;
	}
	return true;
}

static bool read_rm(struct machine *machine, uint32_t size, uint64_t *value)
{
	*value = 0;
	if (machine->insn->rm_reg == INSN_NO_REG)
		return load(machine, machine->address, value, size);
	*value = read_general(machine, machine->insn->rm_reg, size);
	return true;
}

static bool write_rm(struct machine *machine, uint32_t size, uint64_t value)
{
	if (machine->insn->rm_reg == INSN_NO_REG)
		return store(machine, machine->address, &value, size);
	write_general(machine, machine->insn->rm_reg, size, value);
	return true;
}

static uint64_t right_operand(struct machine *machine, uint64_t rm)
{
	switch (machine->insn->form) {
	case FORM_REG_RM:
		return rm;
	case FORM_RM_IMMEDIATE:
	case FORM_REG_RM_IMMEDIATE:
		return (uint64_t)machine->insn->immediate;
	case FORM_RM_CL:
		return read_general(machine, 1, 1);
	default:
		return read_general(machine, machine->insn->reg, machine->insn->size);
	}
}

static bool run_integer(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t flags = (uint64_t)machine->context->uc_mcontext.gregs[REG_EFL];
	bool to_reg = insn->form == FORM_REG_RM || insn->form == FORM_REG_RM_IMMEDIATE;
	uint32_t rm_size = insn->source_size ? insn->source_size : insn->size;
	uint64_t rm = 0, left, right, result;

	if (!(insn->op == OP_MOV && !to_reg) && !read_rm(machine, rm_size, &rm))
		return false;
	left = insn->form == FORM_REG_RM ? read_general(machine, insn->reg, insn->size) : rm;
	right = right_operand(machine, rm);
	if (insn->op == OP_MOVSX)
		result = insn_truncate(insn_sign_extend(rm, insn->source_size), insn->size);
	else if (insn->op == OP_MOVZX)
		result = rm;
	else
		result = insn_alu(insn->op, left, right, insn->size, &flags);
	if (insn->op != OP_CMP && insn->op != OP_TEST && insn->op != OP_BIT_TEST) {
		if (to_reg)
			write_general(machine, insn->reg, insn->size, result);
		else if (!write_rm(machine, insn->size, result))
			return false;
	}
	machine->context->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
	return true;
}

static bool push(struct machine *machine, uint64_t value)
{
	greg_t *stack = &machine->context->uc_mcontext.gregs[REG_RSP];

	if (!store(machine, (uint64_t)*stack - 8, &value, 8))
		return false;
	*stack -= 8;
	return true;
}

static bool pop(struct machine *machine, uint64_t *value)
{
	greg_t *stack = &machine->context->uc_mcontext.gregs[REG_RSP];

	if (!load(machine, (uint64_t)*stack, value, 8))
		return false;
	*stack += 8;
	return true;
}

/* PUSH, POP, LEAVE, CALL, RET and jumps through a register or memory. RIP still stands on the instruction. */
static bool run_stack(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	uint64_t next = (uint64_t)gregs[REG_RIP] + insn->length, value = (uint64_t)insn->immediate;
	uint64_t frame = (uint64_t)gregs[REG_RBP];

	switch (insn->op) {
	case OP_PUSH:
		return (insn->form == FORM_NONE || read_rm(machine, 8, &value)) &&
		       push(machine, value);
	case OP_POP:
		if (!pop(machine, &value))
			return false;
		write_general(machine, insn->rm_reg, 8, value);
		return true;
	case OP_LEAVE:
		if (!load(machine, frame, &value, 8))
			return false;
		gregs[REG_RSP] = (greg_t)frame + 8;
		gregs[REG_RBP] = (greg_t)value;
		return true;
	case OP_RETURN:
		if (!pop(machine, &value))
			return false;
		break;
	case OP_JUMP_RM:
	case OP_CALL_RM:
		if (!read_rm(machine, 8, &value))
			return false;
		break;
	default: /* OP_CALL */
		value += next;
		break;
	}
	if ((insn->op == OP_CALL || insn->op == OP_CALL_RM) && !push(machine, next))
		return false;
	gregs[REG_RIP] = (greg_t)(value - insn->length); /* which is added to it when all is done */
	return true;
}

static void run_exchange(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t reg = read_general(machine, insn->reg, insn->size);
	uint64_t rm = read_general(machine, insn->rm_reg, insn->size);

	write_general(machine, insn->reg, insn->size, rm);
	write_general(machine, insn->rm_reg, insn->size, reg);
}

static void run_sign(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t value = read_general(machine, 0, insn->size);

	if (insn->op == OP_WIDEN)
		write_general(machine, 0, insn->size, insn_sign_extend(value, insn->size / 2));
	else
		write_general(machine, 2, insn->size,
			      value >> (8 * insn->size - 1) & 1 ? UINT64_MAX : 0);
}

static bool run(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	bool holds = insn_condition(insn->condition, (uint64_t)gregs[REG_EFL]);
	uint64_t value;

	switch (insn->op) {
	case OP_NOP:
		return true;
	case OP_LEA:
		write_general(machine, insn->reg, insn->size, machine->address);
		return true;
	case OP_JUMP:
		gregs[REG_RIP] += insn->immediate;
		return true;
	case OP_JUMP_IF:
		gregs[REG_RIP] += holds ? insn->immediate : 0;
		return true;
	case OP_SET_IF:
		return write_rm(machine, 1, holds);
	case OP_MOVE_IF:
		if (!read_rm(machine, insn->size, &value))
			return false;
		write_general(machine, insn->reg, insn->size,
			      holds ? value : read_general(machine, insn->reg, insn->size));
		return true;
	case OP_XCHG:
		run_exchange(machine);
		return true;
	case OP_WIDEN:
	case OP_SPREAD:
		run_sign(machine);
		return true;
	case OP_PUSH:
	case OP_POP:
	case OP_LEAVE:
	case OP_CALL:
	case OP_CALL_RM:
	case OP_RETURN:
	case OP_JUMP_RM:
		return run_stack(machine);
	case OP_MOVS:
	case OP_STOS:
		return run_string(machine);
	case OP_VECTOR_HIGH_LOAD:
	case OP_VECTOR_HIGH_STORE:
		return run_vector_high(machine);
	case OP_VECTOR_ALU:
		return run_vector_operation(machine);
	case OP_VECTOR_LOAD:
		return run_vector_load(machine);
	case OP_VECTOR_STORE:
		return run_vector_store(machine);
	default:
		return run_integer(machine);
	}
}

/* What was decoded before, by place; the bytes are compared, as code may change. */
static struct {
	uint64_t rip; /* 0: empty */
	uint8_t bytes[16];
	struct insn insn;
} __attribute__((aligned(64))) decoded[DECODED]; /* a cache line each */

_Static_assert(sizeof(decoded[0]) == 64, "a cache line");

static bool is_kept(uint32_t at, uint64_t rip)
{
	uint64_t kept[2], now[2];

	if (decoded[at].rip != rip)
		return false;
	__builtin_memcpy(kept, decoded[at].bytes, sizeof(kept));
	__builtin_memcpy(now, (const uint8_t *)rip, sizeof(now));
	return kept[0] == now[0] && kept[1] == now[1];
}

static const struct insn *decode_at(uint64_t rip, struct insn *fresh)
{
	uint32_t at = (uint32_t)(rip ^ rip >> 11) % DECODED;
	uint64_t left = PAGE - (rip & (PAGE - 1));
	bool known;

	/* The bytes after the instruction may lie on a page that is not there; stay on this one if it suffices. */
	if (left < sizeof(decoded[at].bytes)) {
		known = (left < INSN_BYTES_MOST &&
			 insn_decode((const uint8_t *)rip, (uint32_t)left, fresh)) ||
			insn_decode((const uint8_t *)rip, INSN_BYTES_MOST, fresh);
		return known ? fresh : NULL;
	}
	if (is_kept(at, rip))
		return &decoded[at].insn;
	decoded[at].rip = 0;
	if (!insn_decode((const uint8_t *)rip, INSN_BYTES_MOST, &decoded[at].insn))
		return NULL;
	decoded[at].rip = rip;
	memcpy(decoded[at].bytes, (const uint8_t *)rip, sizeof(decoded[at].bytes));
	return &decoded[at].insn;
}

static bool decode(struct machine *machine)
{
	const greg_t *gregs = machine->context->uc_mcontext.gregs;
	enum { DIRECTION_FLAG = 1 << 10 };

	machine->insn = decode_at((uint64_t)gregs[REG_RIP], &machine->fresh);
	if (!machine->insn)
		return false;
	if (machine->insn->gs)
		return false;
	if ((machine->insn->op == OP_MOVS || machine->insn->op == OP_STOS) &&
	    gregs[REG_EFL] & DIRECTION_FLAG)
		return false;
	machine->address = effective_address(machine);
	return true;
}

enum insn_result insn_step(ucontext_t *context, struct insn_access *access)
{
	struct machine machine;
	greg_t rip = context->uc_mcontext.gregs[REG_RIP];

	machine.context = context;
	machine.access = access;
	if (!decode(&machine))
		return INSN_UNKNOWN;
	if (!run(&machine)) {
		context->uc_mcontext.gregs[REG_RIP] = rip;
		return INSN_REFUSED;
	}
	context->uc_mcontext.gregs[REG_RIP] += machine.insn->length;
	return INSN_DONE;
}

/* Does it move the stack pointer? (Or name it as an operand, which comes to the same here.) */
static bool moves_stack(const struct insn *insn)
{
	enum { RSP = 4 };

	return (insn->op >= OP_PUSH && insn->op <= OP_RETURN) || insn->rm_reg == RSP ||
	       insn->reg == RSP;
}

enum insn_result insn_run(ucontext_t *context, struct insn_access *access, uint32_t most,
			  uint32_t *count)
{
	struct machine machine;
	greg_t *gregs = context->uc_mcontext.gregs;

	machine.context = context;
	machine.access = access;
	for (*count = 0; *count < most; ++*count) {
		greg_t rip = gregs[REG_RIP];

		if ((uint64_t)rip - access->fence < access->fence_length || !decode(&machine) ||
		    (access->shallow && moves_stack(machine.insn)))
			return INSN_UNKNOWN;
		if (!run(&machine)) {
			gregs[REG_RIP] = rip;
			return INSN_REFUSED;
		}
		gregs[REG_RIP] += machine.insn->length;
	}
	return INSN_DONE;
}
