/* SPDX-License-Identifier: Apache-2.0 */
/* trap_poll: see trap_poll.h. These functions run in signal handlers. They allocate nothing, and
 * call no function that could lock. */
#include "verbs-shim/preload/trap_poll.h"

#include <string.h>
#include <sys/auxv.h>

#include "verbs-shim/preload/shim.h"

#define LOOKS          512  /* a power of two */
#define LOOPS          4096 /* number of loops with known spans */
#define LOOP_CHAINS    4096 /* a power of two */
#define LOOK_WAYS      16   /* places that a look may take */
#define LOOKS_RING     2    /* repetitions in the same state that prove polling */
#define LOOKS_WATCHED  8
#define LOOKS_COUNTING 256   /* the same for a loop whose state changes, as one that counts */
#define LOOKS_STORING  65536 /* the same for a loop that fills memory of the HCA */
/* A loop with clocks polls after this many ps of iterations without a change. */
#define CLOCKED_FROM      UINT64_C(2000000)
#define CLOCKED_ITERATION UINT64_C(1000000) /* maximum duration of an iteration, in ps */
#define CLOCKED_LOOKS     2  /* reads of the same address that prove a whole iteration */
#define STACK_WORDS       64 /* words of the stack in the compared state */
/* The stack of the first thread has all addresses that are this near below its end. */
#define FIRST_STACK (UINT64_C(8) << 20)
#define HASH_BASE   UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)
#define HASH_LANES  8 /* a power of two */
#define SPREAD      UINT64_C(0x9e3779b97f4a7c15)

struct look {
	uint64_t rip, address, clock, visible_writes, generation, state;
	uint32_t count, in_state, stores, storing;
	struct clocked {
		uint64_t value, epoch, round;
		uint64_t since, last; /* of the program's clock, without its sleeps */
		uint32_t stores, looks;
	} clocked;
};
/* counts actions of the program other than reads of polled memory and clocks */
static uint64_t epoch;
static __thread uint64_t slept; /* in loops with clocks */

struct spans {
	struct shim_span list[SHIM_SPANS];
	uint32_t count; /* 0: any byte */
};

/* Observations of the program. A quantum ends at an arbitrary real time, and more memory is watched
 * from then on. Observations of this memory may show that the program polls. They do not affect the
 * other observations, which are the same in each run. */
static struct view {
	struct look looks[LOOKS];
	uint64_t keys[LOOKS]; /* of the looks, close together: a search reads a set of them */
	uint16_t last[LOOKS]; /* look that was found last, by other bits of the key */
	uint32_t victim;      /* index of the look that a new look replaces */
	uint32_t stores;      /* that changed memory of the HCA */
	uint64_t generation;
	struct spans seen; /* bytes read since trap_poll_restart() */
	bool incomplete;   /* the program also read other bytes */
} asked, with_quantum;
static bool quantum_ended;         /* observations go to with_quantum too */
static struct view *found_polling; /* by trap_poll_look() */

/* Loops with known spans. A new loop replaces the loop that was used longest ago. This choice does
 * not depend on the keys, because keys contain stack addresses, which depend on the number of
 * environment variables. */
static struct loop {
	uint64_t key, used;
	uint32_t next; /* in its chain: index + 1, or 0 */
	struct spans spans;
} loops[LOOPS];
static uint32_t loop_count, loop_chains[LOOP_CHAINS]; /* index + 1 of the first loop, or 0 */
static uint64_t loop_uses;

/* How far the spans of a loop are known when it is found polling. */
static enum { FOUND, FOUND_AGAIN, WATCHED } stage;

static const uint64_t *stack_top(const ucontext_t *context)
{
	uint64_t top = (uint64_t)context->uc_mcontext.gregs[REG_RSP];

	return (const uint64_t *)(uintptr_t)(top & ~UINT64_C(7));
}

/* Returns the number of words that are compared, from the top of the stack on. On the stack of the
 * first thread they reach at most to its end. The place of this stack in its pages depends on the
 * number of environment variables, so a page boundary may not end them. On other stacks, whose end
 * is not known, they reach at most to the end of the page. */
static uint64_t stack_words(const ucontext_t *context)
{
	static uint64_t first_end;
	uint64_t top = (uint64_t)(uintptr_t)stack_top(context), left;

	if (!first_end)
		first_end = getauxval(AT_EXECFN);
	left = first_end - top < FIRST_STACK ? first_end - top : PAGE - (top & (PAGE - 1));
	return left < STACK_WORDS * sizeof(uint64_t) ? left / sizeof(uint64_t) : STACK_WORDS;
}

/* Returns a hash of the registers and the nearest part of the stack. Any other action of the
 * program changes these. */
static uint64_t program_state(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	const uint64_t *stack = stack_top(context);
	uint64_t words = stack_words(context), state = HASH_BASE;
	uint64_t lanes[HASH_LANES] = {0}; /* side by side: a product takes long */

#pragma GCC unroll 8
	for (uint64_t lane = 0; lane < HASH_LANES; lane++)
		lanes[lane] = ((uint64_t)registers[lane] * HASH_FACTOR ^
			       (uint64_t)registers[HASH_LANES + lane]) *
			      HASH_FACTOR;
	for (uint64_t i = 0; i + HASH_LANES <= words; i += HASH_LANES)
#pragma GCC unroll 8
		for (uint64_t lane = 0; lane < HASH_LANES; lane++)
			lanes[lane] = (lanes[lane] ^ stack[i + lane]) * HASH_FACTOR;
	for (uint64_t i = words & ~(uint64_t)(HASH_LANES - 1); i < words; i++)
		state = (state ^ stack[i]) * HASH_FACTOR;
#pragma GCC unroll 4
	for (uint64_t half = HASH_LANES / 2; half > 0; half /= 2)
#pragma GCC unroll 4
		for (uint64_t lane = 0; lane < half; lane++)
			lanes[lane] = (lanes[lane] * HASH_FACTOR ^ lanes[half + lane]) * SPREAD;
	return (state ^ lanes[0]) * HASH_FACTOR;
}

/* Upper halves of addresses of the stack, the code, and the polled memory. */
struct neighbours {
	uint64_t stack, code, program, polled;
};

static struct neighbours neighbours_of(const ucontext_t *context, uint64_t address)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	static uint64_t entry;

	if (!entry)
		entry = getauxval(AT_ENTRY);
	return (struct neighbours){.stack = (uint64_t)registers[REG_RSP] >> 32,
				   .code = (uint64_t)registers[REG_RIP] >> 32,
				   .program = entry >> 32,
				   .polled = address >> 32};
}

/* Returns true if the value is in the same 4 GiB as the stack, the code, or the polled memory. A
 * value that is two adjacent counters is not. */
static bool is_pointer(const struct neighbours *neighbours, uint64_t value)
{
	uint64_t high = value >> 32;

	return (high == neighbours->stack) | (high == neighbours->code) |
	       (high == neighbours->program) | (high == neighbours->polled);
}

/* Adds a value to the key. A pointer into a ring counts as a pointer to the ring, because a polling
 * loop reads one entry after the other. */
static uint64_t with_pointer(uint64_t key, uint64_t value)
{
	const struct range *range = range_find(value);

	if (range && range->kind != RANGE_WATCHED)
		value = range->address ^ range->length;
	return (key ^ value) * HASH_FACTOR;
}

/* Returns a key of the polling loop. It depends on the instruction, the stack depth, the polled
 * address, and all pointers in registers and on the stack, including return addresses. */
static uint64_t loop_key(const ucontext_t *context, uint64_t address)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	const uint64_t *stack = stack_top(context);
	uint64_t words = stack_words(context), key = (uint64_t)registers[REG_RIP];
	const struct neighbours neighbours = neighbours_of(context, address);

	key = with_pointer(key * 31 + (uint64_t)registers[REG_RSP], address);
	for (int i = REG_R8; i <= REG_RSP; i++)
		if (is_pointer(&neighbours, (uint64_t)registers[i]))
			key = with_pointer(key, (uint64_t)registers[i]);
	for (uint64_t i = 0; i < words; i++)
		if (is_pointer(&neighbours, stack[i]))
			key = with_pointer(key, stack[i]);
	return key;
}

static uint32_t *chain_of(uint64_t key)
{
	return &loop_chains[(uint32_t)(key * SPREAD >> 40) % LOOP_CHAINS];
}

/* Returns NULL if the spans of the loop are not known. */
static struct loop *loop_find(uint64_t key)
{
	for (uint32_t i = *chain_of(key); i; i = loops[i - 1].next)
		if (loops[i - 1].key == key) {
			loops[i - 1].used = ++loop_uses;
			return &loops[i - 1];
		}
	return NULL;
}

/* Takes the loop that was used longest ago out of its chain. Returns its index. */
static uint32_t loop_replace(void)
{
	uint32_t oldest = 0, *link;

	for (uint32_t i = 1; i < LOOPS; i++)
		if (loops[i].used < loops[oldest].used)
			oldest = i;
	link = chain_of(loops[oldest].key);
	while (*link != oldest + 1)
		link = &loops[*link - 1].next;
	*link = loops[oldest].next;
	return oldest;
}

static struct loop *loop_add(uint64_t key, const struct spans *spans)
{
	uint32_t index = loop_count < LOOPS ? loop_count++ : loop_replace();
	uint32_t *chain = chain_of(key);

	loops[index] =
		(struct loop){.key = key, .used = ++loop_uses, .next = *chain, .spans = *spans};
	*chain = index + 1;
	return &loops[index];
}

/* Returns the slot of the look: its own slot, or the slot of another look of the same set. */
static struct look *look_at(struct view *view, uint64_t rip, uint64_t address)
{
	uint64_t mixed = (rip * 31 + address) * SPREAD;
	uint32_t first = (uint32_t)(mixed >> 40) % LOOKS & ~(uint32_t)(LOOK_WAYS - 1);
	uint16_t *last = &view->last[mixed >> 32 & (LOOKS - 1)];

	if (view->keys[*last] == mixed && view->looks[*last].rip == rip &&
	    view->looks[*last].address == address)
		return &view->looks[*last];
	for (uint32_t i = first; i < first + LOOK_WAYS; i++)
		if (view->keys[i] == mixed && view->looks[i].rip == rip &&
		    view->looks[i].address == address) {
			*last = (uint16_t)i;
			return &view->looks[i];
		}
	first += view->victim++ % LOOK_WAYS;
	view->keys[first] = mixed;
	return &view->looks[first];
}

/* Returns true if the loop has found the same bytes for a while, and only read clocks in
 * between. */
static bool is_waiting(const struct view *view, struct clocked *look, uint64_t value)
{
	uint64_t now = gate_now() - slept;

	if (look->epoch != epoch || look->value != value || look->stores != view->stores ||
	    now - look->last > CLOCKED_ITERATION) {
		*look = (struct clocked){
			.value = value, .epoch = epoch, .since = now, .stores = view->stores};
	}
	look->looks = look->round == view->generation ? look->looks + 1 : 1;
	look->round = view->generation;
	look->last = now;
	return look->looks > CLOCKED_LOOKS && now - look->since >= CLOCKED_FROM;
}

static enum poll_kind by_clocks(const struct clocked *look, bool waiting)
{
	return waiting ? POLL_BY_CLOCKS : look->looks > 1 ? POLL_PERHAPS : POLL_NOT;
}

/* Returns a result other than POLL_NOT if this instruction has read this address often enough with
 * no change in between. */
static enum poll_kind is_polling(struct view *view, const ucontext_t *context,
				 const struct range *range, uint64_t address, uint64_t value)
{
	uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	uint64_t visible_writes = shim_self.slot->visible_writes;
	struct look *look = look_at(view, rip, address);
	uint32_t enough = range->kind == RANGE_RING ? LOOKS_RING : LOOKS_WATCHED;
	uint64_t state = program_state(context);
	bool known = look->rip == rip && look->address == address;
	bool still = known && look->clock == gate_now() && look->visible_writes == visible_writes &&
		     look->generation == view->generation;
	bool waiting;

	if (!known)
		look->clocked = (struct clocked){.epoch = UINT64_MAX};
	waiting = is_waiting(view, &look->clocked, value);
	if (still) {
		bool stored = range->kind == RANGE_WATCHED && look->stores != view->stores;

		look->in_state = look->state == state && !stored ? look->in_state + 1 : 1;
		look->state = state;
		look->stores = view->stores;
		look->count = stored ? 0 : look->count + 1;
		look->storing += stored;
		if (look->in_state >= enough || look->count >= LOOKS_COUNTING ||
		    look->storing >= LOOKS_STORING)
			return POLL_STILL;
		return by_clocks(&look->clocked, waiting);
	}
	look->rip = rip;
	look->address = address;
	look->clock = gate_now();
	look->visible_writes = visible_writes;
	look->generation = view->generation;
	look->state = state;
	look->stores = view->stores;
	look->storing = 0;
	look->count = look->in_state = 1;
	return by_clocks(&look->clocked, waiting);
}

/* Adds read bytes to the seen spans. A read of one ring entry adds the whole ring, so that
 * observations of a loop also apply to its next entry. */
static void see(struct view *view, const struct range *range, uint64_t address, uint32_t length)
{
	struct spans *seen = &view->seen;
	uint64_t start = range->kind == RANGE_RING ? range->address : address;
	uint64_t end = range->kind == RANGE_RING ? start + range->length : address + length;

	for (uint32_t i = 0; i < seen->count;) {
		struct shim_span known = seen->list[i];

		if (start >= known.address && end <= known.address + known.length)
			return;
		if (start > known.address + known.length || end < known.address) {
			i++;
			continue;
		}
		start = start < known.address ? start : known.address;
		end = end > known.address + known.length ? end : known.address + known.length;
		seen->list[i] = seen->list[--seen->count];
	}
	if (seen->count < SHIM_SPANS)
		seen->list[seen->count++] = (struct shim_span){start, end - start};
	else
		view->incomplete = true;
}

static bool is_what_was_seen(const struct view *view, const struct spans *spans)
{
	const struct spans *seen = &view->seen;

	if (view->incomplete || spans->count != seen->count)
		return false;
	for (uint32_t i = 0; i < seen->count; i++) {
		uint32_t at = 0;

		while (at < seen->count && (spans->list[at].address != seen->list[i].address ||
					    spans->list[at].length != seen->list[i].length))
			at++;
		if (at == seen->count)
			return false;
	}
	return true;
}

static uint64_t value_of(struct range *range, uint64_t address, uint32_t length)
{
	const uint8_t *bytes = range_reach(range, address, length);
	uint64_t value = HASH_BASE, word;

	for (; length >= sizeof(word); bytes += sizeof(word), length -= (uint32_t)sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		value = (value ^ word) * HASH_FACTOR;
	}
	for (word = 0; length > 0; length--)
		word = word << 8 | bytes[length - 1];
	return (value ^ word) * HASH_FACTOR;
}

static enum poll_kind look(struct view *view, const ucontext_t *context, struct range *range,
			   uint64_t address, uint32_t length)
{
	enum poll_kind kind;

	see(view, range, address, length);
	kind = is_polling(view, context, range, address, value_of(range, address, length));
	if (kind == POLL_STILL || kind == POLL_BY_CLOCKS)
		found_polling = view;
	return kind;
}

enum poll_kind trap_poll_look(const ucontext_t *context, struct range *range, uint64_t address,
			      uint32_t length, bool is_asked)
{
	enum poll_kind kind = POLL_NOT, since_quantum = POLL_NOT;

	if (range->kind == RANGE_WATCHED &&
	    (address + length <= range->first || address >= range->end))
		return POLL_NOT; /* a neighbour of memory that the HCA writes */
	if (quantum_ended)
		since_quantum = look(&with_quantum, context, range, address, length);
	if (is_asked)
		kind = look(&asked, context, range, address, length);
	return kind > since_quantum ? kind : since_quantum;
}

/* Makes the page of an address hot if it is watched. A span may end in a range of another kind than
 * it begins in. */
static void heat(uint64_t address)
{
	const struct range *range = range_find(address);

	if (range && range->kind == RANGE_WATCHED)
		range_make_hot(address);
}

enum poll_verdict trap_poll_enter(const ucontext_t *context, uint64_t address,
				  struct shim_slot *slot, bool shows_peers)
{
	uint64_t key = loop_key(context, address);
	struct loop *loop = loop_find(key);
	struct view *view = found_polling;

	if (stage == WATCHED) {
		if (view->incomplete)
			view->seen.count = 0;
		if (loop)
			loop->spans = view->seen;
		else
			loop = loop_add(key, &view->seen);
	} else if (!loop || !shows_peers ||
		   (loop->spans.count && !is_what_was_seen(view, &loop->spans))) {
		bool again = loop && stage == FOUND; /* it may have read more before */

		trap_poll_restart();
		stage = again ? FOUND_AGAIN : WATCHED;
		return again ? POLL_AGAIN : POLL_WATCH;
	}
	for (uint32_t i = 0; i < loop->spans.count; i++) {
		const struct shim_span *span = &loop->spans.list[i];

		heat(span->address);
		heat(span->address + span->length - 1);
	}
	slot->span_count = loop->spans.count;
	if (memcmp(slot->spans, loop->spans.list, slot->span_count * sizeof(slot->spans[0])) != 0)
		memcpy(slot->spans, loop->spans.list, sizeof(slot->spans));
	slot->peers = 0;
	for (uint32_t i = 0; i < slot->span_count; i++)
		slot->peers |= (uint32_t)range_is_peers(slot->spans[i].address) << i;
	return POLL_ENTERED;
}

static void restart(struct view *view)
{
	view->generation++;
	view->incomplete = false;
	view->seen.count = 0;
}

void trap_poll_restart(void)
{
	stage = FOUND;
	restart(&asked);
	restart(&with_quantum);
}

void trap_poll_quantum(bool ended)
{
	quantum_ended = ended;
	restart(&with_quantum);
}

void trap_poll_acted(void)
{
	epoch++;
}

void trap_poll_slept(uint64_t time)
{
	slept += time;
}

void trap_poll_stored(bool is_asked)
{
	asked.stores += is_asked;
	with_quantum.stores++;
}

void trap_poll_unseen(bool is_asked)
{
	asked.incomplete |= is_asked;
	with_quantum.incomplete = true;
}
