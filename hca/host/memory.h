/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what DMA reads and writes: one address space of a host. Two kinds live here, `buffer` (tests, and
 * rings of YAML workloads) and `none` (lengths only); a program's own memory is the shim's (session/).
 *
 * Bytes move at the instant of the call; when that is, is PCIe's affair (pcie.h).
 */
#ifndef HCA_HOST_MEMORY_H
#define HCA_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

struct memory_ops {
	/* false: some of it is not mapped, or not with that right; nothing is promised about the rest. */
	bool (*read)(struct memory *memory, uint64_t address, void *bytes, uint32_t length);
	bool (*write)(struct memory *memory, uint64_t address, const void *bytes, uint32_t length);
	/* Returns true if every page of [address, address + length) can be read. NULL: by reading a byte of each. */
	bool (*probe)(struct memory *memory, uint64_t address, uint64_t length);
};

struct memory { /* embedded in each kind */
	const struct memory_ops *ops;
	const char *name;
	bool has_bytes; /* false: lengths only; packets then carry no payload */
};

static inline bool memory_read(struct memory *memory, uint64_t address, void *bytes,
			       uint32_t length)
{
	return memory->ops->read(memory, address, bytes, length);
}

static inline bool memory_write(struct memory *memory, uint64_t address, const void *bytes,
				uint32_t length)
{
	return memory->ops->write(memory, address, bytes, length);
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

/* `bytes` zeroed bytes at addresses [base, base + bytes). */
struct memory *memory_buffer_create(uint64_t base, uint64_t bytes);
void memory_buffer_destroy(struct memory *memory);

/* Reads give nothing, writes go nowhere, every address is mapped. One for all. */
struct memory *memory_none(void);

#endif
