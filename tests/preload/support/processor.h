/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: runs a few instructions on this processor, or executes them in a signal handler, from
 * the same registers, flags and memory. Returns the results. For tests that compare the two.
 */
#ifndef TESTS_PRELOAD_SUPPORT_PROCESSOR_H
#define TESTS_PRELOAD_SUPPORT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
	PROCESSOR_DATA = 256,
	PROCESSOR_STACK = 192, /* in the data */
	PROCESSOR_CODE = 4096,
	PROCESSOR_FLAGS = 0x8d5 /* CF PF AF ZF SF OF */
};

struct processor_state {
	greg_t gregs[NGREG];
	uint8_t xmm[16][16];
	uint8_t data[PROCESSOR_DATA];
};

/* Operands of the instructions: RDI, RSI, RSP and RBP point into the data, RCX is 5, all other
 * registers come from the seed. */
extern uint8_t *processor_code; /* executable and writable */
extern uint8_t processor_data[PROCESSOR_DATA];

void processor_init(void);

/* Sets the target of RET and of jumps through memory to 64 bytes after the first byte of the
 * code. */
void processor_fill_data(uint64_t seed);
void processor_set_registers(ucontext_t *context, uint64_t seed);

/* Puts breakpoints everywhere and code at the start. */
void processor_load(const uint8_t *bytes, size_t length);

/* Runs the loaded code to the first breakpoint: on the processor, or by `emulate`. */
void processor_run(uint64_t seed, void (*emulate)(ucontext_t *context),
		   struct processor_state *after);

/* Compares all flags except undefined flags. */
bool processor_is_same(const struct processor_state *left, const struct processor_state *right,
		       greg_t undefined);

#endif
