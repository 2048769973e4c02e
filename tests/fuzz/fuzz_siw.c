/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_siw: makes system calls on the emulated kernel of an iWARP adapter from any bytes. A context
 * has one object of each kind, with rings in place. The input is a sequence of calls, each with a
 * length, a kind, and the bytes of its arguments. No handle, size or address may cause a crash or
 * leak, and the end of the process must free everything.
 */
#include "hca/device/hca_params.h"
#include "tests/fuzz/machine_calls.h"

#define RINGS 4 /* of the objects below: CQ, SRQ, SQ, RQ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_call(struct machine *machine, uint8_t kind, const uint8_t *bytes, uint8_t length)
{
	struct kernel_file *file = machine->files[machine->command_fd];
	uint64_t offset = 0, address = 0;

	machine->call = (struct kernel_call){.process = &machine->process};
	memcpy(&offset, bytes, length < 8 ? length : 8);
	switch (kind & 3) {
	case 0: {
		uint8_t out[256], driver_out[256];
		uint8_t core = (uint8_t)((length < 200 ? length : 200) & ~7U);

		machine_command(machine, kind >> 3, bytes, core, bytes + core,
				(length - core) & ~7U, out, 120, driver_out, 64);
		break;
	}
	case 1:
		memory_write(machine->process.memory, CALL_AREA, bytes, length);
		kernel_write(file, &machine->call, CALL_AREA, length);
		break;
	case 2:
		kernel_mmap(file, &machine->call, offset, 4096, 3);
		break;
	default:
		memcpy(&address, bytes + (length < 8 ? 0 : 8),
		       length < 16 ? (length < 8 ? length : length - 8u) : 8);
		kernel_map_ring(file, &machine->call, offset, address);
	}
}

static struct machine *create(void)
{
	struct hca_params params;

	hca_params_default(&params);
	params.device.driver = DRIVER_SIW;
	return machine_create_with(LINK_ETHERNET, &params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine *machine;
	uint32_t pd, cq;

	if (!machine) /* the adapter takes long to build */
		machine = create();
	machine->by_write = true; /* the machine's ioctl is that of mlx5 */
	machine_open(machine, &machine->process, true);
	pd = make_pd(machine);
	make_mr(machine, pd, NULL);
	cq = make_cq(machine, make_channel(machine), 1, NULL);
	make_srq(machine, pd, NULL);
	make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, NULL);
	for (uint64_t key = 1; key <= RINGS; key++) {
		machine->call = (struct kernel_call){.process = &machine->process};
		kernel_map_ring(machine->files[machine->command_fd], &machine->call, key * 4096,
				RING_AREA + key * 0x8000);
	}
	machine_calls(machine, data, size, one_call);
	return 0;
}
