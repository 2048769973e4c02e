/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap: what a program does with memory that concerns the simulator: stores to doorbell pages and loads of the adapter's clock
 * (mapped, and out of reach), loads from memory that the HCA writes (watched by protection while a program may be polling it), and rdtsc.
 *
 *     SIGSEGV --> register?  the store is decoded, combined with its neighbours as a write-combining buffer does, handed over;
 *                            the load is asked for, and the instruction carried out when its answer has come
 *             --> watched?   the load is carried out; when the same instruction has read the same address again, with the same
 *                            registers and stack, and nothing could have changed in between, the program is polling: it
 *                            sleeps until the next write of the HCA
 *             --> rdtsc?     virtual time
 *             --> cpuid?     the simulated host's processor (processor.h)
 *             --> else       the program's own handler
 *
 * Completion queues stay watched for good: the simulator reaches them through its own mapping. Other memory is watched only while
 * the program has the token, as DMA needs it. When watching begins depends on real time and changes no result: as long as the
 * program polls, no virtual time passes, and none is charged for a look.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/processor.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_poll.h"
#include "verbs-shim/preload/trap_ranges.h"
#include "verbs-shim/preload/trap_stack.h"

#define RUN 400 /* instructions carried out after the last that concerned us, at most */
#define SLICE \
	32 /* of them at a time while a store to a doorbell waits for its neighbours: it does for no longer */
#define CLOCK_READS 16
#define LEAST_WORK_NS \
	1000000 /* that a thread has done since the last quantum, if it is to be watched */
#define FAULTS_ALLOWED \
	200 /* on watched memory between two hand-overs, but looks at what was seen before, and it is left alone */

static bool hot_watched;                 /* loads from hot pages count as looks */
static uint32_t faults[2];               /* since the last hand-over; on memory that is asked for */
static const struct shim_slot *ran_last; /* of this process */

/* A program that reads clocks again and again may be polling as well: after so many reads its memory is watched. That is as certain
 * as its reads are, while a quantum ends at some real time; what the loop counts by its turns is the same in each run. */
static uint32_t clock_reads; /* since it did anything else; CLOCK_READS at most */
static bool watched_by_clocks;
static uint64_t signs; /* of it, in all: clocks read, and looks that were seen */

/* Of one line of a doorbell page, stored in whatever order: that of memcpy() depends on the processor. */
static struct combined {
	uint32_t file, length; /* how many are there; 0: it is empty */
	uint64_t offset;       /* of the line */
	uint64_t there;        /* a bit for each byte */
	uint8_t bytes[SHIM_BYTES];
} combining;

/* A load from a register of the adapter, for the instruction that is carried out next. */
static struct {
	uint64_t address, answer;
	uint32_t length;
	bool wanted, answered;
} loading;

/* The trap being handled. */
static uint64_t trap_rip_address; /* a load that proved polling */
static bool trap_by_clocks;       /* in a loop that reads clocks */
static ucontext_t *trap_context;
static bool stored_doorbell, touched;
static bool stops_at_doorbells, at_doorbell; /* runs that are longer than a slice do */
static bool trapping; /* protection of hot pages can wait until the trap has been handled */

static void flush(void)
{
	struct combined line = combining;
	bool handed_over = false;

	combining.there = combining.length = 0;
	for (uint32_t first = 0, end; line.length > 0; first = end) {
		while (!(line.there >> first & 1))
			first++;
		for (end = first; end < SHIM_BYTES && line.there >> end & 1;)
			end++;
		handed_over |=
			gate_store(line.file, line.offset + first, line.bytes + first, end - first);
		line.length -= end - first;
	}
	if (handed_over) {
		poll_restart(); /* as after a hand-over: who has stored may begin to poll */
		poll_acted();
		clock_reads = 0;
		hot_watched = true;
	}
}

/* false: the buffer goes out first. A whole line may be stored once more as it is: memcpy() of 64 bytes does that with AVX-512. */
static bool combine(uint32_t file, uint64_t offset, const void *bytes, uint32_t length)
{
	uint64_t in_line = offset % SHIM_BYTES + length <= SHIM_BYTES ? offset % SHIM_BYTES : 0;
	uint64_t mask = UINT64_MAX >> (SHIM_BYTES - length) << in_line;
	uint64_t line = offset - in_line;

	if (combining.length && (combining.file != file || combining.offset != line))
		return false;
	if (combining.there & mask)
		return combining.length == SHIM_BYTES &&
		       memcmp(combining.bytes + in_line, bytes, length) == 0;
	combining.file = file;
	combining.offset = line;
	combining.there |= mask;
	combining.length += length;
	memcpy(combining.bytes + in_line, bytes, length);
	return true;
}

void trap_before_gate(enum shim_op op)
{
	bool acted = op != OP_SPIN && (op != OP_YIELD || shim_self.slot->dirty);
	bool goes_on = op == OP_YIELD && !acted && watched_by_clocks; /* all is watched again */

	if (!goes_on)
		poll_restart();
	if (acted) {
		poll_acted();
		clock_reads = 0;
	}
	watched_by_clocks = goes_on;
	ran_last = shim_self.slot;
	shim_self.reaches = false;
	faults[0] = faults[1] = 0;
	poll_quantum(false);
	ranges_release(!goes_on);
	hot_watched = false;
}

/* What is protected would be refused (EFAULT). The next quantum may end before the call begins: it protects nothing. */
void trap_before_call(void)
{
	ranges_release(true);
	hot_watched = false;
	shim_self.reaches = true;
	clock_reads = 0;
	watched_by_clocks = false;
}

void trap_charged(void)
{
	signs++;
	if (clock_reads < CLOCK_READS) {
		clock_reads++;
	} else if (!watched_by_clocks) {
		ranges_arm(false);
		poll_restart(); /* not all was seen before */
		watched_by_clocks = true;
	}
}

void trap_after_gate(void)
{
	if (ran_last != shim_self.slot) { /* another thread may have loaded or unloaded code */
		insn_distrust();
		ranges_release(true);
		poll_restart();
		watched_by_clocks = false;
	}
	if (watched_by_clocks)
		ranges_arm(false);
	ran_last = shim_self.slot;
	hot_watched = shim_self.slot->op == OP_MMIO || shim_self.slot->op == OP_SPIN;
	if (hot_watched && !trapping)
		range_set_hot(true);
}

/* Of watched memory only what the program would trap at is. */
static bool access_ours(struct insn_access *access, uint64_t address, uint32_t length)
{
	(void)access;
	return range_traps(address, length, hot_watched);
}

static bool access_is_clear(struct insn_access *access, uint64_t page)
{
	(void)access;
	return !range_overlaps(page, PAGE);
}

static bool is_looked_at(const struct range *range)
{
	return range->kind != RANGE_RING || range->polled;
}

/* Not while an instruction is half done: it is carried out again when the answer is there. */
static bool load_register(uint64_t address, void *bytes, uint32_t length)
{
	if (loading.answered && loading.address == address && loading.length == length) {
		memcpy(bytes, &loading.answer, length);
		loading.answered = false;
		return true;
	}
	loading.wanted = length <= sizeof(loading.answer);
	loading.address = address;
	loading.length = length;
	return false;
}

static bool is_within(const struct range *range, uint64_t address, uint32_t length)
{
	return range && address + length <= range->address + range->length;
}

static bool load_range(struct range *range, uint64_t address, void *bytes, uint32_t length)
{
	enum poll_kind kind = POLL_NOT;
	bool asked;

	touched |= is_looked_at(range);
	signs++;
	if (range->kind == RANGE_REGISTERS)
		return load_register(address, bytes, length);
	asked = range_is_asked(range, address, length, hot_watched);
	if (is_looked_at(range))
		kind = poll_look(trap_context, range, address, length, asked);
	if (kind == POLL_STILL || kind == POLL_BY_CLOCKS) {
		trap_rip_address = address;
		trap_by_clocks = kind == POLL_BY_CLOCKS;
		return false;
	}
	if (kind == POLL_PERHAPS)
		faults[asked] -= faults[asked] > 0; /* it may be on its way to be found polling */
	memcpy(bytes, range_reach(range, address, length), length);
	return true;
}

static bool access_load(struct insn_access *access, uint64_t address, void *bytes, uint32_t length)
{
	struct range *range = range_find(address);
	uint8_t *to = bytes;

	(void)access;
	if (is_within(range, address, length))
		return load_range(range, address, bytes, length);
	if (range_has_registers(address, length))
		return false;
	for (uint32_t part; length > 0; address += part, to += part, length -= part) {
		part = range_part(address, length);
		range = range_find(address);
		if (!range)
			memcpy(to, (const void *)(uintptr_t)address, part);
		else if (!load_range(range, address, to, part))
			return false;
	}
	return true;
}

static bool store_range(struct range *range, uint64_t address, const void *bytes, uint32_t length)
{
	uint64_t offset;

	if (length > SHIM_BYTES)
		return false;
	if (range->kind != RANGE_REGISTERS) {
		if (range->kind == RANGE_WATCHED &&
		    memcmp(range_reach(range, address, length), bytes, length) != 0)
			poll_stored(range_is_asked(range, address, length, hot_watched));
		memcpy(range_reach(range, address, length), bytes, length);
		return true;
	}
	at_doorbell = stops_at_doorbells;
	if (at_doorbell)
		return false;
	offset = range->offset + (address - range->address);
	if (!combine(range->file, offset, bytes, length))
		return false; /* the trap comes again */
	stored_doorbell = touched = true;
	return true;
}

static bool access_store(struct insn_access *access, uint64_t address, const void *bytes,
			 uint32_t length)
{
	struct range *range = range_find(address);
	const uint8_t *from = bytes;

	(void)access;
	if (is_within(range, address, length))
		return store_range(range, address, bytes, length);
	if (range_has_registers(address, length))
		return false;
	for (uint32_t part; length > 0; address += part, from += part, length -= part) {
		part = range_part(address, length);
		range = range_find(address);
		if (!range)
			memcpy((void *)(uintptr_t)address, from, part);
		else if (!store_range(range, address, from, part))
			return false;
	}
	return true;
}

static struct insn_access access_table = {.load = access_load,
					  .store = access_store,
					  .ours = access_ours,
					  .is_clear = access_is_clear};

/* What was found clear may not be any more when ranges were added. */
static void check_clear(void)
{
	static uint64_t additions;

	if (additions == range_additions())
		return;
	additions = range_additions();
	memset(access_table.clear, 0, sizeof(access_table.clear));
}

/* The program polls: nothing changes until the HCA writes there. */
static void sleep_polling(void)
{
	struct range *polled = range_find(trap_rip_address);
	enum poll_answer answer;

	if (combining.length) {
		flush(); /* much may happen meanwhile: it looks again */
		return;
	}
	if (polled->kind == RANGE_RING)
		range_arm(polled);
	answer = poll_enter(trap_context, trap_rip_address, shim_self.slot,
			    hot_watched || ranges_show_peers());
	if (answer == POLL_ENTERED) {
		uint64_t before = gate_now();
		bool by_clocks = trap_by_clocks;

		(void)gate_call(OP_SPIN, trap_rip_address, shim_process->visible_writes, by_clocks,
				0);
		if (by_clocks)
			poll_slept(gate_now() - before);
		else
			clock_reads = 0;
	} else {
		faults[0] = faults[1] = 0;
		if (answer == POLL_WATCH)
			ranges_arm(false);
	}
}

/* It pushes the stores before it. Another thread may ask meanwhile. */
static void ask_register(void)
{
	uint64_t address = loading.address, answer;
	uint32_t length = loading.length;
	const struct range *range = range_find(address);

	loading.wanted = false;
	flush();
	answer = (uint64_t)gate_call(OP_LOAD, range->file,
				     range->offset + (address - range->address), length, 0);
	loading.address = address;
	loading.length = length;
	loading.answer = answer;
	loading.answered = true;
}

/* The program stands at the first instruction of one of our functions: it is called here, and the program goes on behind its
 * call. Those that have nothing to do with its stack and its signals may. */
static bool call_own(ucontext_t *context)
{
	typedef int64_t function(uint64_t first, uint64_t second);
	static void *const callable[] = {(void *)pthread_spin_lock,    (void *)pthread_spin_unlock,
					 (void *)pthread_spin_trylock, (void *)pthread_mutex_lock,
					 (void *)pthread_mutex_unlock, (void *)clock_gettime,
					 (void *)gettimeofday,         (void *)sched_yield};
	greg_t *registers = context->uc_mcontext.gregs;

	for (uint32_t i = 0; i < sizeof(callable) / sizeof(callable[0]); i++) {
		if ((uint64_t)registers[REG_RIP] != (uint64_t)(uintptr_t)callable[i])
			continue;
		registers[REG_RAX] = (greg_t)((function *)callable[i])(
			(uint64_t)registers[REG_RDI], (uint64_t)registers[REG_RSI]);
		registers[REG_RIP] = *(const greg_t *)(uintptr_t)registers[REG_RSP];
		registers[REG_RSP] += 8;
		return true;
	}
	return false;
}

/* The store went to another place than those that it could be combined with. */
static bool combines_no_more(void)
{
	return combining.length == SHIM_BYTES || (combining.length && !stored_doorbell);
}

/* Carries out what the program does next, as long as it concerns us every now and then: that is cheaper than the next trap. */
static void carry_on(ucontext_t *context)
{
	uint32_t left = RUN, count;

	at_doorbell = false;
	access_table.shallow = !trap_stack_holds((uint64_t)(uintptr_t)__builtin_frame_address(0)) ||
			       trap_stack_holds((uint64_t)context->uc_mcontext.gregs[REG_RSP]);
	while (left > 0) {
		bool by_slices = combining.length > 0 || at_doorbell;
		enum insn_result result;

		trap_context = context;
		trap_rip_address = 0;
		stored_doorbell = touched = at_doorbell = false;
		stops_at_doorbells = !by_slices;
		check_clear();
		result = insn_run(context, &access_table, by_slices && left > SLICE ? SLICE : left,
				  &count);
		left = touched || at_doorbell ? RUN : left - count;
		if (at_doorbell)
			continue;
		if (trap_rip_address) {
			sleep_polling();
			left = RUN;
		} else if (loading.wanted) {
			ask_register();
			left = RUN;
		} else if (combines_no_more() || (combining.length && result == INSN_REFUSED)) {
			flush();
			left = RUN;
		} else if (result == INSN_UNKNOWN) {
			if (combining.length == 8)
				flush();
			if (access_table.shallow)
				break;
			if (clock_rdtsc(context) || processor_cpuid(context))
				left = RUN;
			else if (left == 0 || !call_own(context))
				break;
		} else if (result == INSN_REFUSED) {
			break;
		}
	}
	range_close_pages();
	if (combining.length == 8)
		flush();
}

/* Carries out the trapping instruction and what follows. false: it cannot be decoded. */
static bool go_on(ucontext_t *context)
{
	enum insn_result result;

	trap_context = context;
	trap_rip_address = 0;
	stops_at_doorbells = false;
	check_clear();
	result = insn_step(context, &access_table);
	if (result == INSN_UNKNOWN)
		return false;
	if (result == INSN_REFUSED && trap_rip_address)
		sleep_polling();
	else if (loading.wanted)
		ask_register();
	else if (result == INSN_REFUSED && combining.length)
		flush(); /* and try again */
	else if (result == INSN_REFUSED)
		return false;
	carry_on(context);
	return true;
}

/* A fault of a thread that has the token. false: not ours, or an instruction that is not known. */
static bool handle(ucontext_t *context, struct range *range, uint64_t address)
{
	bool handled, outer = trapping;
	ucontext_t *outer_context = trap_context;

	trapping = true;
	insn_distrust();
	if (range) {
		handled = (range->kind == RANGE_REGISTERS || range_page_is_armed(range, address)) &&
			  go_on(context);
	} else {
		handled = clock_rdtsc(context) || processor_cpuid(context);
		if (handled)
			carry_on(context);
	}
	trap_context = outer_context;
	trapping = outer;
	if (!trapping)
		range_set_hot(hot_watched);
	return handled;
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
		trapping = false;
	if (info->si_code == SI_KERNEL)
		return shim_active() ? handle(context, NULL, 0)
				     : clock_rdtsc(context) || processor_cpuid(context);
	range = info->si_code == SEGV_ACCERR ? range_find(address) : NULL;
	if (!range)
		return false;
	if (!shim_active()) { /* a thread that is not ours: let it see the memory */
		if (range->kind == RANGE_REGISTERS)
			return false;
		range_disarm(range);
		range_set_hot(false);
		return true;
	}
	asked = range_is_asked(range, address, 1, hot_watched);
	if (range->kind == RANGE_WATCHED && ++faults[asked] > FAULTS_ALLOWED) {
		poll_unseen(asked);
		range_disarm(range);
		if (asked)
			range_set_hot(false);
		return true;
	}
	if (handle(context, range, address))
		return true;
	range = range_find(address);
	if (!range || range->kind == RANGE_REGISTERS || !range_page_is_armed(range, address))
		return false;
	/* An instruction that is not decoded: it runs on the machine, and watching begins anew later. */
	poll_unseen(asked);
	range_disarm(range);
	range_set_hot(false);
	hot_watched = false;
	return true;
}

/* Has this thread read a clock or been seen to look since the last quantum, or not had the processor for long enough to do so? Then
 * that says when more is watched. */
static bool shows_itself(void)
{
	static const struct shim_slot *slot;
	static uint64_t signs_before, worked_before;
	struct timespec time;
	uint64_t worked;

	(void)system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
	worked = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	if (slot == shim_self.slot && signs_before == signs)
		return worked - worked_before < LEAST_WORK_NS;
	slot = shim_self.slot;
	signs_before = signs;
	worked_before = worked;
	return true;
}

/* No hand-over for a while: the program may be polling. It has its own stack, as it comes at some real time: what it leaves
 * there may be read as an uninitialised variable of the program. */
static void on_quantum(int number, siginfo_t *info, void *where)
{
	const ucontext_t *context = where;

	(void)number;
	(void)info;
	if (shim_self.reaches) {
		shim_self.reaches = false;
		return;
	}
	if (!shim_active() || shim_self.carrying ||
	    trap_stack_holds((uint64_t)context->uc_mcontext.gregs[REG_RSP]))
		return;
	if (shows_itself())
		return;
	ranges_arm(true);
	poll_quantum(true);
}

void trap_init(void)
{
	struct sigaction action = {.sa_sigaction = on_quantum,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _etext[] __attribute__((visibility("hidden")));

	sigfillset(&action.sa_mask);
	(void)REAL(sigaction)(SIGRTMAX - 1, &action, NULL);
	access_table.fence = (uint64_t)(uintptr_t)__ehdr_start;
	access_table.fence_length = (uint64_t)(_etext - __ehdr_start);
	trap_stack_init();
}
