/* SPDX-License-Identifier: Apache-2.0 */
/* trap: see trap.h. */
#include "verbs-shim/preload/trap.h"

#include <signal.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/processor.h"
#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_access.h"
#include "verbs-shim/preload/trap_combine.h"
#include "verbs-shim/preload/trap_poll.h"
#include "verbs-shim/preload/trap_stack.h"
#include "verbs-shim/preload/trap_watch.h"

/* Maximum number of instructions while a store to a doorbell waits for further stores. */
#define SLICE 32

/* Bytes of a doorbell. No store that follows could be combined with them. */
#define DOORBELL_BYTES 8

/* Sleeps until the adapter writes to the polled memory. Until then nothing changes for the
 * program. */
static void sleep_polling(struct trap *trap)
{
	struct range *polled = range_find(trap->polled);
	enum poll_verdict verdict;

	if (trap_combine_bytes()) {
		trap_combine_flush(); /* others may have run: the program reads again */
		return;
	}
	if (polled->kind == RANGE_RING)
		range_arm(polled);
	verdict = trap_poll_enter(trap->context, trap->polled, shim_self.slot,
				  trap_watch.hot || range_show_peers());
	if (verdict == POLL_ENTERED) {
		uint64_t since = gate_now();

		(void)gate_call(OP_SPIN,
				REQUEST(.spin = {.address = trap->polled,
						 .visible_writes = shim_self.slot->visible_writes,
						 .by_clocks = trap->by_clocks}));
		trap_watch_slept(trap->by_clocks, since);
	} else {
		trap_watch.faults[0] = trap_watch.faults[1] = 0;
		if (verdict == POLL_WATCH)
			range_arm_watched(false);
	}
}

/* Reads a register of the adapter. Earlier stores reach the adapter first. */
static void ask_register(struct trap_load *load)
{
	const struct range *range = range_find(load->address);

	load->wanted = false;
	trap_combine_flush();
	load->response = (uint64_t)gate_call(
		OP_LOAD,
		REQUEST(.load = {.file = range->file,
				 .offset = range->offset + (load->address - range->address),
				 .length = load->length}));
	load->responded = true;
}

/* Returns true if the buffer is full, or if the last instruction did not store to a doorbell
 * page. */
static bool combines_no_more(const struct trap *trap)
{
	uint32_t bytes = trap_combine_bytes();

	return bytes == SHIM_BYTES || (bytes > 0 && !trap->stored);
}

/* Runs the next instructions of the program. Returns how the run ended, and how many instructions
 * may follow. */
static enum insn_result run(struct trap *trap, bool shallow, uint32_t *left)
{
	bool by_slices = trap_combine_bytes() > 0 || trap->at_doorbell;
	struct insn_access *access = trap_access_of(trap);
	enum insn_result result;
	uint32_t count;

	trap->polled = 0;
	trap->stored = trap->touched = trap->at_doorbell = false;
	trap->stops_at_doorbells = !by_slices;
	access->shallow = shallow;
	result =
		insn_run(trap->context, access, by_slices && *left > SLICE ? SLICE : *left, &count);
	*left = trap->touched || trap->at_doorbell ? TRAP_RUN : *left - count;
	return result;
}

/* Carries out an instruction or a function that insn_run() does not handle. */
static bool carry_out_other(ucontext_t *context, uint32_t *left)
{
	if (clock_rdtsc(context) || processor_cpuid(context)) {
		*left = TRAP_RUN;
		return true;
	}
	return *left > 0 && trap_access_call(context);
}

/* Executes the following instructions as long as some of these access memory of the HCA. Execution
 * here is cheaper than the next trap. */
static void carry_on(struct trap *trap)
{
	bool shallow = !trap_stack_holds((uint64_t)(uintptr_t)__builtin_frame_address(0)) ||
		       trap_stack_holds((uint64_t)trap->context->uc_mcontext.gregs[REG_RSP]);
	uint32_t left = TRAP_RUN;

	trap->at_doorbell = false;
	while (left > 0) {
		enum insn_result result = run(trap, shallow, &left);

		if (trap->at_doorbell)
			continue;
		if (trap->polled) {
			sleep_polling(trap);
			left = TRAP_RUN;
		} else if (trap->load.wanted) {
			ask_register(&trap->load);
			left = TRAP_RUN;
		} else if (combines_no_more(trap) ||
			   (trap_combine_bytes() && result == INSN_REFUSED)) {
			trap_combine_flush();
			left = TRAP_RUN;
		} else if (result == INSN_UNKNOWN) {
			if (trap_combine_bytes() == DOORBELL_BYTES)
				trap_combine_flush();
			if (shallow || !carry_out_other(trap->context, &left))
				break;
		} else if (result == INSN_REFUSED) {
			break;
		}
	}
	range_close_pages();
	if (trap_combine_bytes() == DOORBELL_BYTES)
		trap_combine_flush();
}

/* Carries out the trapping instruction and the following instructions. Returns false if the
 * trapping instruction cannot be carried out. */
static bool go_on(struct trap *trap)
{
	enum insn_result result = insn_step(trap->context, trap_access_of(trap));

	if (result == INSN_UNKNOWN)
		return false;
	if (result == INSN_REFUSED && trap->polled)
		sleep_polling(trap);
	else if (trap->load.wanted)
		ask_register(&trap->load);
	else if (result == INSN_REFUSED && trap_combine_bytes())
		trap_combine_flush(); /* and try again */
	else if (result == INSN_REFUSED)
		return false;
	carry_on(trap);
	return true;
}

/* Handles a fault of a thread that has the token. `range` is NULL if the fault has no address.
 * Returns false if the fault does not concern the library, or if the instruction is unknown. */
static bool handle(ucontext_t *context, struct range *range, uint64_t address)
{
	struct trap trap = {.context = context};
	struct trap *outer_trap = trap_access_use(&trap);
	bool handled, outer = trap_watch.in_trap;

	trap_watch.in_trap = true;
	insn_distrust();
	if (range) {
		handled = (range->kind == RANGE_REGISTERS || range_page_is_armed(range, address)) &&
			  go_on(&trap);
	} else {
		handled = clock_rdtsc(context) || processor_cpuid(context);
		if (handled)
			carry_on(&trap);
	}
	(void)trap_access_use(outer_trap);
	trap_watch.in_trap = outer;
	if (!outer)
		range_set_hot(trap_watch.hot);
	return handled;
}

/* Ends the watching of a range. The program continues without traps there. */
static void leave_alone(struct range *range, bool asked)
{
	trap_poll_unseen(asked);
	range_disarm(range);
}

bool trap_segv(int number, void *information, void *where)
{
	const siginfo_t *info = information;
	ucontext_t *context = where;
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
	struct range *range;
	bool asked;

	(void)number;
	if (!trap_stack_holds((uint64_t)context->uc_mcontext.gregs[REG_RSP]))
		trap_watch.in_trap = false;
	if (info->si_code == SI_KERNEL)
		return shim_active() ? handle(context, NULL, 0)
				     : clock_rdtsc(context) || processor_cpuid(context);
	range = info->si_code == SEGV_ACCERR ? range_find(address) : NULL;
	if (!range)
		return false;
	if (!shim_active()) { /* a thread outside the run gets access to the memory */
		if (range->kind == RANGE_REGISTERS)
			return false;
		range_disarm(range);
		range_set_hot(false);
		return true;
	}
	if (trap_watch_touch() && range->kind == RANGE_RING && !range->armed)
		return true;
	asked = range_is_asked(range, address, 1, trap_watch.hot);
	if (range->kind == RANGE_WATCHED && !trap_watch_fault(asked)) {
		leave_alone(range, asked);
		if (asked)
			range_set_hot(false);
		return true;
	}
	if (handle(context, range, address))
		return true;
	range = range_find(address);
	if (!range || range->kind == RANGE_REGISTERS || !range_page_is_armed(range, address))
		return false;
	/* The machine executes an instruction that hcasim cannot decode. Watching begins again
	 * later. */
	leave_alone(range, asked);
	range_set_hot(false);
	trap_watch.hot = false;
	return true;
}

void trap_init(void)
{
	trap_access_init();
	trap_stack_init();
	trap_watch_init();
}
