/* SPDX-License-Identifier: Apache-2.0 */
/* trap_stack: see trap_stack.h. */
#include "verbs-shim/preload/trap_stack.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"

#define STACK_BYTES (UINT64_C(256) << 10)

static uint8_t *stacks; /* one for each slot */

static uint8_t *stack_of(const struct shim_slot *slot)
{
	return slot ? stacks + (uint64_t)(slot - shim.memory->slots) * STACK_BYTES : NULL;
}

bool trap_stack_holds(uint64_t address)
{
	const uint8_t *stack = stack_of(shim_self.slot);

	return stack && address - (uint64_t)(uintptr_t)stack < STACK_BYTES;
}

void trap_stack_init(void)
{
	stacks = (uint8_t *)system_call(SYS_mmap, NULL, STACK_BYTES * SHIM_SLOTS,
					PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
	if (stacks == MAP_FAILED)
		attach_give_up("no address space for the stacks of its traps");
}

void trap_stack_install(const struct shim_slot *slot)
{
	stack_t stack = {.ss_sp = stack_of(slot), .ss_size = STACK_BYTES}, before;

	/* A program that already has a signal stack keeps it. */
	if (system_call(SYS_sigaltstack, NULL, &before) == 0 &&
	    (before.ss_flags & SS_DISABLE || before.ss_size == STACK_BYTES))
		(void)system_call(SYS_sigaltstack, &stack, NULL);
}
