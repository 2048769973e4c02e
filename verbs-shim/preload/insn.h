/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn: decodes and carries out x86-64 instructions that a trap stopped at: the load or store itself, and
 * the ones after it, so that a 64-byte copy to a doorbell page costs one trap and not eight, and a poll that finds something, with
 * all that the program does next, costs none.
 *
 * Who calls: trap.c, in a signal handler. Nothing here allocates, locks or calls libc beyond memcpy.
 * Source: Intel SDM volume 2 (instruction formats), the System V ABI's <ucontext.h> for the registers.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_H
#define VERBS_SHIM_PRELOAD_INSN_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define INSN_CLEAR 256

/* Where loads and stores of the emulated instruction go. false: not an address of ours and not to be emulated. */
struct insn_access {
	bool (*load)(struct insn_access *access, uint64_t address, void *bytes, uint32_t length);
	bool (*store)(struct insn_access *access, uint64_t address, const void *bytes,
		      uint32_t length);
	/* Must an instruction that touches this address be emulated (true), or may it run on the machine? */
	bool (*ours)(struct insn_access *access, uint64_t address, uint32_t length);
	/* Is nothing on this page ours, and will not be before the owner of the callbacks empties `clear`? */
	bool (*is_clear)(struct insn_access *access, uint64_t page);
	/* Pages by number, each in its place modulo INSN_CLEAR, where nobody needs to be asked. */
	uint64_t clear[INSN_CLEAR];
	uint64_t fence, fence_length; /* insn_run() stops in front of code in here */
	bool shallow; /* what lies below the stack pointer is in use: insn_run() leaves it where it is */
};

enum insn_result {
	INSN_DONE,    /* carried out, registers and RIP moved on */
	INSN_UNKNOWN, /* not decoded: nothing was changed */
	INSN_REFUSED, /* an access callback said no: nothing was changed */
};

/* Code may have changed since the last call: to be said when the program, or another, has run. */
void insn_distrust(void);

/* Carries out the one instruction at RIP. Integer and vector (xmm, ymm, zmm where saved) registers in the context are updated. */
enum insn_result insn_step(ucontext_t *context, struct insn_access *access);

/*
 * Goes on with what follows, until an instruction that is not known or lies behind the fence (INSN_UNKNOWN), an access that was
 * refused (INSN_REFUSED), or, INSN_DONE, as many as `most`. *count: instructions carried out. Loads and stores that are not
 * ours go straight to memory; through a wild pointer they fault here as they would have faulted there.
 */
enum insn_result insn_run(ucontext_t *context, struct insn_access *access, uint32_t most,
			  uint32_t *count);

#endif
