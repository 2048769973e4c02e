/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn: decodes and executes x86-64 instructions at a trap: the load or store that trapped, and the
 * instructions after it. A 64-byte copy to a doorbell page therefore costs one trap instead of
 * eight. A poll that finds data, and everything that the program does next, costs no further trap.
 * trap.c calls these functions in a signal handler. The code does not allocate, lock, or call libc
 * except memcpy. Source: Intel SDM volume 2 (instruction formats), the System V ABI's <ucontext.h>
 * for the registers.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_H
#define VERBS_SHIM_PRELOAD_INSN_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define INSN_CLEAR 256

/* Results of a load or store by a callback. */
enum insn_access_result {
	ACCESS_DONE,
	ACCESS_REFUSED, /* the instruction must not be executed; nothing was changed */
	ACCESS_DIRECT,  /* the address does not concern the callback: access it directly */
};

/* Callbacks for loads, stores and calls of emulated instructions. The registers are in the context
 * when a callback runs. */
struct insn_access {
	enum insn_access_result (*load)(struct insn_access *access, uint64_t address, void *bytes,
					uint32_t length);
	enum insn_access_result (*store)(struct insn_access *access, uint64_t address,
					 const void *bytes, uint32_t length);
	/* Returns true if no access to this page must be emulated. This stays true until the owner
	 * of the callbacks empties `clear`. */
	bool (*is_clear)(struct insn_access *access, uint64_t page);
	/* Executes the function at RIP, which is in the fence, and returns to its caller: changes
	 * RAX, RSP and RIP. It may set the number of instructions that are left. Returns false if
	 * insn_run() must stop before the function. NULL: insn_run() always stops. */
	bool (*call)(struct insn_access *access, ucontext_t *context, uint32_t *left);
	/* Page numbers of clear pages, each at its number modulo INSN_CLEAR. No callback is needed
	 * for them. */
	uint64_t clear[INSN_CLEAR];
	uint64_t fence, fence_length; /* code range; insn_run() executes only `call` there */
	/* data below the stack pointer are in use, so insn_run() does not move the stack pointer */
	bool shallow;
};

enum insn_result {
	INSN_DONE,    /* executed; registers and RIP are updated */
	INSN_UNKNOWN, /* not decoded; nothing was changed */
	INSN_REFUSED, /* an access callback returned false; nothing was changed */
};

/* Invalidates decoded code. Call it whenever a program has run, because code may have changed. */
void insn_distrust(void);

/* Executes the instruction at RIP. Updates integer and saved vector (xmm, ymm, zmm) registers in
 * the context. */
enum insn_result insn_step(ucontext_t *context, struct insn_access *access);

/*
 * Executes the following instructions. Stops at an unknown instruction or the fence (INSN_UNKNOWN),
 * at a refused access (INSN_REFUSED), or after `most` instructions (INSN_DONE). *count is the
 * number executed. Other loads and stores access memory directly. A wild pointer faults in this
 * function as it would have faulted in the program.
 */
enum insn_result insn_run(ucontext_t *context, struct insn_access *access, uint32_t most,
			  uint32_t *count);

#endif
