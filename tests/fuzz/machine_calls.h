/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_calls: a sequence of system calls from any bytes, for fuzz targets of the emulated
 * kernel.
 * Each call has a length, a kind, and the bytes of its arguments. Then the process ends.
 */
#ifndef TESTS_FUZZ_MACHINE_CALLS_H
#define TESTS_FUZZ_MACHINE_CALLS_H

#include <assert.h>

#include "tests/kernel/support/machine.h"

#define MACHINE_CALLS_MAX 16

typedef void machine_call(struct machine *machine, uint8_t kind, const uint8_t *bytes,
			  uint8_t length);

static inline void machine_calls(struct machine *machine, const uint8_t *data, size_t size,
				 machine_call *one_call)
{
	for (uint32_t calls = 0; size > 2 && calls < MACHINE_CALLS_MAX; calls++) {
		uint8_t length = data[0];

		if (length > size - 2)
			length = (uint8_t)(size - 2);
		one_call(machine, data[1], data + 2, length);
		data += 2 + length;
		size -= 2U + length;
	}
	kernel_process_exit(machine->kernel, &machine->process);
	sim_run(machine->sim, SIM_NEVER); /* doorbells and interrupts on their way */
	memset(machine->files, 0, sizeof(machine->files));
	assert(!machine->kernel->contexts && !machine->process.files);
}

#endif
