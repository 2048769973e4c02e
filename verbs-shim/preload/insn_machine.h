/*
 * insn_machine: what an instruction is carried out on: the registers of the context that a trap saved, and memory, where each
 * access goes to the callbacks or straight on. In a header, as every instruction needs it.
 *
 * Who calls: insn.c, insn_vector.c. Source: Intel SDM volume 1, 3.4.1 (general registers and their parts).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_MACHINE_H
#define VERBS_SHIM_PRELOAD_INSN_MACHINE_H

#include <string.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/insn_alu.h"
#include "verbs-shim/preload/insn_decode.h"

struct machine {
	ucontext_t *context;
	struct insn_access *access;
	const struct insn *insn;
	struct insn fresh; /* what *insn is when it is not kept */
	uint64_t address;  /* of the memory operand */
};

static inline greg_t *machine_general(struct machine *machine, uint8_t number)
{
	static const uint8_t place[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	return &machine->context->uc_mcontext.gregs[place[number]];
}

static inline uint64_t machine_read(struct machine *machine, uint8_t number, uint32_t size)
{
	if (size == 1 && machine->insn->legacy_bytes && number >= 4 && number < 8)
		return (uint64_t)*machine_general(machine, (uint8_t)(number - 4)) >> 8 & 0xff;
	return insn_truncate((uint64_t)*machine_general(machine, number), size);
}

static inline void machine_write(struct machine *machine, uint8_t number, uint32_t size,
				 uint64_t value)
{
	if (size == 1 && machine->insn->legacy_bytes && number >= 4 && number < 8) {
		greg_t *place = machine_general(machine, (uint8_t)(number - 4));

		*place = (greg_t)(((uint64_t)*place & ~UINT64_C(0xff00)) | (value & 0xff) << 8);
		return;
	}
	greg_t *place = machine_general(machine, number);

	if (size >= 4)
		*place = (greg_t)insn_truncate(value, size);
	else
		*place = (greg_t)(((uint64_t)*place & ~((UINT64_C(1) << (8 * size)) - 1)) |
				  insn_truncate(value, size));
}

static inline bool machine_load(struct machine *machine, uint64_t address, void *bytes,
				uint32_t length)
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

static inline bool machine_store(struct machine *machine, uint64_t address, const void *bytes,
				 uint32_t length)
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

#endif
