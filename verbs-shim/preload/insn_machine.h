/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_machine: machine state for the execution of instructions. It has the registers, taken from
 * the context of a trap and restored at its end, the flags, and the memory. Memory is accessed
 * directly or through the callbacks. The header also declares the step: one instruction, prepared
 * for repeated execution. It is in a header because every instruction needs it. The files insn*.c
 * call these functions. Source: Intel SDM volume 1, 3.4.1 (general registers and their parts).
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

/* General registers in the order of the machine encoding, and two more that address sums use. */
enum {
	REGISTER_RAX,
	REGISTER_RCX,
	REGISTER_RDX,
	REGISTER_RBX,
	REGISTER_RSP,
	REGISTER_RBP,
	REGISTER_RSI,
	REGISTER_RDI,
	REGISTER_NONE = 16, /* value 0 */
	REGISTER_THREAD,    /* base of FS */
	REGISTERS,
};

/* Results of steps. */
enum step_result {
	STEP_LEFT,    /* continue at machine->rip */
	STEP_CHANGED, /* continue at machine->rip; code may have been overwritten */
	STEP_REFUSED, /* an access callback returned false; nothing was changed */
	STEP_UNKNOWN, /* cannot be executed now; nothing was changed */
};

struct machine {
	uint64_t registers[REGISTERS];
	struct insn_flags flags;
	uint64_t block; /* start of the current block */
	uint64_t epoch; /* blocks compared in this epoch may follow each other directly; 0: none */
	/* steps left until insn_run() checks again; counted at the end of each block */
	uint32_t left;
	uint64_t rip; /* address at which execution continues */
	/* last step, if another block could have followed directly; or NULL */
	struct step *left_by;
	struct insn_access *access;
	ucontext_t *context;
	/* Used by insn_general() only. */
	const struct insn *insn;
	uint64_t at;      /* address of the instruction */
	uint64_t address; /* address of the memory operand */
	bool changed;     /* the instruction stored to a page with code */
};

/* A prepared instruction. Its function executes the instruction, and calls the function of the next
 * step. */
struct step {
	enum step_result (*carry_out)(struct machine *machine, struct step *step);
	int64_t immediate;    /* jumps: the target */
	int64_t displacement; /* absolute address if relative to RIP; calls: the return address */
	union {
		struct {
			uint8_t to, condition;
		};
		/* step that ends its block: number of the block that followed last; 0: none */
		uint16_t follower;
	};
	uint8_t from;
	uint8_t base, index, shift; /* address operand, with displacement */
	uint8_t offset;             /* position in its block */
	/* number of steps up to and including this one; the end of a block does not count */
	uint8_t ordinal;
};

_Static_assert(sizeof(struct step) == 32, "half a cache line");

/* Writes the registers back to the context. */
void machine_publish(struct machine *machine, uint64_t rip);

/* Marks a page with code, so that stores to it are noticed. */
void machine_mark_code(struct insn_access *access, uint64_t address);

/* Access memory through the callbacks, or directly if it does not concern them. Both functions
 * return false if the access is refused. */
bool machine_load(struct machine *machine, uint64_t address, void *bytes, uint32_t length);
bool machine_store(struct machine *machine, uint64_t address, const void *bytes, uint32_t length);

/* Returns true if the access is on a page that needs no callback. */
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

/* Sets the low `size` bytes of a register. A size of four clears the upper half, as the machine
 * does. */
static inline void machine_set(struct machine *machine, uint8_t number, uint32_t size,
			       uint64_t value)
{
	uint64_t *place = &machine->registers[number];

	if (size >= 4)
		*place = insn_truncate(value, size);
	else
		*place = (*place & ~((UINT64_C(1) << (8 * size)) - 1)) | insn_truncate(value, size);
}

/* Returns true if a byte register is the second byte of one of the first four registers.
 * insn_general() calls this function. */
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
