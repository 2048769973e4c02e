/* SPDX-License-Identifier: Apache-2.0 */
/* core_clock: see core_clock.h. */
#include "hca/host/core_clock.h"

#include <string.h>

#include "fabric/wire/bytes.h"

uint64_t core_clock_cycles(const struct core_clock *clock)
{
	sim_time now = sim_now(clock->sim);
	uint64_t frequency = clock->frequency;

	return now / SEC * frequency +
	       (uint64_t)((double)(now % SEC) * (double)frequency / (double)SEC);
}

static void load(void *context, uint64_t offset, void *bytes, uint32_t length)
{
	uint64_t cycles = core_clock_cycles(context);
	uint8_t registers[8];
	uint64_t at = offset - CORE_CLOCK_AT;

	be32_put(registers, (uint32_t)(cycles >> 32));
	be32_put(registers + 4, (uint32_t)cycles);
	memset(bytes, 0, length);
	if (at < sizeof(registers))
		memcpy(bytes, registers + at,
		       length < sizeof(registers) - at ? length : sizeof(registers) - at);
}

void core_clock_init(struct core_clock *clock, const struct sim *sim, uint64_t frequency,
		     struct pcie *pcie)
{
	*clock = (struct core_clock){.sim = sim, .frequency = frequency};
	pcie_mmio_read_attach(pcie, load, clock);
}
