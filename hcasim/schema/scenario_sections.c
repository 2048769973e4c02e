/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_sections: table of scenario_sections.h, and the actions of reader and printer for each
 * entry. Sections are read and printed in the order of the table.
 */
#include "hcasim/schema/scenario_sections.h"

#include <assert.h>
#include <string.h>

#define KEYS_MAX     64
#define PLACE(field) offsetof(struct scenario, field)

#define PRESENT(section, expression)                                   \
	static bool section##_present(const struct scenario *scenario) \
	{                                                              \
		return expression;                                     \
	}

PRESENT(workload, scenario->has_workload)
PRESENT(workloads, scenario->has_workloads)
PRESENT(load, scenario->has_load)
PRESENT(faults, scenario->fault_count > 0)
PRESENT(mirrors, scenario->mirror_count > 0)
PRESENT(expect, scenario->expectation_count > 0)
PRESENT(programs, scenario->program_count > 0)

/* clang-format off */
#define SCENARIO_ROW(...) PARAM_ROW(struct scenario, __VA_ARGS__)
static const struct param scenario_param_list[] = { SCENARIO_PARAMS(SCENARIO_ROW) {0} };
#define RUN_ROW(...) PARAM_ROW(struct scenario_run, __VA_ARGS__)
static const struct param scenario_run_param_list[] = { RUN_PARAMS(RUN_ROW) {0} };
/* clang-format on */

static const struct param_section workload_sections[] = {
	{"posting", flow_driver_param_list, PLACE(posting), "how flows are posted"},
	{"host", load_host_param_list, PLACE(workload_hosts),
	 "queues of hosts with detailed adapters"},
	{"cpu", load_cpu_param_list, PLACE(workload_hosts.cpu),
	 "times of calls on hosts with detailed adapters"},
	{"storage", storage_param_list, PLACE(storage.storage),
	 "pattern storage: protocol and sizes of operations"},
	{"device", storage_device_param_list, PLACE(storage.device),
	 "pattern storage: storage device of a target"},
	{"operation_cpu", storage_cpu_param_list, PLACE(storage.cpu),
	 "pattern storage: times of processor cores for an operation, a model of their cost"},
	{0}};

/* clang-format off */
#define RING_ROW(...) PARAM_ROW(struct scenario_record_ring, __VA_ARGS__)
static const struct param record_ring_param_list[] = { RECORD_RING_PARAMS(RING_ROW) {0} };
/* clang-format on */
static const struct param_section record_sections[] = {
	{"ring", record_ring_param_list, PLACE(ring), "the latest packets before a trigger"}, {0}};

/* Keys of each entry of the list `faults`. The names are the names in `hcasim params`. */
static const struct param_section fault_sections[] = {
	{"packets", scenario_fault_choice_list, 0,
	 "drop, corrupt_icrc, corrupt_vcrc, delay, reorder: affected packets; also `opcode`"},
	{"packets.burst", scenario_fault_burst_list, 0,
	 "channel with a good and a bad state, changed packet by packet (Gilbert-Elliott)"},
	{"ports", scenario_fault_repeat_list, 0,
	 "link_down, pause_storm, slow_receiver: extent and repetition; also `priorities`"},
	{"time", scenario_fault_time_list, 0, "all actions: start and duration"},
	{"when", scenario_fault_condition_list, 0,
	 "all actions: condition; the action starts when `counter` reaches a value"},
	{0}};

/* Keys of each entry of the list `mirrors`. */
static const struct param_section mirror_sections[] = {
	{"erspan", mirror_erspan_param_list, 0,
	 "copies are IP packets with GRE and ERSPAN to a host anywhere in the fabric (Ethernet)"},
	{0}};

const struct scenario_section scenario_sections[] = {
	{
		.name = "scenario",
		.meaning = "the top of a scenario file",
		.list = scenario_param_list,
	},
	{
		.name = "cpu",
		.meaning = "times that the processors of all hosts take for the calls of a program",
		.list = session_cpu_param_list,
		.place = PLACE(cpu),
	},
	{
		.name = "kernel",
		.meaning = "times of the hosts' operating systems, and attributes that they report "
			   "for their adapter",
		.list = kernel_param_list,
		.place = PLACE(kernel),
	},
	{
		.name = "sockets",
		.meaning = "TCP sockets of programs: link, buffers, times of the hosts' stacks",
		.list = socket_param_list,
		.place = PLACE(sockets),
	},
	{
		.name = "session",
		.meaning = "execution of programs; only `limit` changes results",
		.list = session_param_list,
		.place = PLACE(session),
	},
	{
		.name = "mpi",
		.meaning = "times of the MPI library of programs (hcasim mpi)",
		.list = mpi_param_list,
		.place = PLACE(mpi),
		.sections = load_host_sections,
		.sections_place = PLACE(mpi_hosts),
	},
	{
		.name = "fabric.topology",
		.meaning = "the numbers of a topology",
		.list = scenario_topology_param_list,
		.irregular = true,
		.read_more = scenario_topology_read,
	},
	{
		.name = "hosts",
		.meaning = "hosts by name, or their number, each with its adapter",
		.irregular = true,
		.read_more = scenario_hosts_read,
		.print_more = scenario_hosts_print,
		.release = scenario_hosts_release,
	},
	{
		.name = "fabric",
		.meaning = "the links and switches that connect the hosts",
		.list = scenario_fabric_param_list,
		.place = PLACE(fabric),
		.read_more = scenario_fabric_read,
		.check = scenario_fabric_check,
		.print_more = scenario_fabric_print,
		.release = scenario_fabric_release,
	},
	{
		.name = "workload",
		.meaning = "traffic between hosts; also `trace` and `cdf`, names of files, and "
			   "`initiators` and `targets`, lists of hosts",
		.list = workload_param_list,
		.place = PLACE(workload),
		.sections = workload_sections,
		.read_more = scenario_workload_read,
		.check = scenario_workload_check,
		.is_present = workload_present,
		.print_more = scenario_workload_print,
		.release = scenario_workload_release,
	},
	{
		.name = "workloads",
		.meaning = "several workloads side by side, by name: keys of `workload`, and "
			   "`hosts`, `congestion`",
		.irregular = true,
		.read_more = scenario_workloads_read,
		.is_present = workloads_present,
		.print_more = scenario_workloads_print,
		.release = scenario_workloads_release,
	},
	{
		.name = "run",
		.meaning = "duration of a workload, and conditions that fail it",
		.list = scenario_run_param_list,
		.place = PLACE(run),
		.check = scenario_workload_check_run,
		.is_present = workload_present,
	},
	{
		.name = "load",
		.meaning = "work requests that processor cores post to detailed HCAs, without "
			   "programs",
		.list = load_param_list,
		.place = PLACE(load),
		.sections = load_sections,
		.sections_place = PLACE(load),
		.read_more = scenario_load_read,
		.check = scenario_load_check,
		.is_present = load_present,
	},
	{
		.name = "faults",
		.meaning = "one fault of the list, with `from`, `to` and one action",
		.list = scenario_fault_place_list,
		.sections = fault_sections,
		.irregular = true,
		.read_more = scenario_faults_read,
		.is_present = faults_present,
		.print_more = scenario_faults_print,
		.release = scenario_faults_release,
	},
	{
		.name = "mirrors",
		.meaning = "one port mirror of the list, with `from` and `to`",
		.list = mirror_param_list,
		.sections = mirror_sections,
		.irregular = true,
		.read_more = scenario_mirrors_read,
		.is_present = mirrors_present,
		.print_more = scenario_mirrors_print,
		.release = scenario_mirrors_release,
	},
	{
		.name = "record",
		.meaning = "the files of the result folder",
		.list = scenario_record_param_list,
		.place = PLACE(record),
		.sections = record_sections,
		.read_more = scenario_record_read,
		.check = scenario_record_check,
		.print_more = scenario_record_print,
		.release = scenario_record_release,
	},
	{
		.name = "expect",
		.meaning = "bounds of counters and metrics at the end of a run",
		.irregular = true,
		.read_more = scenario_expect_read,
		.is_present = expect_present,
		.print_more = scenario_expect_print,
		.release = scenario_expect_release,
	},
	{
		.name = "programs",
		.meaning = "one program of the list, with `host` and `command`",
		.list = scenario_program_param_list,
		.irregular = true,
		.read_more = scenario_programs_read,
		.is_present = programs_present,
		.print_more = scenario_programs_print,
		.release = scenario_programs_release,
	},
	{
		.name = "variants",
		.meaning = "maps of keys by name, which a sweep applies to the scenario in turn",
		.irregular = true,
		.read_more = scenario_sweep_variants_read,
	},
	{
		.name = "sweep",
		.meaning = "values by key path; each combination is a run",
		.irregular = true,
		.read_more = scenario_sweep_read,
		.release = scenario_sweep_release,
	},
	{0}};

/* Returns the node of the section, or NULL. */
static struct yaml_node *find(struct yaml_node *root, const struct scenario_section *section)
{
	struct yaml_node *node = root;
	char key[KEYS_MAX];

	if (section == scenario_sections)
		return root;
	for (const char *at = section->name; node && *at != '\0';) {
		size_t length = strcspn(at, ".");

		assert(length < sizeof(key));
		memcpy(key, at, length);
		key[length] = '\0';
		node = yaml_get(node, key);
		at += length + (at[length] == '.');
	}
	return node;
}

/* Refuses keys that are not in the lists or in `more`, and at the top not names of sections. */
static void refuse_unused(struct scenario_reader *reader, const struct scenario_section *section,
			  const struct yaml_node *map, const char *const *more)
{
	const char *names[KEYS_MAX] = {NULL};
	size_t count = 0;

	if (section != scenario_sections) {
		scenario_refuse_sections(reader, map, section->list, section->sections, more);
		return;
	}
	for (const struct scenario_section *other = section + 1; other->name; other++)
		if (!strchr(other->name, '.'))
			names[count++] = other->name;
	assert(count < KEYS_MAX);
	scenario_refuse_unused(reader, map, section->list, names);
}

static void set_defaults(struct scenario *scenario, const struct scenario_section *section)
{
	char *base = (char *)scenario;

	if (section->list)
		params_default(section->list, base + section->place);
	for (const struct param_section *inner = section->sections; inner && inner->name; inner++)
		params_default(inner->list, base + section->sections_place + inner->offset);
}

static void read_section(struct scenario_reader *reader, const struct scenario_section *section)
{
	char *base = (char *)reader->scenario;
	struct yaml_node *node = find(reader->root, section);
	const char *const *more = NULL;

	reader->errors_before = reader->errors->count;
	bool is_map = !section->irregular && node &&
		      yaml_expect_map(node, section->meaning, reader->errors);
	if (is_map && section->list)
		yaml_override_params(node, section->list, base + section->place, reader->errors);
	if (is_map && section->sections)
		yaml_override_sections(node, section->sections, base + section->sections_place,
				       reader->errors);
	if (section->read_more)
		more = section->read_more(reader, node);
	if (is_map && section != scenario_sections)
		refuse_unused(reader, section, node, more);
	if (is_map && section->check)
		section->check(reader, node);
}

void scenario_sections_read(struct scenario_reader *reader)
{
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		if (!section->irregular)
			set_defaults(reader->scenario, section);
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		read_section(reader, section);
	refuse_unused(reader, scenario_sections, reader->root, NULL);
}

static void print_section(const struct scenario *scenario, const struct scenario_section *section,
			  FILE *out)
{
	const char *base = (const char *)scenario;
	bool is_top = section == scenario_sections;

	if (section->irregular && !section->print_more)
		return;
	if (!is_top)
		fprintf(out, "%s:\n", section->name);
	if (!section->irregular && section->list)
		scenario_print_list(section->list, base + section->place, is_top ? 0 : 2, out);
	if (section->print_more)
		section->print_more(scenario, out);
	for (const struct param_section *inner = section->sections;
	     !section->irregular && inner && inner->name; inner++) {
		fprintf(out, "  %s:\n", inner->name);
		scenario_print_list(inner->list, base + section->sections_place + inner->offset, 4,
				    out);
	}
}

void scenario_sections_print(const struct scenario *scenario, FILE *out)
{
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		if (!section->is_present || section->is_present(scenario))
			print_section(scenario, section, out);
}

void scenario_sections_release(struct scenario *scenario)
{
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		if (section->release)
			section->release(scenario);
}
