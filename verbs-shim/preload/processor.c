/* SPDX-License-Identifier: Apache-2.0 */
/* processor: see processor.h. */
#include "verbs-shim/preload/processor.h"

#include <cpuid.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/insn_length.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/vdso.h"

enum { FIRST = 0x0f, SECOND = 0xa2, REPLACED_FIRST = 0xcd }; /* cpuid; int */

#define OBJECTS   1024
#define RUN_BYTES 65536 /* of code without a function's beginning, at most */

/* .eh_frame_hdr as linkers write it: a sorted table of pairs, the first of each where a function
 * begins. Linux Standard Base core specification 5.0, 10.6.2. */
struct frame_header {
	uint8_t version, pointer_encoding, count_encoding, table_encoding;
	int32_t frames;
	uint32_t count;
	struct {
		int32_t function, frame; /* from the header on */
	} pairs[];
};

enum { UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };

/* Scanned code. Code is scanned again after an unload, because other code may be at the same
 * address. */
static struct {
	uint64_t object[OBJECTS];
	uint32_t count;
	unsigned long long unloaded;
} seen;

bool processor_cpuid(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	const uint8_t *code = (const uint8_t *)(uintptr_t)registers[REG_RIP];
	uint32_t leaf = (uint32_t)registers[REG_RAX], subleaf = (uint32_t)registers[REG_RCX];
	uint32_t words[4] = {0};

	if (code[0] != REPLACED_FIRST || code[1] != SECOND || !shim.memory)
		return false;
	/* state for xsave: xgetbv also reports the machine's processor */
	if (leaf == SHIM_LEAF_STATE) {
		__cpuid_count(leaf, subleaf, words[0], words[1], words[2], words[3]);
	} else {
		const struct shim_leaves *leaves = &shim.memory->leaves;

		for (uint32_t i = 0; i < leaves->count; i++)
			if (leaves->leaf[i].leaf == leaf &&
			    (leaves->leaf[i].subleaf == subleaf || !leaves->leaf[i].by_subleaf))
				memcpy(words, leaves->leaf[i].words, sizeof(words));
	}
	registers[REG_RAX] = (greg_t)words[0];
	registers[REG_RBX] = (greg_t)words[1];
	registers[REG_RCX] = (greg_t)words[2];
	registers[REG_RDX] = (greg_t)words[3];
	registers[REG_RIP] += 2;
	return true;
}

/* Returns the start of the last function at or before `address`, or 0 if it is unknown. */
static uint64_t function_before(const struct frame_header *header, uint64_t address)
{
	uint32_t low = 0, high;

	if (!header || header->version != 1 || header->count_encoding != UDATA4 ||
	    header->table_encoding != DATAREL_SDATA4)
		return 0;
	high = header->count;
	while (low < high) { /* the first pair behind it */
		uint32_t middle = low + (high - low) / 2;

		if ((uint64_t)(uintptr_t)header +
			    (uint64_t)(int64_t)header->pairs[middle].function <=
		    address)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? 0
			: (uint64_t)(uintptr_t)header +
				  (uint64_t)(int64_t)header->pairs[low - 1].function;
}

/* Instructions are read no nearer to the end than the longest can be. */
static bool is_instruction(const struct frame_header *header, uint64_t address, uint64_t begin,
			   uint64_t end)
{
	uint64_t at = function_before(header, address);

	if (at < begin || address - at > RUN_BYTES || address + INSN_LENGTH_MOST > end)
		return false;
	while (at < address) {
		uint32_t length = insn_length((const uint8_t *)(uintptr_t)at);

		if (length == 0)
			return false;
		at += length;
	}
	return at == address;
}

static void replace(uint64_t address)
{
	uint64_t page = address & ~UINT64_C(4095);

	if (system_call(SYS_mprotect, page, 4096L, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return;
	*(volatile uint8_t *)(uintptr_t)address = REPLACED_FIRST;
	(void)system_call(SYS_mprotect, page, 4096L, PROT_READ | PROT_EXEC);
}

static void look_through(uint64_t begin, uint64_t end, const struct frame_header *header)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)begin;
	const uint8_t *last = (const uint8_t *)(uintptr_t)end - 1;

	while (at < last && (at = memchr(at, SECOND, (size_t)(last + 1 - at))) != NULL) {
		uint64_t address = (uint64_t)(uintptr_t)at - 1;

		if (address >= begin && at[-1] == FIRST &&
		    is_instruction(header, address, begin, end))
			replace(address);
		at++;
	}
}

static bool is_new(uint64_t object, unsigned long long unloaded)
{
	if (seen.unloaded != unloaded)
		seen.count = 0;
	seen.unloaded = unloaded;
	for (uint32_t i = 0; i < seen.count; i++)
		if (seen.object[i] == object)
			return false;
	if (seen.count < OBJECTS)
		seen.object[seen.count++] = object;
	return true;
}

/* Returns true for the system's own linker and libc, the vDSO and this library. */
static bool is_exempt(const struct dl_phdr_info *info)
{
	static const void *const within[] = {(const void *)processor_init, (const void *)memchr};
	uint64_t known[4] = {getauxval(AT_BASE), getauxval(AT_SYSINFO_EHDR)};

	for (uint32_t i = 0; i < 2; i++) {
		Dl_info found;

		if (dladdr(within[i], &found))
			known[2 + i] = (uint64_t)(uintptr_t)found.dli_fbase;
	}
	for (uint32_t i = 0; i < 4; i++)
		if (known[i] && info->dlpi_addr == known[i])
			return true;
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const struct frame_header *header = NULL;

	(void)bytes;
	(void)context;
	if (!is_new((uint64_t)(uintptr_t)info->dlpi_phdr, info->dlpi_subs) || is_exempt(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			header = (const struct frame_header *)(uintptr_t)(info->dlpi_addr +
									  info->dlpi_phdr[i]
										  .p_vaddr);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && part->p_flags & PF_X)
			look_through(begin, begin + part->p_filesz, header);
	}
	return 0;
}

/* The linker calls this before and after it has loaded libraries, and before it runs their code:
 * for debuggers. */
static void loaded(void)
{
	int before = errno;

	if (_r_debug.r_state == RT_CONSISTENT)
		(void)dl_iterate_phdr(look_at, NULL);
	errno = before;
}

void processor_init(void)
{
	uint64_t hook = _r_debug.r_brk, page = hook & ~UINT64_C(4095);

	(void)dl_iterate_phdr(look_at, NULL);
	if (hook == 0 || hook % 16 != 0 ||
	    system_call(SYS_mprotect, page, 4096L, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return;
	vdso_write_jump((uint8_t *)(uintptr_t)hook, (void *)loaded);
	(void)system_call(SYS_mprotect, page, 4096L, PROT_READ | PROT_EXEC);
}
