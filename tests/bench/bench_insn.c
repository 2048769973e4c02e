/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_insn: measures the processor time to execute an instruction after a trap
 * (verbs-shim/preload/insn). The code resembles libibverbs and libmlx5. It polls a queue through a
 * table of functions, and checks, converts and copies entries. The queue has an entry every fourth
 * time. The same code runs on the processor for comparison.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "verbs-shim/preload/insn.h"

#define TURNS      200000u
#define STACK      16384u
#define RANGES     24u
#define MOST       400u
#define PAGE_BYTES UINT64_C(4096)

struct entry {
	uint32_t number, length;
	uint8_t reserved[7], owner;
};

struct completion {
	uint64_t id;
	uint32_t status, opcode, length, number;
};

struct queue {
	int (*poll)(struct queue *queue, uint32_t most, struct completion *completions);
	struct entry *entries;
	uint64_t *ids;
	uint32_t head, mask, taken;
};

static struct queue queue;
static struct {
	uint64_t address, length;
} ranges[RANGES]; /* that are watched, as range.c has them */

static __attribute__((noinline)) const struct entry *next_entry(struct queue *from)
{
	const struct entry *entry = &from->entries[from->head & from->mask];
	uint8_t owner = (uint8_t)((from->head & (from->mask + 1)) != 0);

	return (entry->owner & 1) == owner && entry->owner >> 4 != 0xf ? entry : NULL;
}

static __attribute__((noinline)) int take_entry(struct queue *from, const struct entry *entry,
						struct completion *completion)
{
	uint32_t number = __builtin_bswap32(entry->number) & 0xffffff;

	completion->id = from->ids[from->head & from->mask];
	completion->number = number;
	completion->length = __builtin_bswap32(entry->length);
	completion->status = 0;
	switch (entry->owner >> 4) {
	case 0:
		completion->opcode = 1;
		break;
	case 2:
		completion->opcode = 128;
		break;
	default:
		return -1;
	}
	from->head++;
	return 0;
}

static int poll_queue(struct queue *from, uint32_t most, struct completion *completions)
{
	uint32_t found;

	for (found = 0; found < most; found++) {
		const struct entry *entry = next_entry(from);

		if (!entry || take_entry(from, entry, &completions[found]) != 0)
			break;
	}
	from->taken += found;
	return (int)found;
}

/* The program: turns that find nothing three times of four. */
static __attribute__((noinline)) uint64_t turns(uint64_t count)
{
	struct completion completions[2];
	uint64_t sum = 0;

	for (uint64_t turn = 0; turn < count; turn++) {
		if (turn % 4 == 0) { /* an entry of this round */
			struct entry *entry = &queue.entries[queue.head & queue.mask];

			entry->number = __builtin_bswap32((uint32_t)turn);
			entry->length = __builtin_bswap32(64);
			entry->owner = (uint8_t)((queue.head & (queue.mask + 1)) != 0) |
				       (uint8_t)(turn & 8 ? 0x20 : 0);
		}
		if (queue.poll(&queue, 2, completions) > 0)
			sum += completions[0].number + completions[0].length + completions[0].id;
	}
	return sum;
}

static uint32_t range_after(uint64_t address)
{
	uint32_t low = 0, high = RANGES;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (ranges[middle].address + ranges[middle].length <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool touches(uint64_t address, uint64_t length)
{
	uint32_t index = range_after(address);

	return index < RANGES && ranges[index].address < address + length;
}

static bool access_is_clear(struct insn_access *access, uint64_t page)
{
	(void)access;
	return !touches(page, PAGE_BYTES);
}

static enum insn_access_result access_load(struct insn_access *access, uint64_t address,
					   void *bytes, uint32_t length)
{
	(void)access;
	if (!touches(address, length))
		return ACCESS_DIRECT;
	memcpy(bytes, (const void *)address, length);
	return ACCESS_DONE;
}

static enum insn_access_result access_store(struct insn_access *access, uint64_t address,
					    const void *bytes, uint32_t length)
{
	(void)access;
	if (!touches(address, length))
		return ACCESS_DIRECT;
	memcpy((void *)address, bytes, length);
	return ACCESS_DONE;
}

static double processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void make_queue(void)
{
	enum { ENTRIES = 256 };

	queue = (struct queue){.poll = poll_queue, .mask = ENTRIES - 1};
	queue.entries = aligned_alloc(PAGE_BYTES, sizeof(struct entry) * ENTRIES);
	queue.ids = calloc(ENTRIES, sizeof(*queue.ids));
	memset(queue.entries, 0xff, sizeof(struct entry) * ENTRIES);
	for (uint32_t i = 0; i < RANGES; i++) {
		ranges[i].address = UINT64_C(0x1000000000) + i * 2 * PAGE_BYTES;
		ranges[i].length = PAGE_BYTES;
	}
	ranges[RANGES - 1].address = (uint64_t)(uintptr_t)queue.entries;
}

/* From the context's registers until an instruction that is not known. */
static uint64_t carry_out(ucontext_t *context)
{
	static struct insn_access access = {
		.load = access_load, .store = access_store, .is_clear = access_is_clear};
	enum insn_result result;
	uint64_t all = 0;
	uint32_t count;

	do {
		insn_distrust();
		result = insn_run(context, &access, MOST, &count);
		all += count;
	} while (result == INSN_DONE);
	return all;
}

int main(void)
{
	static uint8_t stack[STACK] __attribute__((aligned(64)));
	static uint8_t stop[2] = {0x0f, 0x05}; /* SYSCALL: not carried out */
	static ucontext_t context;
	const uint64_t back = (uint64_t)(uintptr_t)stop;
	uint64_t top = (uint64_t)(uintptr_t)(stack + STACK - 64) - sizeof(back), expected, all;
	double before, native_ns, carried_ns;

	if (getcontext(&context) != 0)
		return 1;
	make_queue();
	before = processor_ns();
	expected = turns(TURNS);
	native_ns = processor_ns() - before;
	make_queue();
	memcpy((void *)top, &back, sizeof(back));
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)turns;
	context.uc_mcontext.gregs[REG_RDI] = TURNS;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)top;
	before = processor_ns();
	all = carry_out(&context);
	carried_ns = processor_ns() - before;
	if ((uint64_t)context.uc_mcontext.gregs[REG_RIP] != back ||
	    (uint64_t)context.uc_mcontext.gregs[REG_RAX] != expected) {
		printf("stopped in the middle: an instruction is not known\n");
		return 1;
	}
	printf("carried out: %llu instructions, %.2f ns each of processor time; by the processor "
	       "%.2f ns\n",
	       (unsigned long long)all, carried_ns / (double)all, native_ns / (double)all);
	return 0;
}
