/* insn_vector: see insn_vector.h. Source: Intel SDM volume 1, 13.4 (where registers are saved), and volume 2 (operations). */
#include "verbs-shim/preload/insn_vector.h"

#include <cpuid.h>
#include <string.h>

#include "verbs-shim/preload/insn_decode.h"
#include "verbs-shim/preload/insn_machine.h"

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

bool insn_vector_load(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32] = {0};

	if (!can_write_vector(machine))
		return false;
	if (insn->rm_reg == INSN_NO_REG) {
		if (!machine_load(machine, machine->address, bytes, insn->size))
			return false;
	} else if (insn->rm_general) {
		uint64_t value = machine_read(machine, insn->rm_reg, insn->size);

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

bool insn_vector_store(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32];

	if (!read_vector(machine, insn->reg, bytes, insn->size))
		return false;
	if (insn->rm_reg == INSN_NO_REG)
		return machine_store(machine, machine->address, bytes, insn->size);
	if (insn->rm_general) {
		uint64_t value = 0;

		memcpy(&value, bytes, insn->size);
		machine_write(machine, insn->rm_reg, insn->size, value);
		return true;
	}
	if (!can_write_vector(machine))
		return false;
	memset(bytes + insn->size, 0, 32u - insn->size);
	write_vector(machine, insn->rm_reg, bytes);
	return true;
}

/* The upper half of the lowest 16 bytes alone. */
bool insn_vector_high(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[32];

	(void)read_vector(machine, insn->reg, bytes, 16);
	if (insn->op == OP_VECTOR_HIGH_STORE)
		return machine_store(machine, machine->address, bytes + 8, 8);
	if (!machine_load(machine, machine->address, bytes + 8, 8))
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

bool insn_vector_operation(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	bool one = insn->vector_op == VECTOR_SHIFT_RIGHT_BYTES; /* register: the r/m one */
	uint8_t left[32], right[32], to = one ? insn->rm_reg : insn->reg;

	(void)read_vector(machine, insn->reg, left, 16);
	if (insn->rm_reg != INSN_NO_REG)
		(void)read_vector(machine, insn->rm_reg, right, 16);
	else if (!machine_load(machine, machine->address, right, 16))
		return false;
	operate(insn->vector_op, (uint8_t)insn->immediate, left, right, left);
	write_vector(machine, to, left);
	return true;
}
