/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_effects: warns, with file and line, of keys that have no effect because of other keys.
 * One table lists the dependencies. It covers keys that the scenario itself sets to a value other
 * than the default, and keys of --set with any value.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/encoding.h"
#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"

enum { KEY_BYTES = 64, VALUE_BYTES = PARAM_TEXT_BYTES };

/* ---- conditions ---- */

static bool is_pattern(const struct scenario *scenario, uint64_t patterns)
{
	return patterns >> scenario->workload.pattern & 1;
}

#define OF(pattern) (UINT64_C(1) << PATTERN_##pattern)
#define FROM_FILE   (OF(trace) | OF(goal) | OF(chakra))
#define COLLECTIVE                                                                  \
	(OF(ring_allreduce) | OF(tree_allreduce) | OF(halving_doubling_allreduce) | \
	 OF(ring_allgather) | OF(collective_all_to_all))
#define COUNTED                                                                                 \
	(OF(incast) | OF(permutation) | OF(shift) | OF(all_to_all) | OF(random) | OF(hotspot) | \
	 OF(shuffle) | OF(request_response))

#define CONDITION(name, expression)                               \
	static bool name(const struct scenario *scenario)         \
	{                                                         \
		const struct load_params *load = &scenario->load; \
		(void)load;                                       \
		return expression;                                \
	}

CONDITION(no_file, !is_pattern(scenario, FROM_FILE | OF(storage)))
CONDITION(has_operation, !is_pattern(scenario, OF(trace) | OF(storage)))
CONDITION(has_queue_pairs, !is_pattern(scenario, OF(storage)))
CONDITION(draws_sizes, !is_pattern(scenario, FROM_FILE | COLLECTIVE | OF(storage)))
CONDITION(fixed_sizes, scenario->workload.sizes == 0 || is_pattern(scenario, COLLECTIVE))
CONDITION(has_target,
	  is_pattern(scenario, OF(incast) | OF(hotspot) | OF(request_response) | OF(storage)))
CONDITION(incast, is_pattern(scenario, OF(incast)))
CONDITION(shift, is_pattern(scenario, OF(shift)))
CONDITION(counted, is_pattern(scenario, COUNTED))
CONDITION(hotspot, is_pattern(scenario, OF(hotspot)))
CONDITION(poisson, is_pattern(scenario, OF(poisson)))
CONDITION(incasts, is_pattern(scenario, OF(poisson)) && scenario->workload.incast_load > 0)
CONDITION(requests, is_pattern(scenario, OF(request_response)))
CONDITION(stores, is_pattern(scenario, OF(storage)))
CONDITION(has_device, stores(scenario) && scenario->storage.storage.protocol < STORAGE_KV_ONE_SIDED)
CONDITION(has_steps, scenario->workload.phases > 1 || is_pattern(scenario, COLLECTIVE))
CONDITION(cut, scenario->posting.message > 0)
CONDITION(detailed, scenario_has(scenario, FIDELITY_DETAILED))
CONDITION(tcp, scenario_has_tcp(scenario))
CONDITION(siw, scenario_has_siw(scenario))
CONDITION(plain_tcp, scenario_has_plain_tcp(scenario))
CONDITION(iwarp, scenario_has_iwarp(scenario))
CONDITION(rdma, scenario_sends_rdma(scenario))
CONDITION(ethernet, scenario->fabric.link_layer == LINK_ETHERNET)
CONDITION(series, scenario->record.series > 0)
CONDITION(programs, !scenario->has_load && !scenario->has_workload)
CONDITION(registers, load->bfregs > 0)
CONDITION(strides, load->strides > 0)
CONDITION(places, load->addresses_per_region > 1)
CONDITION(reads,
	  load->verb == LOAD_READ || load->verb == LOAD_FETCH_ADD ||
		  (load->background.threads > 0 &&
		   (load->background.verb == LOAD_READ || load->background.verb == LOAD_FETCH_ADD)))
CONDITION(receives, load->verb == LOAD_SEND || load->server.cores > 0)
CONDITION(several, load->qps > 1 || load->nodes > 2 || load->server.cores > 0)
CONDITION(lone, load->post_list == 1)
CONDITION(no_sges, load->sges.count == 0)
CONDITION(pages, !load->contiguous)
CONDITION(locks, load->cores_per_thread > 1 || load->bfregs > 0)
CONDITION(serves, load->server.cores > 0)
CONDITION(looks_up, load->server.cores > 0 && load->server.lines > 0)
CONDITION(responds, load->server.cores > 0 && load->server.response != LOAD_RESPONSE_NONE)
CONDITION(datagrams, load->server.cores > 0 && load->server.response == LOAD_RESPONSE_DATAGRAM)
CONDITION(background, load->background.threads > 0)
CONDITION(compresses, load->cqe_compression || (!scenario->has_load && !scenario->has_workload))

/* ---- dependencies ---- */

struct dependency {
	const char *section; /* section of the keys; "hosts ...": any map of that name in hosts */
	const struct param *list;
	const char *keys; /* "*": all of the list */
	bool (*holds)(const struct scenario *scenario);
	const char *needs;
};

/* Keys of an adapter of fidelity endpoint that belong to its RDMA transport. */
#define RDMA_KEYS                                                                                \
	"read_latency atomic_latency window_packets cwnd_fill pace_from pace_update "            \
	"max_rd_atomic "                                                                         \
	"ack_interval "                                                                          \
	"recovery nak repeat_nak nak_interval cumulative_ack nak_delay nak_reaction "            \
	"read_loss_delay "                                                                       \
	"timeout_mode timeout timeout_fixed retry_count rto_low rto_high rto_low_packets "       \
	"timeout_restart timeout_retransmits partial_ack notify ack_priority data_header_extra " \
	"base_rtt"

/* clang-format off */
static const struct dependency dependencies[] = {
	{"workload", workload_param_list, "bytes", no_file,
	 "patterns other than trace, goal, chakra and storage"},
	{"workload", workload_param_list, "operation", has_operation,
	 "patterns other than trace and storage"},
	{"workload", workload_param_list, "queue_pairs", has_queue_pairs,
	 "patterns other than storage"},
	{"workload", workload_param_list, "sizes", draws_sizes,
	 "patterns other than trace, goal, chakra, storage and collectives"},
	{"workload", workload_param_list, "bytes", fixed_sizes, "sizes: fixed"},
	{"workload", workload_param_list, "target", has_target,
	 "pattern: incast, hotspot, request_response or storage"},
	{"workload", workload_param_list, "fan_in", incast, "pattern: incast"},
	{"workload", workload_param_list, "stride", shift, "pattern: shift"},
	{"workload", workload_param_list, "count", counted, "a pattern that counts flows"},
	{"workload", workload_param_list, "hot", hotspot, "pattern: hotspot"},
	{"workload", workload_param_list, "offered_load incast_load across arrivals_until", poisson,
	 "pattern: poisson"},
	{"workload", workload_param_list, "incast_fan_in incast_flows incast_bytes", incasts,
	 "pattern: poisson and incast_load above 0"},
	{"workload", workload_param_list, "request", requests, "pattern: request_response"},
	{"workload", workload_param_list, "gap", has_steps, "phases above 1, or a collective"},
	{"workload.storage", storage_param_list, "*", stores, "pattern: storage"},
	{"workload.operation_cpu", storage_cpu_param_list, "*", stores, "pattern: storage"},
	{"workload.device", storage_device_param_list, "*", has_device,
	 "pattern: storage, with a protocol other than kv_one_sided and kv_rpc"},
	{"workload.posting", flow_driver_param_list, "outstanding_messages", cut,
	 "workload.posting.message: a flow is one message otherwise"},
	{"workload.host", load_host_param_list, "*", detailed, "adapters of fidelity: detailed"},
	{"workload.cpu", load_cpu_param_list, "*", detailed, "adapters of fidelity: detailed"},
	{"hosts tcp", endpoint_tcp_param_list, "*", tcp, "transport: tcp or iwarp"},
	{"hosts tcp", endpoint_tcp_param_list, "nagle", plain_tcp, "transport: tcp"},
	{"hosts tcp", endpoint_tcp_param_list, "markers", iwarp, "transport: iwarp"},
	{"hosts rnic", rnic_param_list, "*", siw, "device: {driver: siw}"},
	{"hosts hca", endpoint_param_list, RDMA_KEYS, rdma, "transport: rdma"},
	{"fabric switch", switch_param_list,
	 "hash_fields priority_from unknown snooping telemetry_gaps", ethernet,
	 "fabric.link_layer: roce"},
	{"load", load_param_list, "low_latency_bfregs", registers, "load.bfregs above 0"},
	{"load", load_param_list, "stride_bytes", strides, "load.strides above 0"},
	{"load", load_param_list, "address_stride", places, "load.addresses_per_region above 1"},
	{"load", load_param_list, "max_rd_atomic", reads, "verb: read or fetch_add"},
	{"load", load_param_list, "rx_depth max_recv_sge", receives, "verb: send, or server.cores"},
	{"load", load_param_list, "order", several, "several queue pairs of a thread"},
	{"load", load_param_list, "posting", lone, "post_list: 1; lists are posted by doorbell"},
	{"load", load_param_list, "bytes", no_sges, "no sges; the message is their sum"},
	{"load", load_param_list, "page", pages, "contiguous: false"},
	{"load.cpu", load_cpu_param_list, "lock_handoff", locks,
	 "load.cores_per_thread above 1 or load.bfregs above 0"},
	{"load.cpu", load_cpu_param_list, "receive", receives, "verb: send, or server.cores"},
	{"load.cpu", load_cpu_param_list, "idle_poll cache memory side_by_side", serves,
	 "load.server.cores above 0"},
	{"load.background", load_background_param_list,
	 "qps verb bytes inline_data pattern regions local_regions", background,
	 "load.background.threads above 0"},
	{"load.server", load_server_param_list, "response chosen batch work lines slot", serves,
	 "load.server.cores above 0"},
	{"load.server", load_server_param_list, "table changes", looks_up,
	 "load.server.lines above 0"},
	{"load.server", load_server_param_list, "bytes inline_data post_list cq_mod", responds,
	 "server.cores that respond"},
	{"load.server", load_server_param_list, "qps", datagrams, "server.response: datagram"},
	{"hosts event_queue", event_queue_param_list, "*", programs,
	 "programs: the cores of a load or workload poll, and wait for no event"},
	{"hosts completion", completion_param_list, "compression_max compression_timeout",
	 compresses, "load.cqe_compression: true, or programs that request it"},
};
/* clang-format on */

static bool is_named(const char *keys, const char *key)
{
	size_t length = strlen(key);
	if (strcmp(keys, "*") == 0)
		return true;
	for (const char *at = strstr(keys, key); at; at = strstr(at + 1, key))
		if ((at == keys || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* Writes a list of sizes as a default has it: [4KiB, 64KiB]. */
static void print_sizes(const struct yaml_node *list, char *text, size_t text_bytes)
{
	const char *between = "[";
	size_t used = 0;
	*text = '\0';
	for (const struct yaml_node *node = list->children; node; node = node->next) {
		if (used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", between,
						 node->kind == YAML_SCALAR ? node->text : "");
		between = ", ";
	}
	if (used < text_bytes)
		snprintf(text + used, text_bytes - used, "]");
}

/* Returns true if the node differs from the value in `defaults`, or from the parameter's default if
 * `defaults` is NULL. */
static bool says_more(const struct param *param, const struct yaml_node *node, const void *defaults)
{
	_Alignas(16) char value[VALUE_BYTES] = {0};
	char here[VALUE_BYTES], nobody[VALUE_BYTES], error[VALUE_BYTES];
	struct param alone = *param;
	alone.offset = 0;
	if (node->kind == YAML_LIST && param_is_list(param->kind)) {
		print_sizes(node, here, sizeof(here));
		snprintf(nobody, sizeof(nobody), "%s", param->default_text);
		if (defaults)
			param_print(param, defaults, nobody, sizeof(nobody));
		return strcmp(here, nobody) != 0;
	}
	if (node->kind != YAML_SCALAR)
		return node->children;
	if (param->kind == PARAM_SIZES)
		return strcmp(node->text, param->default_text) != 0;
	if (!param_parse(&alone, param->default_text, value, error, sizeof(error)))
		return false;
	param_print(&alone, value, nobody, sizeof(nobody));
	if (defaults)
		param_print(param, defaults, nobody, sizeof(nobody));
	if (!param_parse(&alone, node->text, value, error, sizeof(error)))
		return false;
	param_print(&alone, value, here, sizeof(here));
	return strcmp(here, nobody) != 0;
}

static void check_map(struct scenario_reader *reader, const struct dependency *dependency,
		      const struct yaml_node *map, const void *defaults)
{
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		const struct param *param = dependency->list;
		while (param->name && strcmp(param->name, node->key) != 0)
			param++;
		if (!param->name || !is_named(dependency->keys, node->key) ||
		    !(yaml_is_set(node) || says_more(param, node, defaults)))
			continue;
		yaml_error_key(&reader->scenario->warnings, node,
			       "warning: %s has no effect here; it needs %s", node->key,
			       dependency->needs);
	}
}

/* Checks all maps of that key, at any depth. */
static void check_all(struct scenario_reader *reader, const struct dependency *dependency,
		      const struct yaml_node *node, const char *key)
{
	for (const struct yaml_node *child = node->children; child; child = child->next) {
		if (child->kind == YAML_MAP && child->key && strcmp(child->key, key) == 0)
			check_map(reader, dependency, child, NULL);
		else
			check_all(reader, dependency, child, key);
	}
}

static const struct yaml_node *child_of(const struct yaml_node *map, const char *key, size_t length)
{
	const struct yaml_node *node = map && map->kind == YAML_MAP ? map->children : NULL;
	while (node && !(strncmp(node->key, key, length) == 0 && node->key[length] == '\0'))
		node = node->next;
	return node;
}

static void check_section(struct scenario_reader *reader, const struct dependency *dependency,
			  const struct yaml_node *root)
{
	const char *section = dependency->section, *blank = strchr(section, ' ');
	const struct yaml_node *node = root;
	if (blank) {
		node = child_of(root, section, (size_t)(blank - section));
		if (node)
			check_all(reader, dependency, node, blank + 1);
		return;
	}
	for (const char *key = section; key && node;) {
		const char *dot = strchr(key, '.');
		node = child_of(node, key, dot ? (size_t)(dot - key) : strlen(key));
		key = dot ? dot + 1 : NULL;
	}
	if (node && node->kind == YAML_MAP)
		check_map(reader, dependency, node, NULL);
}

/* Returns true if the section is `workload` or a map inside it. */
static bool is_of_workload(const struct dependency *dependency)
{
	static const char workload[] = "workload";
	size_t length = sizeof(workload) - 1;
	return strncmp(dependency->section, workload, length) == 0 &&
	       (dependency->section[length] == '\0' || dependency->section[length] == '.');
}

/* Does the same for one of several workloads. Conditions depend on the values of this workload. */
static bool holds_for(const struct scenario *scenario, const struct dependency *dependency,
		      const struct scenario_workload *workload)
{
	struct scenario alone = *scenario;
	alone.workload = workload->params;
	alone.posting = workload->posting;
	alone.storage = workload->storage;
	return dependency->holds(&alone);
}

/* Returns the values of `workload`, or of a section inside it, which are the defaults of each of
 * several workloads. */
static const void *common_values(const struct scenario *scenario,
				 const struct dependency *dependency)
{
	if (dependency->list == workload_param_list)
		return &scenario->workload;
	if (dependency->list == storage_param_list)
		return &scenario->storage.storage;
	if (dependency->list == storage_device_param_list)
		return &scenario->storage.device;
	if (dependency->list == storage_cpu_param_list)
		return &scenario->storage.cpu;
	return &scenario->posting;
}

/* Keys of `workload` have an effect if they have one on any workload. */
static void check_workloads(struct scenario_reader *reader, const struct dependency *dependency,
			    const struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;
	const char *inner = strchr(dependency->section, '.');
	bool holds = false;
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		const struct yaml_node *node = workload->node;
		if (holds_for(scenario, dependency, workload)) {
			holds = true;
			continue;
		}
		if (inner)
			node = child_of(node, inner + 1, strlen(inner + 1));
		if (node && node->kind == YAML_MAP)
			check_map(reader, dependency, node, common_values(scenario, dependency));
	}
	if (!holds)
		check_section(reader, dependency, root);
}

/* ---- checks without a table ---- */

static uint64_t rate_of(const struct port_params *port)
{
	return port->speed == SPEED_EXPLICIT
		       ? port->rate
		       : encoding_rate_bps((enum infiniband_speed)port->speed, port->width);
}

static bool is_given(const struct scenario_link *link, const char *key)
{
	unsigned i = 0;
	while (port_param_list[i].name && strcmp(port_param_list[i].name, key) != 0)
		i++;
	return link->given >> i & 1;
}

static const struct port_params *port_of(const struct scenario_host *host)
{
	return host->detailed ? &host->detailed->port : &host->endpoint->port;
}

/* Warns if a link's rate, which overrides both ends, reduces the rate that an adapter's preset or
 * map sets. Only the first such adapter is named. */
static void check_links(struct scenario_reader *reader, const struct yaml_node *root)
{
	struct scenario *scenario = reader->scenario;
	const struct yaml_node *fabric = child_of(root, "fabric", 6);
	const struct yaml_node *node = child_of(fabric, "link", 4);
	struct port_params nobody;
	params_default(port_param_list, &nobody);
	for (uint32_t i = 0; i < 2 * scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i / 2];
		const struct scenario_node *end = &link->ends[i % 2];
		if (end->is_switch || !link->port || !is_given(link, "speed"))
			continue;
		const struct scenario_host *host = &scenario->hosts[end->number];
		uint64_t rate = rate_of(port_of(host)), most = rate_of(link->port);
		if (rate == rate_of(&nobody) || rate <= most)
			continue;
		yaml_error(&scenario->warnings, node ? node : fabric,
			   "warning: the link of %s reduces the rate of its adapter from %.6g to "
			   "%.6g Gb/s",
			   host->name, (double)rate / 1e9, (double)most / 1e9);
		return;
	}
}

static void check_fan_in(struct scenario_reader *reader, const struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;
	const struct yaml_node *node =
		child_of(child_of(root, "workload", 8), "incast_fan_in", strlen("incast_fan_in"));
	if (!node || !incasts(scenario) || scenario->workload.incast_fan_in < scenario->host_count)
		return;
	yaml_error(&reader->scenario->warnings, node,
		   "warning: of %u hosts, at most %u can send to one target; all of these send",
		   scenario->host_count, scenario->host_count - 1);
}

void scenario_effects_check(struct scenario_reader *reader)
{
	struct yaml_node *root = reader->root;
	if (reader->errors->count > 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(dependencies); i++) {
		if (reader->scenario->has_workloads && is_of_workload(&dependencies[i]))
			check_workloads(reader, &dependencies[i], root);
		else if (!dependencies[i].holds(reader->scenario))
			check_section(reader, &dependencies[i], root);
	}
	if (!series(reader->scenario)) {
		const struct yaml_node *node =
			child_of(child_of(root, "record", 6), "series_ports", 12);
		if (node && node->children)
			yaml_error_key(&reader->scenario->warnings, node,
				       "warning: series_ports has no effect here; it needs "
				       "record.series above 0");
	}
	check_links(reader, root);
	check_fan_in(reader, root);
}
