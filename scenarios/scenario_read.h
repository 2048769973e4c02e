/*
 * scenario_read: what the files that read a scenario share and nobody else includes.
 */
#ifndef SCENARIOS_SCENARIO_READ_H
#define SCENARIOS_SCENARIO_READ_H

#include "scenarios/scenario.h"

struct scenario_reader {
	struct scenario *scenario;
	struct yaml_errors *errors;
};

/* Zeroed, for as many elements as the list or map has entries; *count is 0: the reader counts those it took. */
void *scenario_take_entries(const struct yaml_node *node, size_t element_bytes, uint32_t *count);

/* Letters, digits and - _, as in a host's name. */
bool scenario_name_valid(const char *name);

/* Errors for the unused keys of the map: known are the list's names and the others (both may be NULL). */
void scenario_refuse_unused(struct scenario_reader *reader, const struct yaml_node *map,
			    const struct param *list, const char *const *others);

/* fabric: switches, links or a topology. Hosts have been read. scenario_fabric.c */
void scenario_read_fabric(struct scenario_reader *reader, struct yaml_node *node);

/* faults: what goes wrong on the links. Hosts and switches have been read. scenario_faults.c */
void scenario_read_faults(struct scenario_reader *reader, struct yaml_node *node);
const char *scenario_fault_action(enum fault_action action);

extern const struct param scenario_fault_place_list[], scenario_fault_choice_list[];
extern const struct param scenario_param_list[], scenario_fabric_param_list[],
	scenario_record_param_list[], scenario_program_param_list[];

#endif
