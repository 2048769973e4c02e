/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_values: the files of a result folder as values by name, for comparison (analysis/differences.h).
 *
 *     scenario.yaml --> settings    summary.json --> metrics, uses, bottleneck    counters.json --> counters, stages
 */
#ifndef HCASIM_REPORT_RUN_VALUES_H
#define HCASIM_REPORT_RUN_VALUES_H

#include "analysis/differences.h"
#include "sim/yaml.h"

struct run_values {
	/* Every value of the effective configuration, but what is expected. */
	struct values settings;
	struct values metrics; /* and the run's time */
	/* % of the time with work, of the queues and resources that were used most. */
	struct values uses;
	/* Mean time in each stage of a work request, ns; empty: there are none. */
	struct values sends, receives;
	struct values counters; /* those of `latency` are the stages */
	char *bottleneck;       /* the first of the uses, in words; NULL: nothing was used */
};

/* The texts below a node by their paths: hosts.host0.hca.pcie.lanes, faults.0.from ... name: of the node itself, "" for a root. */
void run_values_add_tree(struct values *values, const char *name, const struct yaml_node *node);

/* false: *error, it is no whole result folder. */
bool run_values_read(const char *folder, struct run_values *run, char *error, size_t error_bytes);
void run_values_free(struct run_values *run);

#endif
