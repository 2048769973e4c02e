/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_probe: driver probe: measures DMA as pciebench does (hca/host/dma_probe.h). Keys: host,
 * card, op, measure, and the parameters of the probe's job.
 */
#include <string.h>

#include "hca/device/hca_params.h"
#include "hca/host/dma_probe.h"
#include "hcasim/command/published.h"
#include "hcasim/schema/preset.h"

/* clang-format off */
#define MEASURES(X) X(min_ns) X(median_ns) X(mean_ns) X(p95_ns) X(p99_ns) X(p999_ns) X(gbps)
/* clang-format on */

static const struct {
	const char *name;
	size_t place;
} measures[] = {
#define MEASURE_ROW(name) {#name, offsetof(struct dma_probe_result, name)},
	MEASURES(MEASURE_ROW)
#undef MEASURE_ROW
};

static void read_job(const struct published_settings *settings, struct dma_probe_job *job)
{
	const char *op = published_text(settings, "op", "lat_rd");
	unsigned number = 0;

	params_default(dma_probe_job_param_list, job);
	if (settings->common)
		yaml_override_params(settings->common, dma_probe_job_param_list, job,
				     settings->errors);
	if (settings->own)
		yaml_override_params(settings->own, dma_probe_job_param_list, job,
				     settings->errors);
	if (settings->varied)
		yaml_override_params(settings->varied, dma_probe_job_param_list, job,
				     settings->errors);
	while (number < DMA_PROBE_OP_COUNT && strcmp(dma_probe_op_names[number], op) != 0)
		number++;
	if (number == DMA_PROBE_OP_COUNT)
		yaml_error(settings->errors, published_get(settings, "op"), "no operation \"%s\"",
			   op);
	else
		job->op = (enum dma_probe_op)number;
	job->seed = 1;
}

bool published_probe(const struct published_settings *settings, double *ours, char *error)
{
	struct yaml_node *card_node = published_get(settings, "card");
	const char *measure = published_text(settings, "measure", "median_ns");
	struct dma_probe_params card;
	struct dma_probe_job job = {0};
	struct dma_probe_result result;
	struct hca_params params;
	unsigned before = settings->errors->count;

	published_host(settings, &params);
	params_default(dma_probe_param_list, &card);
	if (card_node)
		preset_read(COMPOSITE_CARD, card_node, NULL, &card, NULL, settings->errors);
	read_job(settings, &job);
	if (settings->errors->count > before) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "the file has errors");
		return false;
	}
	dma_probe_run(&params.pcie, &params.host, &card, &job, &result);
	if (result.violations > 0) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "the run violates its invariants");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (strcmp(measures[i].name, measure) != 0)
			continue;
		*ours = *(const double *)(const void *)((const char *)&result + measures[i].place);
		return true;
	}
	snprintf(error, PUBLISHED_ERROR_BYTES, "no measure \"%s\"", measure);
	return false;
}
