/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso: see vdso.h. The vDSO is an ELF image in memory; its dynamic symbol table names the
 * functions. The first bytes of each become `movabs $target,%rax; jmp *%rax`, which leaves the
 * arguments alone.
 *
 * Source: the Linux vdso(7) manual page; System V ABI (ELF). The mapping is private: the write
 * touches this process only.
 */
#include "verbs-shim/preload/vdso.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct image {
	uint8_t *base;
	uint64_t slide; /* difference between addresses and file offsets */
	const ElfW(Sym) * symbols;
	const char *strings;
	uint32_t symbol_count;
	uint64_t end; /* of the loaded bytes, from base */
};

static uint32_t count_symbols(const uint32_t *hash, const uint32_t *gnu_hash)
{
	if (hash)
		return hash[1]; /* nchain */
	if (!gnu_hash)
		return 0;

	/* The last symbol is the end of the chain of the highest bucket. */
	uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom_words = gnu_hash[2], last = 0;
	const uint32_t *bucket = gnu_hash + 4 + bloom_words * 2, *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static bool open_image(struct image *image)
{
	const ElfW(Dyn) *dynamic = NULL;
	const uint32_t *hash = NULL, *gnu_hash = NULL;

	memset(image, 0, sizeof(*image));
	image->base = (uint8_t *)getauxval(AT_SYSINFO_EHDR);
	if (!image->base || memcmp(image->base, ELFMAG, SELFMAG) != 0)
		return false;

	const ElfW(Ehdr) *header = (const void *)image->base;
	const ElfW(Phdr) *part = (const void *)(image->base + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++) {
		if (part[i].p_type == PT_LOAD) {
			image->slide = (uint64_t)image->base + part[i].p_offset - part[i].p_vaddr;
			image->end = part[i].p_offset + part[i].p_memsz;
		} else if (part[i].p_type == PT_DYNAMIC) {
			dynamic = (const void *)(image->base + part[i].p_offset);
		}
	}
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *there = (const void *)(image->slide + dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			image->symbols = there;
		else if (dynamic->d_tag == DT_STRTAB)
			image->strings = there;
		else if (dynamic->d_tag == DT_HASH)
			hash = there;
		else if (dynamic->d_tag == DT_GNU_HASH)
			gnu_hash = there;
	}
	image->symbol_count = count_symbols(hash, gnu_hash);
	return image->symbols && image->strings && image->symbol_count;
}

static uint8_t *find_function(const struct image *image, const char *name)
{
	for (uint32_t i = 0; i < image->symbol_count; i++) {
		const ElfW(Sym) *symbol = &image->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    strcmp(image->strings + symbol->st_name, name) == 0)
			return (uint8_t *)(image->slide + symbol->st_value);
	}
	return NULL;
}

void vdso_write_jump(uint8_t *at, void *target)
{
	uint8_t jump[VDSO_JUMP_BYTES] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};

	memcpy(jump + 2, &target, sizeof(target));
	memcpy(at, jump, sizeof(jump));
}

bool vdso_patch(const struct vdso_function *functions)
{
	struct image image;

	if (!open_image(&image))
		return false;

	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
		 bytes = (image.end + page - 1) & ~(page - 1);

	if (mprotect(image.base, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	for (; functions->name; functions++) {
		uint8_t *function = find_function(&image, functions->name);

		if (function)
			vdso_write_jump(function, functions->target);
	}
	mprotect(image.base, bytes, PROT_READ | PROT_EXEC);
	return true;
}
