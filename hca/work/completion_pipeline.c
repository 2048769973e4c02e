/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_pipeline: the built-in pipeline of CQEs. CQEs leave in their order of arrival. Each
 * leaves after the latency, one interval after the previous CQE, and with its grant to write to
 * host memory.
 */
#include <assert.h>
#include <stdlib.h>

#include "hca/work/completion_module.h"
#include "sim/gauge.h"

struct pipeline {
	struct completion_setup setup;
	struct cqe_entry *first, *last;
	sim_time last_due;
	bool granted; /* the first entry waits for the time of its grant */
};

static void pipeline_push(void *module, struct cqe_entry *entry, sim_time now)
{
	struct pipeline *pipeline = module;
	const struct completion_params *params = pipeline->setup.params;
	sim_time due = now + params->latency;

	if (due < pipeline->last_due + params->interval)
		due = pipeline->last_due + params->interval;
	pipeline->last_due = due;
	gauge_serve(pipeline->setup.gauge, due, params->interval);
	entry->due = due;
	entry->next = NULL;
	if (pipeline->first) {
		pipeline->last->next = entry;
	} else {
		pipeline->first = entry;
		pipeline->setup.services->due_at(pipeline->setup.writer, due);
	}
	pipeline->last = entry;
}

static void pipeline_due(void *module, sim_time now)
{
	struct pipeline *pipeline = module;
	const struct completion_services *services = pipeline->setup.services;
	struct completion_writer *writer = pipeline->setup.writer;
	struct cqe_entry *entry = pipeline->first;

	if (!pipeline->granted) {
		sim_time grant = services->grant(writer, entry);

		if (grant > now) { /* data is being written */
			pipeline->granted = true;
			services->due_at(writer, grant);
			return;
		}
	}
	pipeline->granted = false;
	pipeline->first = entry->next;
	if (pipeline->first)
		services->due_at(writer, pipeline->first->due > now ? pipeline->first->due : now);
	services->put(writer, entry);
}

static void *pipeline_create(const struct completion_setup *setup)
{
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	assert(pipeline);
	pipeline->setup = *setup;
	return pipeline;
}

static void pipeline_destroy(void *module)
{
	free(module);
}

const struct completion_module completion_pipeline = {
	.head = {MODULE_VERSION_COMPLETION, sizeof(struct completion_module), "builtin_completion",
		 "the built-in pipeline of CQEs"},
	.create = pipeline_create,
	.destroy = pipeline_destroy,
	.push = pipeline_push,
	.due = pipeline_due,
};
