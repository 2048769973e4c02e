/* SPDX-License-Identifier: Apache-2.0 */
/* trap_access: see trap_access.h. */
#include "verbs-shim/preload/trap_access.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_combine.h"
#include "verbs-shim/preload/trap_poll.h"
#include "verbs-shim/preload/trap_watch.h"

/* The callbacks cache quiet pages. The cache lives longer than a trap. */
static struct accesses {
	struct insn_access base;
	struct trap *trap;
	/* Value of range_changes() at the last check of these pages. */
	uint64_t changes;
} accesses;

/* A cached page may have got a range since, or be watched. */
static void forget_changed(void)
{
	if (accesses.changes == range_changes())
		return;
	accesses.changes = range_changes();
	memset(accesses.base.clear, 0, sizeof(accesses.base.clear));
}

static struct trap *trap_of(struct insn_access *access)
{
	return ((struct accesses *)(void *)access)->trap;
}

static bool is_clear(struct insn_access *access, uint64_t page)
{
	(void)access;
	return range_is_quiet(page);
}

static bool is_looked_at(const struct range *range)
{
	return range->kind != RANGE_RING || range->polled;
}

/* Reads a register. If the reply is not there yet, the instruction has no effect, and is executed
 * again when the reply is there. */
static bool load_register(struct trap_load *load, uint64_t address, void *bytes, uint32_t length)
{
	if (load->responded && load->address == address && load->length == length) {
		memcpy(bytes, &load->response, length);
		load->responded = false;
		return true;
	}
	load->wanted = length <= sizeof(load->response);
	load->address = address;
	load->length = length;
	return false;
}

static bool is_within(const struct range *range, uint64_t address, uint32_t length)
{
	return range && address + length <= range->address + range->length;
}

static bool load_range(struct trap *trap, struct range *range, uint64_t address, void *bytes,
		       uint32_t length)
{
	enum poll_kind kind = POLL_NOT;
	bool asked;

	trap->touched |= is_looked_at(range);
	trap_watch.signs++;
	if (range->kind == RANGE_REGISTERS)
		return load_register(&trap->load, address, bytes, length);
	asked = range_is_asked(range, address, length, trap_watch.hot);
	if (is_looked_at(range))
		kind = trap_poll_look(trap->context, range, address, length, asked);
	if (kind == POLL_STILL || kind == POLL_BY_CLOCKS) {
		trap->polled = address;
		trap->by_clocks = kind == POLL_BY_CLOCKS;
		return false;
	}
	if (kind == POLL_PERHAPS)
		trap_watch_unfault(asked);
	memcpy(bytes, range_reach(range, address, length), length);
	return true;
}

/* Returns true if an access must be emulated, and prepares for it. An access to watched memory must
 * be emulated only if it would trap. */
static bool begin(uint64_t address, uint32_t length)
{
	if (!range_traps(address, length, trap_watch.hot))
		return false;
	(void)trap_watch_touch();
	forget_changed();
	return true;
}

static bool load_parts(struct trap *trap, uint64_t address, uint8_t *to, uint32_t length)
{
	if (range_has_registers(address, length))
		return false;
	for (uint32_t part; length > 0; address += part, to += part, length -= part) {
		struct range *range = range_find(address);

		part = range_part(address, length);
		if (!range)
			memcpy(to, (const void *)(uintptr_t)address, part);
		else if (!load_range(trap, range, address, to, part))
			return false;
	}
	return true;
}

static enum insn_access_result load(struct insn_access *access, uint64_t address, void *bytes,
				    uint32_t length)
{
	struct trap *trap = trap_of(access);
	struct range *range;
	bool done;

	if (!begin(address, length))
		return ACCESS_DIRECT;
	range = range_find(address);
	done = is_within(range, address, length) ? load_range(trap, range, address, bytes, length)
						 : load_parts(trap, address, bytes, length);
	return done ? ACCESS_DONE : ACCESS_REFUSED;
}

static bool store_range(struct trap *trap, struct range *range, uint64_t address, const void *bytes,
			uint32_t length)
{
	uint64_t offset;

	if (length > SHIM_BYTES)
		return false;
	if (range->kind != RANGE_REGISTERS) {
		if (range->kind == RANGE_WATCHED &&
		    memcmp(range_reach(range, address, length), bytes, length) != 0)
			trap_poll_stored(range_is_asked(range, address, length, trap_watch.hot));
		memcpy(range_reach(range, address, length), bytes, length);
		return true;
	}
	trap->at_doorbell = trap->stops_at_doorbells;
	if (trap->at_doorbell)
		return false;
	offset = range->offset + (address - range->address);
	if (!trap_combine_store(range->file, offset, bytes, length))
		return false; /* after a flush, the instruction is executed again */
	trap->stored = trap->touched = true;
	return true;
}

static bool store_parts(struct trap *trap, uint64_t address, const uint8_t *from, uint32_t length)
{
	if (range_has_registers(address, length))
		return false;
	for (uint32_t part; length > 0; address += part, from += part, length -= part) {
		struct range *range = range_find(address);

		part = range_part(address, length);
		if (!range)
			memcpy((void *)(uintptr_t)address, from, part);
		else if (!store_range(trap, range, address, from, part))
			return false;
	}
	return true;
}

static enum insn_access_result store(struct insn_access *access, uint64_t address,
				     const void *bytes, uint32_t length)
{
	struct trap *trap = trap_of(access);
	struct range *range;
	bool done;

	if (!begin(address, length))
		return ACCESS_DIRECT;
	range = range_find(address);
	done = is_within(range, address, length) ? store_range(trap, range, address, bytes, length)
						 : store_parts(trap, address, bytes, length);
	return done ? ACCESS_DONE : ACCESS_REFUSED;
}

bool trap_access_call(ucontext_t *context)
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

/* Stores to a doorbell page may wait for the next instructions, not for functions. */
static bool call(struct insn_access *access, ucontext_t *context, uint32_t *left)
{
	struct trap *trap = trap_of(access);

	if (!trap->stops_at_doorbells || *left == 0 || !trap_access_call(context))
		return false;
	if (trap->touched)
		*left = TRAP_RUN;
	trap->touched = false;
	forget_changed();
	return true;
}

struct trap *trap_access_use(struct trap *trap)
{
	struct trap *before = accesses.trap;

	accesses.trap = trap;
	return before;
}

struct insn_access *trap_access_of(struct trap *trap)
{
	(void)trap_access_use(trap);
	forget_changed();
	return &accesses.base;
}

/* Sets the callbacks. The library's own instructions are not emulated. */
void trap_access_init(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _etext[] __attribute__((visibility("hidden")));

	accesses.base = (struct insn_access){.load = load,
					     .store = store,
					     .is_clear = is_clear,
					     .call = call,
					     .fence = (uint64_t)(uintptr_t)__ehdr_start,
					     .fence_length = (uint64_t)(_etext - __ehdr_start)};
}
