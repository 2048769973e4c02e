/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module: shared objects that stand in the place of a block: SystemC/TLM-2.0 modules, or Verilog turned into SystemC,
 * behind a table of C functions. YAML names the file (`translation: {module: ...}`), the block of that name loads it.
 *
 *     block --module_load()--> table in the shared object --create() ...--> module
 *
 * Each kind has a header of its own that says what the table holds; docs/explanation/systemc.md shows how to write one.
 */
#ifndef HCA_MODULE_MODULE_H
#define HCA_MODULE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/*        KIND         block          symbol that is exported   version */
#define MODULE_KINDS(X) \
	X(TRANSLATION, "translation", hca_translation_module,   1) \
	X(SCHEDULER,   "scheduler",   hca_scheduler_module,     1) \
	X(DMA,         "dma",         hca_dma_module,           1)

#define MODULE_ENUM(KIND, block, symbol, version) MODULE_##KIND,
enum module_kind { MODULE_KINDS(MODULE_ENUM) MODULE_KIND_COUNT };
#define MODULE_VERSION(KIND, block, symbol, version) MODULE_VERSION_##KIND = version,
enum { MODULE_KINDS(MODULE_VERSION) };
/* clang-format on */

/* Each table begins with it. */
struct module_head {
	uint32_t version; /* MODULE_VERSION_... of its kind */
	uint32_t bytes;   /* of the table */
	const char *name;
	const char *meaning;
};

struct sim;

/* Returns the table of a shared object, which stays loaded. Returns NULL if it cannot be loaded, or if
 * its table is of another version or not of table_bytes, and writes the reason to `error`. */
const void *module_load(enum module_kind kind, size_t table_bytes, const char *path, char *error,
			size_t error_bytes);

/* The same for a run that begins: what cannot be loaded ends the program. */
const void *module_open(enum module_kind kind, size_t table_bytes, const char *block,
			const char *path);

/* The block's name in the YAML: "translation". */
const char *module_block(enum module_kind kind);

/* The module has done what it must not: says so and ends the program. */
void module_broke(const char *block, const char *what) __attribute__((noreturn));

/* A module that responded, or asked, at a time that is over. */
void module_check_time(struct sim *sim, const char *block, uint64_t at);

#ifdef __cplusplus
}
#endif
#endif
