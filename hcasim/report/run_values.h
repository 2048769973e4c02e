/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_values: values of a result folder by name, for comparison (analysis/differences.h).
 *
 *     scenario.yaml --> settings    summary.json --> metrics, uses, bottleneck
 *     counters.json --> counters, stages
 */
#ifndef HCASIM_REPORT_RUN_VALUES_H
#define HCASIM_REPORT_RUN_VALUES_H

#include "analysis/differences.h"
#include "sim/yaml.h"

struct run_values {
	/* Every value of the effective configuration, without `expect`. */
	struct values settings;
	struct values
		metrics; /* also the duration of the run, and metrics of each of its workloads */
	/* Usage of the most used queues and resources, as % of the time with work. */
	struct values uses;
	/* Mean time of a work request in each stage, ns. Empty if there are none. */
	struct values sends, receives;
	struct values counters; /* without the `latency` blocks, which are the stages */
	char *bottleneck;       /* description of the most used resource; NULL: none */
};

/* Adds all scalars below a node by path: hosts.host0.hca.pcie.lanes, faults.0.from ... `name` is
 * the path of the node, "" for a root. */
void run_values_add_tree(struct values *values, const char *name, const struct yaml_node *node);

/* Reads a result folder. Returns false and writes the reason to *error if the folder is
 * incomplete. */
bool run_values_read(const char *folder, struct run_values *run, char *error, size_t error_bytes);
void run_values_free(struct run_values *run);

#endif
