/* SPDX-License-Identifier: Apache-2.0 */
/* insn_vector: see insn_vector.h. Source: Intel SDM volume 1, 13.4 (where registers are saved), and
 * volume 2 (operations). */
#include "verbs-shim/preload/insn_vector.h"

#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#include "verbs-shim/preload/insn_decode.h"
#include "verbs-shim/preload/insn_machine.h"

/* Vector registers: the XSAVE area that the kernel put on the signal stack. Intel SDM volume 1,
 * 13.4. */
enum { XSAVE_HEADER = 512, XSAVE_OURS = 464, XSAVE_MAGIC = 0x46505853 };
enum { COMPONENTS = 8, COMPONENT_SSE = 1, VECTOR_BYTES = 64 };

/* Place of the bytes of a register. The first 16 registers lie in three parts, the others in
 * one. */
static const struct part {
	uint8_t component, first, bytes;
	bool of_others;
} parts[] = {
	{COMPONENT_SSE, 0, 16, false}, {2, 16, 16, false}, {6, 32, 32, false}, {7, 0, 64, true}};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static uint32_t component_offset(uint8_t component) /* as this machine lays them out */
{
	static uint32_t offsets[COMPONENTS];
	uint32_t a, b, c, d;

	if (component == COMPONENT_SSE)
		return offsetof(struct _libc_fpstate, _xmm);
	if (!offsets[component] && __get_cpuid_count(0xd, component, &a, &b, &c, &d))
		offsets[component] = b;
	return offsets[component];
}

static uint8_t *area_of(struct machine *machine)
{
	return (uint8_t *)machine->context->uc_mcontext.fpregs;
}

static bool is_legacy(struct machine *machine) /* only the area that FXSAVE knows was saved */
{
	uint32_t magic;

	memcpy(&magic, area_of(machine) + XSAVE_OURS, sizeof(magic)); /* struct _fpx_sw_bytes */
	return magic != XSAVE_MAGIC;
}

/* Returns a bit for each component that is not in its initial state, which is zero. Returns NULL
 * for a frame of FXSAVE, which has no such bits. */
static uint64_t *used_components(struct machine *machine)
{
	return is_legacy(machine) ? NULL : (uint64_t *)(void *)(area_of(machine) + XSAVE_HEADER);
}

static bool is_saved(struct machine *machine, const struct part *part)
{
	uint64_t components;

	if (is_legacy(machine))
		return part->component == COMPONENT_SSE;
	memcpy(&components, area_of(machine) + XSAVE_OURS + 8, sizeof(components));
	return components >> part->component & 1;
}

static uint8_t *place_of(struct machine *machine, const struct part *part, uint8_t number)
{
	return area_of(machine) + component_offset(part->component) +
	       (uint32_t)part->bytes * (number % 16);
}

static bool is_part(const struct part *part, uint8_t number)
{
	return part->of_others == (number >= 16);
}

static bool read_vector(struct machine *machine, uint8_t number, uint8_t bytes[VECTOR_BYTES],
			uint32_t size)
{
	const uint64_t *used = used_components(machine);

	memset(bytes, 0, VECTOR_BYTES);
	for (uint32_t i = 0; i < PARTS; i++) {
		if (!is_part(&parts[i], number) || parts[i].first >= size)
			continue;
		if (!is_saved(machine, &parts[i]))
			return false;
		if (!used || *used >> parts[i].component & 1)
			memcpy(bytes + parts[i].first, place_of(machine, &parts[i], number),
			       parts[i].bytes);
	}
	return true;
}

/* `size`: end of the bytes that may be other than zero. */
static bool can_write_vector(struct machine *machine, uint8_t number, uint32_t size)
{
	if (machine->insn->vex && !used_components(machine))
		return false;
	for (uint32_t i = 0; i < PARTS; i++)
		if (is_part(&parts[i], number) && parts[i].first < size &&
		    !is_saved(machine, &parts[i]))
			return false;
	return true;
}

static void write_vector(struct machine *machine, uint8_t number, const uint8_t bytes[VECTOR_BYTES])
{
	uint64_t *used = used_components(machine);

	for (uint32_t i = 0; i < PARTS; i++) {
		uint64_t bit = UINT64_C(1) << parts[i].component;

		if (!is_part(&parts[i], number) || !is_saved(machine, &parts[i]) ||
		    (parts[i].first > 0 && !machine->insn->vex))
			continue;
		if (used && !(*used & bit)) { /* all were zero */
			memset(place_of(machine, &parts[i], 0), 0, 16u * parts[i].bytes);
			*used |= bit;
		}
		memcpy(place_of(machine, &parts[i], number), bytes + parts[i].first,
		       parts[i].bytes);
	}
}

bool insn_vector_load(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[VECTOR_BYTES] = {0};

	if (!can_write_vector(machine, insn->reg, insn->size))
		return false;
	if (insn->rm_reg == INSN_NO_REG) {
		if (!machine_load(machine, machine->address, bytes, insn->size))
			return false;
	} else if (insn->rm_general) {
		uint64_t value = machine_read(machine, insn->rm_reg, insn->size);

		memcpy(bytes, &value, insn->size);
	} else {
		uint8_t source[VECTOR_BYTES];

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
	uint8_t bytes[VECTOR_BYTES];

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
	if (!can_write_vector(machine, insn->rm_reg, insn->size))
		return false;
	memset(bytes + insn->size, 0, VECTOR_BYTES - insn->size);
	write_vector(machine, insn->rm_reg, bytes);
	return true;
}

/* Loads or stores the upper half of the lowest 16 bytes. */
bool insn_vector_high(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint8_t bytes[VECTOR_BYTES];

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
	uint8_t left[VECTOR_BYTES], right[VECTOR_BYTES], to = one ? insn->rm_reg : insn->reg;

	(void)read_vector(machine, insn->reg, left, 16);
	if (insn->rm_reg != INSN_NO_REG)
		(void)read_vector(machine, insn->rm_reg, right, 16);
	else if (!machine_load(machine, machine->address, right, 16))
		return false;
	operate(insn->vector_op, (uint8_t)insn->immediate, left, right, left);
	write_vector(machine, to, left);
	return true;
}
