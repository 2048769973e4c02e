/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_machine: what instructions are carried out on: the registers, taken out of the context that a trap saved and put back
 * when it ends; flags; memory, where each access goes straight on or to the callbacks. And the step: one instruction, made
 * ready to be carried out again and again. In a header, as every instruction needs it.
 *
 * Who calls: insn*.c. Source: Intel SDM volume 1, 3.4.1 (general registers and their parts).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_MACHINE_H
#define VERBS_SHIM_PRELOAD_INSN_MACHINE_H

#include <string.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/insn_alu.h"
#include "verbs-shim/preload/insn_decode.h"
#include "verbs-shim/preload/insn_flags.h"

#define PAGE_BYTES    4096u
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The general registers in the machine's own order, and two more that addresses are summed from. */
enum {
	REGISTER_RAX,
	REGISTER_RCX,
	REGISTER_RDX,
	REGISTER_RBX,
	REGISTER_RSP,
	REGISTER_RBP,
	REGISTER_RSI,
	REGISTER_RDI,
	REGISTER_NONE = 16, /* 0 */
	REGISTER_THREAD,    /* where FS points */
	REGISTERS,
};

/* How steps end. */
enum step_result {
	STEP_LEFT,    /* it goes on at machine->rip */
	STEP_CHANGED, /* the same; but code may have been overwritten */
	STEP_REFUSED, /* an access callback said no: nothing was changed */
	STEP_UNKNOWN, /* cannot be carried out now: nothing was changed */
};

struct machine {
	uint64_t registers[REGISTERS];
	struct insn_flags flags;
	uint64_t block; /* where the code being carried out begins */
	uint64_t
		epoch; /* blocks that were compared with the code in this one follow each other at once; 0: none */
	uint32_t
		left; /* steps that may be carried out before insn_run() looks again; counted at the end of each block */
	uint64_t rip; /* where it goes on when steps end */
	struct step *
		left_by; /* the last step, if another block would have followed at once were it known; or NULL */
	struct insn_access *access;
	ucontext_t *context;
	/* For insn_general() alone. */
	const struct insn *insn;
	uint64_t at;      /* where it is */
	uint64_t address; /* of the memory operand */
	bool changed;     /* it stored to a page with code */
};

/* Carries out its instruction and, by calling it, the next step. */
struct step {
	enum step_result (*carry_out)(struct machine *machine, struct step *step);
	int64_t immediate;    /* jumps: where to */
	int64_t displacement; /* the address itself if relative to RIP; calls: where to return to */
	union {
		struct {
			uint8_t to, condition;
		};
		uint16_t
			follower; /* of a step that ends its block: the block that followed last, by number; 0: none */
	};
	uint8_t from;
	uint8_t base, index, shift; /* the address, with displacement */
	uint8_t offset;             /* in its block */
	uint8_t ordinal; /* steps of its block up to this one; the end of a block is none */
};

_Static_assert(sizeof(struct step) == 32, "half a cache line");

/* Puts registers back as they stand. */
void machine_publish(struct machine *machine, uint64_t rip);

/* Stores to this page are to be noticed. */
void machine_mark_code(struct insn_access *access, uint64_t address);

/* By the callbacks if they say that it is theirs; else straight on. false: refused. */
bool machine_load(struct machine *machine, uint64_t address, void *bytes, uint32_t length);
bool machine_store(struct machine *machine, uint64_t address, const void *bytes, uint32_t length);

/* Is the access known to concern nobody? */
static inline bool machine_is_clear(const struct machine *machine, uint64_t address,
				    uint32_t length)
{
	uint64_t page = address / PAGE_BYTES;

	return machine->access->clear[page % INSN_CLEAR] == page &&
	       (address & (PAGE_BYTES - 1)) <= PAGE_BYTES - length;
}

static inline uint64_t machine_address(const struct machine *machine, const struct step *step)
{
	return (uint64_t)step->displacement + machine->registers[step->base] +
	       (machine->registers[step->index] << step->shift);
}

/* The low `size` bytes of a register become `value`; as the machine has it, four clear the upper half. */
static inline void machine_set(struct machine *machine, uint8_t number, uint32_t size,
			       uint64_t value)
{
	uint64_t *place = &machine->registers[number];

	if (size >= 4)
		*place = insn_truncate(value, size);
	else
		*place = (*place & ~((UINT64_C(1) << (8 * size)) - 1)) | insn_truncate(value, size);
}

/* For insn_general(): byte registers may be the second bytes of the first four. */
static inline bool machine_is_second_byte(const struct insn *insn, uint8_t number, uint32_t size)
{
	return size == 1 && insn->legacy_bytes && number >= 4 && number < 8;
}

static inline uint64_t machine_read(struct machine *machine, uint8_t number, uint32_t size)
{
	if (machine_is_second_byte(machine->insn, number, size))
		return machine->registers[number - 4] >> 8 & 0xff;
	return insn_truncate(machine->registers[number], size);
}

static inline void machine_write(struct machine *machine, uint8_t number, uint32_t size,
				 uint64_t value)
{
	uint64_t *place = &machine->registers[number & 3];

	if (machine_is_second_byte(machine->insn, number, size))
		*place = (*place & ~UINT64_C(0xff00)) | (value & 0xff) << 8;
	else
		machine_set(machine, number, size, value);
}

#endif
