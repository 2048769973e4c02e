/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_read: declarations that the files of the scenario reader share. Other folders do not
 * include it. A section NAME has its functions in scenario_NAME.c, and scenario_sections.c has them
 * in its table.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_READ_H
#define HCASIM_SCHEMA_SCENARIO_READ_H

#include "hcasim/schema/scenario.h"

#define SCENARIO_NAME_BYTES 31 /* maximum length of a host or switch name, as in struct endpoint */

struct scenario_reader {
	struct scenario *scenario;
	struct yaml_errors *errors;
	struct yaml_node *root; /* the top of the file */
	unsigned errors_before; /* number of errors before the current section */
	bool no_topology; /* the topology is wrong: errors that follow from it are not reported */
};

/* ---- helpers of readers ---- */

/* Returns zeroed memory for as many elements as the list or map has entries, and sets *count to 0.
 * The reader counts the elements that it takes. */
void *scenario_take_entries(const struct yaml_node *node, size_t element_bytes, uint32_t *count);

/* Returns true if the name consists of letters, digits, - and _, as in a host's name. */
bool scenario_name_valid(const char *name);

/* Adds an error for each unused key of the map. Known keys are the list's names and the others
 * (both may be NULL). */
void scenario_refuse_unused(struct scenario_reader *reader, const struct yaml_node *map,
			    const struct param *list, const char *const *others);

/* Does the same, with the names of sections among the known keys. */
void scenario_refuse_sections(struct scenario_reader *reader, const struct yaml_node *map,
			      const struct param *list, const struct param_section *sections,
			      const char *const *others);

/* Returns true if the node is a list. Otherwise adds an error that expects a list of `what`. */
bool scenario_expect_list(struct scenario_reader *reader, const struct yaml_node *node,
			  const char *what);

/* Returns the texts of a list and their number, or NULL without a list. In errors, `what` describes
 * the list and `expected` an entry. The caller owns the array. */
const char **scenario_read_texts(struct scenario_reader *reader, struct yaml_node *node,
				 const char *what, const char *expected, uint32_t *count);

/* Returns the path of a file that the scenario names, relative to the scenario's folder. The caller
 * releases it with free(). */
char *scenario_read_file_path(const struct scenario *scenario, const char *name);

/* Returns the pattern of names behind `key`, which must match a switch, or a host if `hosts` is
 * true. Returns "*" if the key is absent. Hosts and switches have been read. */
const char *scenario_read_names(struct scenario_reader *reader, struct yaml_node *map,
				const char *key, bool hosts);

/* Marks the hosts that a list of patterns names, in marks[host_count]. Returns false and adds an
 * error if the node is not a list, or if no host matches a pattern. */
bool scenario_hosts_mark(struct scenario_reader *reader, const struct yaml_node *list, bool *marks);

/* Adds an error about a name that no host has, with the nearest name. */
void scenario_hosts_refuse(struct scenario_reader *reader, const struct yaml_node *node,
			   const char *name);

/* ---- helpers of printers ---- */

void scenario_print_list(const struct param *list, const void *params, int indent, FILE *out);
void scenario_print_text(const char *text, FILE *out); /* in double quotes */
/* Prints a list of texts below a key, which has `indent` spaces before it. An empty list prints
 * nothing. */
void scenario_print_texts(const char *key, int indent, const char *const *texts, uint32_t count,
			  FILE *out);

/* Prints the absolute path of the file, so that the text is valid in any folder. scenario_hash()
 * gets a hash of the contents instead. */
void scenario_print_file(const char *path, FILE *out);

/* Prints a name, or a file's path if there is a slash in it. */
void scenario_print_name(const char *name, FILE *out);

/* ---- sections, see scenario_sections.h ---- */

const char *const *scenario_hosts_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_hosts_print(const struct scenario *scenario, FILE *out);
void scenario_hosts_release(struct scenario *scenario);

/* Precedes `hosts`, because the topology may determine the number of hosts. */
const char *const *scenario_topology_read(struct scenario_reader *reader, struct yaml_node *node);
bool scenario_topology_is_file(const struct scenario *scenario);          /* a file describes it */
void scenario_topology_print(const struct scenario *scenario, FILE *out); /* one line */

const char *const *scenario_fabric_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_fabric_check(struct scenario_reader *reader, struct yaml_node *node);
void scenario_fabric_print(const struct scenario *scenario, FILE *out);
void scenario_fabric_release(struct scenario *scenario);

const char *const *scenario_workload_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_workload_check(struct scenario_reader *reader, struct yaml_node *node);
void scenario_workload_check_run(struct scenario_reader *reader, struct yaml_node *node);
void scenario_workload_print(const struct scenario *scenario, FILE *out);
void scenario_workload_release(struct scenario *scenario);

const char *const *scenario_workloads_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_workloads_print(const struct scenario *scenario, FILE *out);
void scenario_workloads_release(struct scenario *scenario);

/* Reads the hosts of a workload of pattern storage, and checks its sections. Hosts that `node`
 * lacks come from `common`. `node` may be NULL. */
void scenario_storage_read(struct scenario_reader *reader, struct yaml_node *node,
			   struct yaml_node *common, struct scenario_workload *workload);
void scenario_storage_print_hosts(const struct scenario_workload *workload, int indent, FILE *out);
void scenario_storage_release(struct scenario_workload *workload);

const char *const *scenario_load_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_load_check(struct scenario_reader *reader, struct yaml_node *node);

const char *const *scenario_faults_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_faults_check(struct scenario_reader *reader);
void scenario_faults_print(const struct scenario *scenario, FILE *out);
void scenario_faults_release(struct scenario *scenario);

const char *const *scenario_record_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_record_check(struct scenario_reader *reader, struct yaml_node *node);
void scenario_record_print(const struct scenario *scenario, FILE *out);
void scenario_record_release(struct scenario *scenario);

/* The keys of record.only: which packets are recorded. */
void scenario_packets_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_packets_print(const struct scenario *scenario, FILE *out);
void scenario_packets_release(struct scenario *scenario);

const char *const *scenario_expect_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_expect_print(const struct scenario *scenario, FILE *out);
void scenario_expect_release(struct scenario *scenario);

const char *const *scenario_programs_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_programs_print(const struct scenario *scenario, FILE *out);
void scenario_programs_release(struct scenario *scenario);

const char *const *scenario_sweep_read(struct scenario_reader *reader, struct yaml_node *node);
const char *const *scenario_sweep_variants_read(struct scenario_reader *reader,
						struct yaml_node *node);
void scenario_sweep_release(struct scenario *scenario); /* of both */

/* ---- parts of `hosts` and `fabric` ---- */

/* Reads the key `host` beside an adapter that has been read. If `hca` is NULL, the adapter has
 * defaults only. If `params` is NULL, the adapter has fidelity endpoint, which is an error. */
void scenario_slot_read(struct scenario_reader *reader, struct yaml_node *hca,
			struct yaml_node *slot, struct hca_params *params);

/* Read, print and free VLs and forwarding tables. Hosts and switches must have been read. */
void scenario_vls_read(struct scenario_reader *reader, struct yaml_node *fabric);
void scenario_vls_print(const struct scenario *scenario, FILE *out);
void scenario_vls_free(struct scenario *scenario);

/* Partitions and multicast groups. Hosts have been read. */
void scenario_subnet_read(struct scenario_reader *reader, struct yaml_node *fabric);
void scenario_subnet_print(const struct scenario *scenario, FILE *out);
void scenario_subnet_free(struct scenario *scenario);

/* ---- checks between sections, after all of them have been read ---- */

/* Refuses unsupported combinations of adapters of fidelity endpoint and detailed. */
void scenario_workload_check_fidelities(struct scenario_reader *reader);

/* Refuses sections and values that fidelity: flow does not support. */
void scenario_flow_check(struct scenario_reader *reader);

/* Refuses sections and values that TCP connections do not support. */
void scenario_tcp_check(struct scenario_reader *reader);
/* Refuses sections and values that adapters with the driver siw do not support. */
void scenario_tcp_check_siw(struct scenario_reader *reader);

/* Refuses congestion control that never receives its signal. */
void scenario_congestion_check(struct scenario_reader *reader);

/* Adds warnings for keys that have no effect because of other keys, if there is no error. */
void scenario_effects_check(struct scenario_reader *reader);

extern const struct param scenario_fault_place_list[], scenario_fault_choice_list[],
	scenario_fault_burst_list[], scenario_fault_time_list[], scenario_fault_repeat_list[],
	scenario_fault_condition_list[];
extern const struct param scenario_fabric_param_list[], scenario_record_param_list[],
	scenario_program_param_list[], scenario_topology_param_list[];
extern const struct param_section scenario_workload_sections[]; /* of an entry of `workloads` */

#endif
