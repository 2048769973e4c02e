/* SPDX-License-Identifier: Apache-2.0 */
/* insn_machine: see insn_machine.h. */
#include "verbs-shim/preload/insn_machine.h"

#define CODE_PAGES 65536u

/* A bit for each page, modulo the number of bits. A page that shares its bit with a page of code
 * counts as a page of code. */
static uint64_t code_pages[CODE_PAGES / 64];

void machine_publish(struct machine *machine, uint64_t rip)
{
	greg_t *gregs = machine->context->uc_mcontext.gregs;

	gregs[REG_RAX] = (greg_t)machine->registers[REGISTER_RAX];
	gregs[REG_RCX] = (greg_t)machine->registers[REGISTER_RCX];
	gregs[REG_RDX] = (greg_t)machine->registers[REGISTER_RDX];
	gregs[REG_RBX] = (greg_t)machine->registers[REGISTER_RBX];
	gregs[REG_RSP] = (greg_t)machine->registers[REGISTER_RSP];
	gregs[REG_RBP] = (greg_t)machine->registers[REGISTER_RBP];
	gregs[REG_RSI] = (greg_t)machine->registers[REGISTER_RSI];
	gregs[REG_RDI] = (greg_t)machine->registers[REGISTER_RDI];
	for (uint32_t i = 0; i < 8; i++) /* R8 to R15 are in order in both */
		gregs[REG_R8 + i] = (greg_t)machine->registers[8 + i];
	gregs[REG_RIP] = (greg_t)rip;
}

static bool is_code(uint64_t page)
{
	return code_pages[page % CODE_PAGES / 64] >> page % 64 & 1;
}

void machine_mark_code(struct insn_access *access, uint64_t address)
{
	uint64_t page = address / PAGE_BYTES;

	code_pages[page % CODE_PAGES / 64] |= UINT64_C(1) << page % 64;
	if (access->clear[page % INSN_CLEAR] == page)
		access->clear[page % INSN_CLEAR] = 0;
}

static void note_direct(struct insn_access *access, uint64_t address)
{
	uint64_t page = address / PAGE_BYTES;

	if (!is_code(page) && access->is_clear(access, page * PAGE_BYTES))
		access->clear[page % INSN_CLEAR] = page;
}

bool machine_load(struct machine *machine, uint64_t address, void *bytes, uint32_t length)
{
	struct insn_access *access = machine->access;

	if (!machine_is_clear(machine, address, length)) {
		enum insn_access_result result;

		machine_publish(machine, machine->at);
		result = access->load(access, address, bytes, length);
		if (result != ACCESS_DIRECT)
			return result == ACCESS_DONE;
		note_direct(access, address);
	}
	memcpy(bytes, (const void *)address, length);
	return true;
}

bool machine_store(struct machine *machine, uint64_t address, const void *bytes, uint32_t length)
{
	struct insn_access *access = machine->access;

	machine->changed |=
		is_code(address / PAGE_BYTES) || is_code((address + length - 1) / PAGE_BYTES);
	if (!machine_is_clear(machine, address, length)) {
		enum insn_access_result result;

		machine_publish(machine, machine->at);
		result = access->store(access, address, bytes, length);
		if (result != ACCESS_DIRECT)
			return result == ACCESS_DONE;
		note_direct(access, address);
	}
	memcpy((void *)address, bytes, length);
	return true;
}
