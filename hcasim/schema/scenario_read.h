/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_read: what the files that read a scenario share and nobody else includes.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_READ_H
#define HCASIM_SCHEMA_SCENARIO_READ_H

#include "hcasim/schema/scenario.h"

struct scenario_reader {
	struct scenario *scenario;
	struct yaml_errors *errors;
	bool no_topology; /* it could not be read: what follows from it is no error of its own */
};

/* Zeroed, for as many elements as the list or map has entries; *count is 0: the reader counts those it took. */
void *scenario_take_entries(const struct yaml_node *node, size_t element_bytes, uint32_t *count);

/* Letters, digits and - _, as in a host's name. */
bool scenario_name_valid(const char *name);

/* Errors for the unused keys of the map: known are the list's names and the others (both may be NULL). */
void scenario_refuse_unused(struct scenario_reader *reader, const struct yaml_node *map,
			    const struct param *list, const char *const *others);

/* The same where the names of groups are known, too. */
void scenario_refuse_sections(struct scenario_reader *reader, const struct yaml_node *map,
			      const struct param *list, const struct param_section *sections,
			      const char *const *others);

bool scenario_expect_list(struct scenario_reader *reader, const struct yaml_node *node,
			  const char *what);

/* fabric.topology: its numbers, and the layout if it is one that builders or files make. Comes before hosts.
 * scenario_topology.c */
void scenario_read_topology(struct scenario_reader *reader, struct yaml_node *fabric);
void scenario_print_topology(const struct scenario *scenario, FILE *out); /* one line */

/* `host` beside an adapter that has been read; hca NULL: the adapter of the defaults; params
 * NULL: of fidelity endpoint, which is refused. scenario_slot.c */
void scenario_read_slot(struct scenario_reader *reader, struct yaml_node *hca,
			struct yaml_node *slot, struct hca_params *params);

/* Warns of keys that have no effect beside others. All has been read; after an error nothing is said.
 * scenario_effects.c */
void scenario_check_effects(struct scenario_reader *reader, struct yaml_node *root);

/* workload, run, sweep. scenario_workload.c */
void scenario_read_workload(struct scenario_reader *reader, struct yaml_node *root);
void scenario_print_workload(const struct scenario *scenario, FILE *out);
void scenario_free_workload(struct scenario *scenario);

/* load. Hosts and fabric have been read. scenario_load.c */
void scenario_read_load(struct scenario_reader *reader, struct yaml_node *root);
void scenario_print_load(const struct scenario *scenario, FILE *out);

/* expect. scenario_expect.c */
void scenario_read_expectations(struct scenario_reader *reader, struct yaml_node *node);
void scenario_print_expectations(const struct scenario *scenario, FILE *out);

/* `host` and `cpu` of those who ask detailed adapters for something. scenario_workload.c */
void scenario_print_hosts(const struct load_host_params *params, FILE *out);

void scenario_print_list(const struct param *list, const void *params, int indent, FILE *out);
void scenario_print_text(const char *text, FILE *out); /* in double quotes */

/* Its whole name, as who reads this may stand elsewhere; for scenario_hash() what it holds. */
void scenario_print_file(const char *path, FILE *out);

/* A name, which is a file's if there is a slash in it. */
void scenario_print_name(const char *name, FILE *out);

/* A file named in the scenario, from where the scenario is; for free(). */
char *scenario_file_path(const struct scenario *scenario, const char *name);

/* What stands behind `key`: a pattern of names, of which there is one; absent: "*". hosts: may it mean one of them, or switches
 * alone? Both have been read. scenario_fabric.c */
const char *scenario_read_names(struct scenario_reader *reader, struct yaml_node *map,
				const char *key, bool hosts);

/* fabric: switches, links or a topology. Hosts have been read. scenario_fabric.c */
void scenario_read_fabric(struct scenario_reader *reader, struct yaml_node *node);

/* fabric: VLs and forwarding tables. Hosts and switches have been read. scenario_vls.c */
void scenario_read_vls(struct scenario_reader *reader, struct yaml_node *fabric);
void scenario_print_vls(const struct scenario *scenario, FILE *out);
void scenario_free_vls(struct scenario *scenario);

/* fabric: who belongs together. Hosts have been read. scenario_subnet.c */
void scenario_read_subnet(struct scenario_reader *reader, struct yaml_node *fabric);
void scenario_print_subnet(const struct scenario *scenario, FILE *out);
void scenario_free_subnet(struct scenario *scenario);

/* What does not go with fidelity: flow. Last of all. scenario_flow.c */
void scenario_check_flow(struct scenario_reader *reader, struct yaml_node *root);

/* Refuses congestion control that would never hear of congestion. Last of all. scenario_congestion.c */
void scenario_check_congestion(struct scenario_reader *reader, struct yaml_node *root);

/* faults: what goes wrong. Hosts and switches have been read. scenario_faults.c */
void scenario_read_faults(struct scenario_reader *reader, struct yaml_node *node);
void scenario_print_faults(const struct scenario *scenario, FILE *out);

extern const struct param scenario_fault_place_list[], scenario_fault_choice_list[],
	scenario_fault_burst_list[], scenario_fault_time_list[], scenario_fault_repeat_list[],
	scenario_fault_condition_list[];
extern const struct param scenario_param_list[], scenario_fabric_param_list[],
	scenario_record_param_list[], scenario_program_param_list[], scenario_topology_param_list[],
	scenario_run_param_list[];

#endif
