/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_uverbs: makes system calls on the emulated kernel from any bytes. A context has one object
 * of each kind. The input is a sequence of calls, each with a length, a kind, and the bytes of its
 * arguments. No handle, size or address may cause a crash or leak, and the end of the process must
 * free everything.
 */
#include "tests/fuzz/machine_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* write(): the command's number, then the bytes after its header. ioctl(): header and attributes as
 * they come. */
static void one_call(struct machine *machine, uint8_t kind, const uint8_t *bytes, uint8_t length)
{
	struct kernel_file *file = machine->files[machine->command_fd];
	struct memory *memory = machine->process.memory;
	machine->call = (struct kernel_call){.process = &machine->process};
	switch (kind & 3) {
	case 0: {
		uint8_t out[256], driver_out[256];
		uint8_t core = length < 200 ? length : 200;
		core = (uint8_t)(core & ~7U);
		machine->by_write = kind & 4;
		machine_command(machine, kind >> 3, bytes, core, bytes + core,
				(length - core) & ~7U, out, 120, driver_out, 64);
		break;
	}
	case 1:
		memory_write(memory, CALL_AREA, bytes, length);
		kernel_ioctl(file, &machine->call, RDMA_VERBS_IOCTL, CALL_AREA);
		break;
	case 2:
		memory_write(memory, CALL_AREA, bytes, length);
		kernel_write(file, &machine->call, CALL_AREA, length);
		break;
	default: {
		uint64_t offset = 0;
		memcpy(&offset, bytes, length < 8 ? length : 8);
		kernel_mmap(file, &machine->call, offset, 4096, 2);
		break;
	}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine *machines[2];
	struct machine **place = &machines[size & 1];
	if (!*place) /* the adapter takes long to build */
		*place = machine_create(size & 1 ? LINK_ETHERNET : LINK_INFINIBAND);
	struct machine *machine = *place;
	machine_open(machine, &machine->process, true);
	uint32_t pd = make_pd(machine);
	make_mr(machine, pd, NULL);
	uint32_t cq = make_cq(machine, make_channel(machine), 1, NULL);
	make_srq(machine, pd, NULL);
	qp_to_init(machine, make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, NULL), IB_UVERBS_QPT_RC);
	machine_calls(machine, data, size, one_call);
	assert(!machine->kernel->domains);
	return 0;
}
