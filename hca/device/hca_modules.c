/* SPDX-License-Identifier: Apache-2.0 */
/* hca_modules: see hca_modules.h. */
#include "hca/device/hca_modules.h"

#include "hca/context/context_module.h"
#include "hca/context/translation_module.h"
#include "hca/work/completion_module.h"
#include "hca/work/dma_module.h"
#include "hca/work/doorbell_module.h"
#include "hca/work/scheduler_module.h"
#include "hca/work/wqe_fetch_module.h"

/* X(KIND, block, params): a seat for modules, struct block_module, and its block's parameters,
 * struct params. */
#define MODULE_BLOCKS(X)                                \
	X(TRANSLATION, translation, translation_params) \
	X(SCHEDULER, scheduler, scheduler_params)       \
	X(DMA, dma, dma_params)                         \
	X(DOORBELL, doorbell, doorbell_params)          \
	X(WQE_FETCH, wqe_fetch, wqe_fetch_params)       \
	X(COMPLETION, completion, completion_params)    \
	X(CONTEXTS, contexts, context_cache_params)

const struct module_head *hca_module_find(enum module_kind kind, const char *path, char *error,
					  size_t error_bytes)
{
#define TABLE_BYTES(KIND, block, list) [MODULE_##KIND] = sizeof(struct block##_module),
	static const size_t table_bytes[MODULE_KIND_COUNT] = {MODULE_BLOCKS(TABLE_BYTES)};

	return module_load(kind, table_bytes[kind], path, error, error_bytes);
}

struct param_text *hca_module_text(struct hca_params *params, enum module_kind kind)
{
#define TEXT(KIND, block, list) [MODULE_##KIND] = &params->block.module,
	struct param_text *texts[MODULE_KIND_COUNT] = {MODULE_BLOCKS(TEXT)};

	return texts[kind];
}

/* Returns the error of the module in place of a block, or NULL. */
#define ACCEPTS(KIND, block, list)                                                               \
	static bool block##_accepts(const struct list *params, char *error, size_t error_bytes)  \
	{                                                                                        \
		const struct block##_module *table;                                              \
                                                                                                 \
		if (!*params->module.text)                                                       \
			return true;                                                             \
		table = module_load(MODULE_##KIND, sizeof(*table), params->module.text, error,   \
				    error_bytes);                                                \
		return table && (!table->accepts || table->accepts(params, error, error_bytes)); \
	}

MODULE_BLOCKS(ACCEPTS)

bool hca_modules_accept(const struct hca_params *params, char *error, size_t error_bytes)
{
#define ALSO(KIND, block, list) &&block##_accepts(&params->block, error, error_bytes)
	return true MODULE_BLOCKS(ALSO);
}
