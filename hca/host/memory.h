/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: one address space of a host, which DMA reads and writes. Two kinds are defined here:
 * `buffer` (tests and rings of YAML workloads) and `none` (lengths only). The memory of a program
 * is defined in session/.
 *
 * The functions move the bytes at once. pcie.h determines the time of the call.
 */
#ifndef HCA_HOST_MEMORY_H
#define HCA_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

struct memory_ops {
	/* Move bytes. Return false if a part of the range is not mapped, or not with the required
	 * right. The bytes that were moved are then undefined. */
	bool (*load)(struct memory *memory, uint64_t address, void *bytes, uint32_t length);
	bool (*store)(struct memory *memory, uint64_t address, const void *bytes, uint32_t length);
	/* Returns true if every page of [address, address + length) can be read. NULL if the memory
	 * is probed by reading one byte per page. */
	bool (*probe)(struct memory *memory, uint64_t address, uint64_t length);
};

struct memory { /* embedded in each kind */
	const struct memory_ops *ops;
	const char *name;
	bool has_bytes; /* false if only lengths are simulated; packets then carry no payload */
};

static inline bool memory_read(struct memory *memory, uint64_t address, void *bytes,
			       uint32_t length)
{
	return memory->ops->load(memory, address, bytes, length);
}

static inline bool memory_write(struct memory *memory, uint64_t address, const void *bytes,
				uint32_t length)
{
	return memory->ops->store(memory, address, bytes, length);
}

#define MEMORY_PAGE UINT64_C(4096)

static inline bool memory_probe(struct memory *memory, uint64_t address, uint64_t length)
{
	uint8_t byte;

	if (memory->ops->probe)
		return memory->ops->probe(memory, address, length);
	for (uint64_t at = address, end = address + length; at < end;
	     at = (at | (MEMORY_PAGE - 1)) + 1)
		if (!memory_read(memory, at, &byte, 1))
			return false;
	return true;
}

/* Creates memory of `bytes` zeroed bytes at addresses [base, base + bytes). */
struct memory *memory_buffer_create(uint64_t base, uint64_t bytes);
void memory_buffer_destroy(struct memory *memory);

/* Returns the memory without bytes, a single object. Every address is mapped. Reads return no bytes
 * and writes are discarded. */
struct memory *memory_none(void);

#endif
