/* SPDX-License-Identifier: Apache-2.0 */
/* hca_modules: see hca_modules.h. */
#include "hca/device/hca_modules.h"

#include "hca/context/translation_module.h"
#include "hca/work/dma_module.h"
#include "hca/work/scheduler_module.h"

bool hca_module_fits(enum module_kind kind, const char *path, char *error, size_t error_bytes)
{
	static const size_t table_bytes[MODULE_KIND_COUNT] = {
		[MODULE_TRANSLATION] = sizeof(struct translation_module),
		[MODULE_SCHEDULER] = sizeof(struct scheduler_module),
		[MODULE_DMA] = sizeof(struct dma_module),
	};

	return module_load(kind, table_bytes[kind], path, error, error_bytes);
}

struct param_text *hca_module_text(struct hca_params *params, enum module_kind kind)
{
	struct param_text *texts[MODULE_KIND_COUNT] = {
		[MODULE_TRANSLATION] = &params->translation.module,
		[MODULE_SCHEDULER] = &params->scheduler.module,
		[MODULE_DMA] = &params->dma.module,
	};

	return texts[kind];
}

/* What is wrong with the one in the place of a block, unless none is. */
#define ACCEPTS(KIND, block)                                                                     \
	static bool block##_accepts(const struct block##_params *params, char *error,            \
				    size_t error_bytes)                                          \
	{                                                                                        \
		const struct block##_module *table;                                              \
                                                                                                 \
		if (!*params->module.text)                                                       \
			return true;                                                             \
		table = module_load(MODULE_##KIND, sizeof(*table), params->module.text, error,   \
				    error_bytes);                                                \
		return table && (!table->accepts || table->accepts(params, error, error_bytes)); \
	}

ACCEPTS(TRANSLATION, translation)
ACCEPTS(SCHEDULER, scheduler)
ACCEPTS(DMA, dma)

bool hca_modules_accept(const struct hca_params *params, char *error, size_t error_bytes)
{
	return translation_accepts(&params->translation, error, error_bytes) &&
	       scheduler_accepts(&params->scheduler, error, error_bytes) &&
	       dma_accepts(&params->dma, error, error_bytes);
}
