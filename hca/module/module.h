/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module: loads shared objects that replace a block: SystemC/TLM-2.0 modules, or Verilog converted
 * to SystemC, with a table of C functions. YAML names the file (`translation: {module: ...}`), and
 * the block of that name loads it.
 *
 *     block --module_load()--> table in the shared object --create() ...--> module
 *
 * Each kind of module has its own header that documents the table. docs/explanation/systemc.md
 * describes how to write a module.
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
/*        KIND         block          exported symbol            version */
#define MODULE_KINDS(X) \
	X(TRANSLATION, "translation", hca_translation_module,   1) \
	X(SCHEDULER,   "scheduler",   hca_scheduler_module,     2) \
	X(DMA,         "dma",         hca_dma_module,           1) \
	X(DOORBELL,    "doorbell",    hca_doorbell_module,      1) \
	X(WQE_FETCH,   "wqe_fetch",   hca_wqe_fetch_module,     1) \
	X(COMPLETION,  "completion",  hca_completion_module,    1) \
	X(CONTEXTS,    "contexts",    hca_contexts_module,      1)

#define MODULE_ENUM(KIND, block, symbol, version) MODULE_##KIND,
enum module_kind { MODULE_KINDS(MODULE_ENUM) MODULE_KIND_COUNT };
#define MODULE_VERSION(KIND, block, symbol, version) MODULE_VERSION_##KIND = version,
enum { MODULE_KINDS(MODULE_VERSION) };
/* clang-format on */

/* The first member of each table. */
struct module_head {
	uint32_t version; /* MODULE_VERSION_... of the kind of module */
	uint32_t bytes;   /* size of the table */
	const char *name;
	const char *meaning;
};

struct sim;

/* Returns the table of a shared object, which stays loaded. Returns NULL and writes the reason to
 * `error` if the object cannot be loaded, or if the table has another version or size. */
const void *module_load(enum module_kind kind, size_t table_bytes, const char *path, char *error,
			size_t error_bytes);

/* Returns the table of a shared object at the start of a run. Ends the program with a message if it
 * cannot be loaded. */
const void *module_open(enum module_kind kind, size_t table_bytes, const char *block,
			const char *path);

/* Returns the block's name in YAML, such as "translation". */
const char *module_block(enum module_kind kind);

/* Prints that a module broke a rule of the interface, and ends the program. */
void module_broke(const char *block, const char *what) __attribute__((noreturn));

/* Ends the program if `at`, a time from a module, is in the past. */
void module_check_time(struct sim *sim, const char *block, uint64_t at);

#ifdef __cplusplus
}
#endif
#endif
