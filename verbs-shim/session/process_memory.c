/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_memory: memory of a running program as DMA accesses it. The program shares pages of rings
 * and doorbell records with the simulator. It also shares pages of memory regions if the program
 * cannot notice it. The simulator accesses shared pages by loads and stores, and other memory with
 * process_vm_readv() and process_vm_writev(). No thread of the program runs meanwhile, so a
 * read-modify-write is atomic.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hca/host/memory.h"
#include "verbs-shim/session/state.h"

#define PROBE_PAGES 1024 /* IOV_MAX */
/* limit for regions, so that later rings have room */
#define REGION_BYTES (SHIM_QUEUE_BYTES / 4 * 3)

/* Returns the first range that ends after the address, or range_count. */
static uint32_t range_after(struct process_memory *memory, uint64_t address)
{
	uint32_t low = 0, high = memory->range_count;

	if (memory->hint < memory->range_count) {
		const struct shared_range *range = &memory->ranges[memory->hint];
		if (address >= range->address && address - range->address < range->length)
			return memory->hint;
	}
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct shared_range *range = &memory->ranges[middle];
		if (range->address + range->length <= address)
			low = middle + 1;
		else
			high = middle;
	}
	memory->hint = low;
	return low;
}

/* Copies bytes between the process and *bytes, in one direction. */
static bool move(struct process_memory *memory, uint64_t address, void *bytes, uint32_t length,
		 bool out)
{
	uint8_t *local = bytes;

	if (!memory->process->alive)
		return false;
	while (length > 0) {
		uint32_t index = range_after(memory, address);
		const struct shared_range *range =
			index < memory->range_count ? &memory->ranges[index] : NULL;
		uint64_t chunk = length;

		if (range && address >= range->address) {
			uint8_t *shared =
				memory->queue + range->offset + (address - range->address);
			if (chunk > range->address + range->length - address)
				chunk = range->address + range->length - address;
			if (out)
				memcpy(shared, local, chunk);
			else
				memcpy(local, shared, chunk);
		} else {
			struct iovec here = {local, 0}, there = {(void *)(uintptr_t)address, 0};
			ssize_t moved;
			if (range && chunk > range->address - address)
				chunk = range->address - address;
			here.iov_len = there.iov_len = chunk;
			moved = out ? process_vm_writev(memory->process->real_pid, &here, 1, &there,
							1, 0)
				    : process_vm_readv(memory->process->real_pid, &here, 1, &there,
						       1, 0);
			if (moved != (ssize_t)chunk)
				return false;
		}
		address += chunk;
		local += chunk;
		length -= (uint32_t)chunk;
	}
	return true;
}

static bool process_read(struct memory *base, uint64_t address, void *bytes, uint32_t length)
{
	return move(container_of(base, struct process_memory, base), address, bytes, length, false);
}

static bool process_write(struct memory *base, uint64_t address, const void *bytes, uint32_t length)
{
	struct process_memory *memory = container_of(base, struct process_memory, base);

	if (!move(memory, address, (void *)(uintptr_t)bytes, length, true))
		return false;
	session_visible_write(memory->process, address, length);
	return true;
}

/* Reads a byte of each page between shared ranges, with as many pages per call as possible. */
static bool probe_pages(const struct process_memory *memory, uint64_t address, uint64_t end)
{
	static uint8_t bytes[PROBE_PAGES];
	static struct iovec there[PROBE_PAGES];

	while (address < end) {
		struct iovec here = {bytes, 0};

		for (; address < end && here.iov_len < PROBE_PAGES;
		     address = (address | (MEMORY_PAGE - 1)) + 1)
			there[here.iov_len++] = (struct iovec){(void *)(uintptr_t)address, 1};
		if (process_vm_readv(memory->process->real_pid, &here, 1, there, here.iov_len, 0) !=
		    (ssize_t)here.iov_len)
			return false;
	}
	return true;
}

static bool process_probe(struct memory *base, uint64_t address, uint64_t length)
{
	struct process_memory *memory = container_of(base, struct process_memory, base);
	uint64_t end = address + length;

	while (memory->process->alive && address < end) {
		uint32_t index = range_after(memory, address);
		const struct shared_range *range =
			index < memory->range_count ? &memory->ranges[index] : NULL;
		uint64_t stop = range && range->address < end ? range->address : end;

		if (address < stop && !probe_pages(memory, address, stop))
			return false;
		address = range && stop < end ? range->address + range->length : end;
	}
	return memory->process->alive;
}

static const struct memory_ops process_memory_ops = {process_read, process_write, process_probe};

bool process_memory_init(struct process_memory *memory, struct process *process)
{
	*memory = (struct process_memory){
		.base = {.ops = &process_memory_ops, .name = "process", .has_bytes = true},
		.process = process};
	memory->queue_fd = memfd_create("hcasim-queues", MFD_CLOEXEC);
	assert(memory->queue_fd >= 0);
	assert(ftruncate(memory->queue_fd, (off_t)SHIM_QUEUE_BYTES) == 0);
	memory->queue = mmap(NULL, SHIM_QUEUE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_NORESERVE, memory->queue_fd, 0);
	if (memory->queue != MAP_FAILED)
		return true;
	close(memory->queue_fd);
	memory->queue = NULL;
	return false;
}

void process_memory_fini(struct process_memory *memory)
{
	if (memory->queue)
		munmap(memory->queue, SHIM_QUEUE_BYTES);
	if (memory->queue)
		close(memory->queue_fd);
	free(memory->ranges);
	memory->ranges = NULL;
	memory->queue = NULL;
	memory->range_count = memory->range_room = 0;
}

static void insert(struct process_memory *memory, uint32_t at, struct shared_range range)
{
	if (memory->range_count == memory->range_room) {
		memory->range_room = memory->range_room ? 2 * memory->range_room : 64;
		memory->ranges =
			realloc(memory->ranges, memory->range_room * sizeof(*memory->ranges));
		assert(memory->ranges);
	}
	memmove(&memory->ranges[at + 1], &memory->ranges[at],
		(memory->range_count - at) * sizeof(range));
	memory->ranges[at] = range;
	memory->range_count++;
}

/* Shares the pages that are not shared yet. */
static void share(struct process_memory *memory, uint64_t address, uint64_t end,
		  enum shared_kind kind, struct shim_response *response)
{
	uint64_t limit = kind == SHARED_REGION ? REGION_BYTES : SHIM_QUEUE_BYTES;

	while (address < end && response->range_count < SHIM_RANGES) {
		uint32_t index = range_after(memory, address);
		uint64_t stop = end;

		if (index < memory->range_count) {
			const struct shared_range *range = &memory->ranges[index];
			if (range->address <= address) {
				address = range->address + range->length;
				continue;
			}
			if (stop > range->address)
				stop = range->address;
		}
		if (memory->queue_used + (stop - address) > limit)
			return; /* reached by process_vm_* as any other memory */
		insert(memory, index,
		       (struct shared_range){address, stop - address, memory->queue_used, kind});
		response->ranges[response->range_count].address = address;
		response->ranges[response->range_count].length = stop - address;
		response->ranges[response->range_count].offset = memory->queue_used;
		response->range_count++;
		response->region_count += kind == SHARED_REGION;
		memory->queue_used += stop - address;
		address = stop;
	}
}

void process_memory_share(struct process_memory *memory, uint64_t address, uint64_t length,
			  bool polled, struct shim_response *response)
{
	uint32_t before = response->range_count;

	process_memory_forget(memory, address, length, SHARED_REGION);
	share(memory, address & ~(MEMORY_PAGE - 1),
	      (address + length + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1), SHARED_RING, response);
	for (uint32_t i = before; polled && i < response->range_count; i++)
		response->polled |= UINT32_C(1) << i;
}

void process_memory_share_region(struct process_memory *memory, uint64_t address, uint64_t length,
				 struct shim_response *response)
{
	uint64_t end = (address + length + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);

	address &= ~(MEMORY_PAGE - 1);
	while (address < end && response->range_count < SHIM_RANGES) {
		uint64_t stop = end;

		if (!mappings_own(memory->process->real_pid, &address, &stop))
			return;
		share(memory, address, stop, SHARED_REGION, response);
		address = stop;
	}
}

void process_memory_forget(struct process_memory *memory, uint64_t address, uint64_t length,
			   enum shared_kind kinds)
{
	uint64_t end = (address + length + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);

	address &= ~(MEMORY_PAGE - 1);
	while (address < end) {
		uint32_t index = range_after(memory, address);
		struct shared_range range;

		if (index >= memory->range_count || memory->ranges[index].address >= end)
			return;
		range = memory->ranges[index];
		if (!(range.kind & kinds)) {
			address = range.address + range.length;
			continue;
		}
		memory->range_count--;
		memmove(&memory->ranges[index], &memory->ranges[index + 1],
			(memory->range_count - index) * sizeof(range));
		if (range.address + range.length > end)
			insert(memory, index,
			       (struct shared_range){end, range.address + range.length - end,
						     range.offset + (end - range.address),
						     range.kind});
		if (range.address < address)
			insert(memory, index,
			       (struct shared_range){range.address, address - range.address,
						     range.offset, range.kind});
	}
}
