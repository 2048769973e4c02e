/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_faults: section `faults`. Each entry names links by the two ends that packets go
 * between, and one action on packets, or on the ports at the `from` ends:
 *
 *     faults:
 *       - drop: {probability: 1%}                               on every link
 *       - {from: host0, to: "*", drop: {nth: 3, opcode: RC_SEND_ONLY}}
 *       - {from: leaf*, drop: {burst: {to_bad: 0.1%, to_good: 10%}}}
 *       - {from: leaf0, link_down: {begin: 1ms, lasts: 50us}}   a switch that restarts
 *       - from: host3
 *         pause_storm: {when: {counter: host3.hca.port.packets_received, reaches: 1000}}
 */
#include "hcasim/schema/scenario_faults.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "hcasim/schema/scenario_read.h"

#define OPCODE_COUNT   256
#define PRIORITY_COUNT 8
#define ACTION_COUNT   ((unsigned)FAULT_ACTION_COUNT + (unsigned)PORT_FAULT_COUNT)

/* clang-format off */
#define PLACE_ROW(...) PARAM_ROW(struct scenario_fault_place, __VA_ARGS__)
const struct param scenario_fault_place_list[] = { FAULT_PLACE_PARAMS(PLACE_ROW) {0} };
#define CHOICE_ROW(...) PARAM_ROW(struct scenario_fault_choice, __VA_ARGS__)
const struct param scenario_fault_choice_list[] = { FAULT_CHOICE_PARAMS(CHOICE_ROW) {0} };
#define BURST_ROW(...) PARAM_ROW(struct fault_burst, __VA_ARGS__)
const struct param scenario_fault_burst_list[] = { FAULT_BURST_PARAMS(BURST_ROW) {0} };
#define REPEAT_ROW(...) PARAM_ROW(struct scenario_fault_repeat, __VA_ARGS__)
const struct param scenario_fault_repeat_list[] = { FAULT_REPEAT_PARAMS(REPEAT_ROW) {0} };
#define TIME_ROW(...) PARAM_ROW(struct scenario_fault_time, __VA_ARGS__)
const struct param scenario_fault_time_list[] = { FAULT_TIME_PARAMS(TIME_ROW) {0} };
#define CONDITION_ROW(...) PARAM_ROW(struct scenario_fault_condition, __VA_ARGS__)
const struct param scenario_fault_condition_list[] = { FAULT_CONDITION_PARAMS(CONDITION_ROW) {0} };

/* Names of actions. Actions on packets come first. */
#define ACTION_NAME(name, meaning) #name,
static const char *const action_names[] = { FAULT_ACTIONS(ACTION_NAME) PORT_FAULTS(ACTION_NAME) };
/* clang-format on */

bool scenario_fault_concerns(const struct scenario *scenario, const struct scenario_fault *fault,
			     const struct scenario_link *link, unsigned from)
{
	return fnmatch(fault->from, scenario_node_name(scenario, &link->ends[from]), 0) == 0 &&
	       fnmatch(fault->to, scenario_node_name(scenario, &link->ends[1 - from]), 0) == 0;
}

/* Adds an error if both names exist but no link connects them. */
static void expect_link(struct scenario_reader *reader, struct yaml_node *node,
			const struct scenario_fault *fault)
{
	const struct scenario *scenario = reader->scenario;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		if (scenario_fault_concerns(scenario, fault, link, 0) ||
		    scenario_fault_concerns(scenario, fault, link, 1))
			return;
	}
	yaml_error(reader->errors, node,
		   "no link from \"%s\" to \"%s\"; expected two neighbours, or * for any",
		   fault->from, fault->to);
}

static void read_fault(struct scenario_reader *reader, struct yaml_node *node);

const char *const *scenario_faults_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node || !scenario_expect_list(reader, node, "faults"))
		return NULL;
	scenario->faults =
		scenario_take_entries(node, sizeof(*scenario->faults), &scenario->fault_count);
	for (struct yaml_node *fault = node->children; fault; fault = fault->next)
		read_fault(reader, fault);
	return NULL;
}

static uint16_t read_opcode(struct scenario_reader *reader, struct yaml_node *map)
{
	const char *names[OPCODE_COUNT];
	size_t count = 0;
	struct yaml_node *node = yaml_get(map, "opcode");
	const char *text =
		node ? yaml_expect_text(node, "an opcode, as RC_SEND_ONLY", reader->errors) : NULL;
	if (!text)
		return FAULT_ANY_OPCODE;
	for (unsigned opcode = 0; opcode < OPCODE_COUNT; opcode++) {
		if (!opcode_known((uint8_t)opcode))
			continue;
		if (strcmp(opcode_name((uint8_t)opcode), text) == 0)
			return (uint16_t)opcode;
		names[count++] = opcode_name((uint8_t)opcode);
	}
	const char *near = yaml_suggest(text, names, count);
	if (near)
		yaml_error(reader->errors, node, "no opcode \"%s\"; did you mean \"%s\"?", text,
			   near);
	else
		yaml_error(reader->errors, node,
			   "no opcode \"%s\"; expected for example RC_SEND_ONLY", text);
	return FAULT_ANY_OPCODE;
}

static void read_burst(struct scenario_reader *reader, struct yaml_node *map,
		       struct fault_burst *burst)
{
	struct yaml_node *node = yaml_get(map, "burst");
	params_default(scenario_fault_burst_list, burst);
	if (!node || !yaml_expect_map(node, "{to_bad: 0.1%, to_good: 10%}", reader->errors))
		return;
	yaml_override_params(node, scenario_fault_burst_list, burst, reader->errors);
	scenario_refuse_unused(reader, node, scenario_fault_burst_list, NULL);
	if (burst->to_bad <= 0)
		yaml_error(reader->errors, node, "to_bad: expected a chance above 0");
}

/* Reads the keys that select the packets of a fault, and how often it acts. */
static void read_packets(struct scenario_reader *reader, struct yaml_node *node,
			 struct scenario_fault *fault)
{
	static const char *const losses[] = {"probability", "nth", "bit_error_rate", "burst"};
	bool later = fault->action == FAULT_delay || fault->action == FAULT_reorder;
	const char *action = action_names[fault->action];
	unsigned given = 0;
	yaml_override_params(node, scenario_fault_choice_list, &fault->choice, reader->errors);
	fault->opcode = read_opcode(reader, node);
	read_burst(reader, node, &fault->burst);
	for (unsigned i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		given += !!yaml_get(node, losses[i]);
	if (given != 1)
		yaml_error(reader->errors, node,
			   "expected one of probability, nth, bit_error_rate, burst; found %u",
			   given);
	if (later && !yaml_get(node, "by"))
		yaml_error(reader->errors, node, "%s: expected by: and a time", action);
	if (!later && yaml_get(node, "by"))
		yaml_error(reader->errors, node, "by: applies only to delay and reorder");
	if (later && fault->place.side == 1)
		yaml_error(reader->errors, node, "%s is possible at the transmitter only", action);
	if (fault->action == FAULT_reorder && reader->scenario->fabric.link_layer == 0)
		yaml_error(reader->errors, node,
			   "reorder is not possible on InfiniBand links, which preserve packet "
			   "order; expected link_layer: roce");
}

/* priorities: [3, 4] */
static uint8_t read_priorities(struct scenario_reader *reader, struct yaml_node *map)
{
	struct yaml_node *list = yaml_get(map, "priorities");
	uint8_t bits = 0;
	if (!list)
		return UINT8_MAX;
	if (!scenario_expect_list(reader, list, "priorities, 0..7"))
		return UINT8_MAX;
	for (struct yaml_node *entry = list->children; entry; entry = entry->next) {
		const char *text = yaml_expect_text(entry, "a priority, 0..7", reader->errors);
		if (!text)
			continue;
		if (text[0] < '0' || text[0] >= '0' + PRIORITY_COUNT || text[1] != '\0')
			yaml_error(reader->errors, entry, "found \"%s\"; expected a priority, 0..7",
				   text);
		else
			bits |= (uint8_t)(1u << (text[0] - '0'));
	}
	if (bits == 0)
		yaml_error(reader->errors, list, "expected at least one priority");
	return bits;
}

static void read_ports(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_fault *fault)
{
	const char *action = action_names[FAULT_ACTION_COUNT + (unsigned)fault->port_kind];
	yaml_override_params(node, scenario_fault_repeat_list, &fault->repeat, reader->errors);
	fault->priorities = read_priorities(reader, node);
	if (fault->port_kind == PORT_FAULT_pause_storm && reader->scenario->fabric.link_layer == 0)
		yaml_error(reader->errors, node,
			   "pause_storm is not possible on InfiniBand links, which have no pause "
			   "frames; expected link_layer: roce");
	if ((fault->port_kind == PORT_FAULT_slow_receiver) != !!yaml_get(node, "rate"))
		yaml_error(reader->errors, node,
			   fault->port_kind == PORT_FAULT_slow_receiver
				   ? "slow_receiver: expected rate: and a rate"
				   : "rate: applies only to slow_receiver");
	if (fault->port_kind != PORT_FAULT_pause_storm && yaml_get(node, "priorities"))
		yaml_error(reader->errors, node, "priorities: applies only to pause_storm");
	if (fault->place.side == 1)
		yaml_error(reader->errors, node, "side: does not apply to %s", action);
	if (fault->repeat.times > 1 &&
	    (fault->time.lasts == 0 || fault->repeat.period <= fault->time.lasts))
		yaml_error(reader->errors, node, "times needs lasts: and a longer period:");
}

static void read_condition(struct scenario_reader *reader, struct yaml_node *map,
			   struct scenario_fault *fault)
{
	static const char *const keys[] = {"counter", NULL};
	struct yaml_node *node = yaml_get(map, "when");
	params_default(scenario_fault_condition_list, &fault->condition);
	if (!node ||
	    !yaml_expect_map(node, "{counter: block.counter, reaches: 1000}", reader->errors))
		return;
	yaml_override_params(node, scenario_fault_condition_list, &fault->condition,
			     reader->errors);
	struct yaml_node *counter = yaml_get(node, "counter");
	if (counter)
		fault->counter = yaml_expect_text(counter, "block.counter", reader->errors);
	else
		yaml_error(reader->errors, node, "no counter; expected counter: block.counter");
	scenario_refuse_unused(reader, node, scenario_fault_condition_list, keys);
}

/* Refuses keys that are neither common to all actions nor in the list of this action. */
static void refuse_unused(struct scenario_reader *reader, struct yaml_node *node, bool of_ports)
{
	static const char *const packets[] = {"opcode", "burst", "begin", "lasts", "when", NULL};
	static const char *const ports[] = {"priorities", "begin", "lasts", "when", NULL};
	scenario_refuse_unused(reader, node,
			       of_ports ? scenario_fault_repeat_list : scenario_fault_choice_list,
			       of_ports ? ports : packets);
}

static void read_action(struct scenario_reader *reader, struct yaml_node *node,
			struct scenario_fault *fault)
{
	params_default(scenario_fault_choice_list, &fault->choice);
	params_default(scenario_fault_burst_list, &fault->burst);
	params_default(scenario_fault_repeat_list, &fault->repeat);
	params_default(scenario_fault_time_list, &fault->time);
	if (node->kind != YAML_NULL &&
	    !yaml_expect_map(
		    node,
		    "an action with its conditions, for example {probability: 1%} or {begin: 1ms}",
		    reader->errors))
		return;
	yaml_override_params(node, scenario_fault_time_list, &fault->time, reader->errors);
	read_condition(reader, node, fault);
	if (fault->of_ports)
		read_ports(reader, node, fault);
	else
		read_packets(reader, node, fault);
	refuse_unused(reader, node, fault->of_ports);
}

static void read_fault(struct scenario_reader *reader, struct yaml_node *node)
{
	const char *keys[ACTION_COUNT + 3] = {"from", "to"};
	struct scenario *scenario = reader->scenario;
	struct scenario_fault *fault = &scenario->faults[scenario->fault_count++];
	unsigned actions = 0;
	params_default(scenario_fault_place_list, &fault->place);
	if (!yaml_expect_map(node, "a fault, as {from: host0, drop: {probability: 1%}}",
			     reader->errors))
		return;
	fault->from = scenario_read_names(reader, node, "from", true);
	fault->to = scenario_read_names(reader, node, "to", true);
	if (reader->errors->count == 0)
		expect_link(reader, node, fault);
	yaml_override_params(node, scenario_fault_place_list, &fault->place, reader->errors);
	for (unsigned i = 0; i < ACTION_COUNT; i++) {
		struct yaml_node *action = yaml_get(node, action_names[i]);
		keys[i + 2] = action_names[i];
		if (!action)
			continue;
		actions++;
		fault->of_ports = i >= FAULT_ACTION_COUNT;
		fault->action = fault->of_ports ? 0 : (enum fault_action)i;
		fault->port_kind =
			fault->of_ports ? (enum port_fault_kind)(i - FAULT_ACTION_COUNT) : 0;
		read_action(reader, action, fault);
	}
	unsigned before = reader->errors->count;
	scenario_refuse_unused(reader, node, scenario_fault_place_list, keys);
	if (actions != 1 && before == reader->errors->count)
		yaml_error(
			reader->errors, node,
			"expected one of drop, corrupt_icrc, corrupt_vcrc, delay, reorder, mark, "
			"link_down, pause_storm, slow_receiver; found %u",
			actions);
}

struct fault_rule scenario_fault_rule(const struct scenario_fault *fault, const uint64_t *watched)
{
	return (struct fault_rule){
		.action = fault->action,
		.kind = (enum packet_kind)fault->choice.kind,
		.opcode = fault->opcode,
		.vls = (uint16_t)fault->choice.vls,
		.probability = fault->choice.probability,
		.nth = fault->choice.nth,
		.delay = fault->choice.by,
		.from = fault->time.begin,
		.until = fault->time.lasts > 0 ? fault->time.begin + fault->time.lasts : 0,
		.watched = watched,
		.reaches = fault->condition.reaches,
		.bit_error_rate = fault->choice.bit_error_rate,
		.burst = fault->burst,
	};
}

struct port_fault_plan scenario_fault_plan(const struct scenario_fault *fault,
					   const uint64_t *watched)
{
	return (struct port_fault_plan){
		.kind = fault->port_kind,
		.from = fault->time.begin,
		.lasts = fault->time.lasts > 0 ? fault->time.lasts : SIM_NEVER,
		.period = fault->repeat.period,
		.times = fault->repeat.times,
		.priorities = fault->priorities,
		.rate_bps = fault->repeat.rate,
		.watched = watched,
		.reaches = fault->condition.reaches,
		.every = fault->condition.every,
		.give_up = fault->condition.give_up,
	};
}

/* Prints the values that were set; the reader treats others as absent. */
static void print_packets(const struct scenario_fault *fault, FILE *out)
{
	const struct scenario_fault_choice *choice = &fault->choice;
	bool bursts = fault->burst.to_bad > 0;
	for (const struct param *param = scenario_fault_choice_list; param->name; param++) {
		bool nth = strcmp(param->name, "nth") == 0;
		bool rate = strcmp(param->name, "bit_error_rate") == 0;
		bool chance = strcmp(param->name, "probability") == 0;
		if ((nth && choice->nth == 0) || (rate && choice->bit_error_rate <= 0) ||
		    (chance && (choice->nth != 0 || choice->bit_error_rate > 0 || bursts)) ||
		    (param->kind == PARAM_TIME && fault->action != FAULT_delay &&
		     fault->action != FAULT_reorder))
			continue;
		scenario_print_list((const struct param[]){*param, {0}}, choice, 6, out);
	}
	if (fault->opcode != FAULT_ANY_OPCODE)
		fprintf(out, "      opcode: %s\n", opcode_name((uint8_t)fault->opcode));
	if (!bursts)
		return;
	fprintf(out, "      burst:\n");
	scenario_print_list(scenario_fault_burst_list, &fault->burst, 8, out);
}

static void print_ports(const struct scenario_fault *fault, FILE *out)
{
	const struct param *list = scenario_fault_repeat_list;
	if (fault->port_kind != PORT_FAULT_slow_receiver)
		list++; /* rate is the first, and only its */
	scenario_print_list(list, &fault->repeat, 6, out);
	if (fault->port_kind != PORT_FAULT_pause_storm)
		return;
	const char *comma = "";
	fprintf(out, "      priorities: [");
	for (unsigned i = 0; i < PRIORITY_COUNT; i++) {
		if ((fault->priorities >> i & 1) == 0)
			continue;
		fprintf(out, "%s%u", comma, i);
		comma = ", ";
	}
	fprintf(out, "]\n");
}

static void print_fault(const struct scenario_fault *fault, FILE *out)
{
	unsigned action = fault->of_ports ? FAULT_ACTION_COUNT + (unsigned)fault->port_kind
					  : (unsigned)fault->action;
	fprintf(out, "  - from: ");
	scenario_print_text(fault->from, out);
	fprintf(out, "\n    to: ");
	scenario_print_text(fault->to, out);
	fputc('\n', out);
	scenario_print_list(scenario_fault_place_list, &fault->place, 4, out);
	fprintf(out, "    %s:\n", action_names[action]);
	if (fault->of_ports)
		print_ports(fault, out);
	else
		print_packets(fault, out);
	scenario_print_list(scenario_fault_time_list, &fault->time, 6, out);
	if (!fault->counter)
		return;
	fprintf(out, "      when:\n        counter: ");
	scenario_print_text(fault->counter, out);
	fputc('\n', out);
	scenario_print_list(scenario_fault_condition_list, &fault->condition, 8, out);
}

/* Refuses a storm without an end in a run without an end. Its pause frames are events for ever. A
 * storm that waits for a counter may begin. */
void scenario_faults_check(struct scenario_reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_fault *fault = scenario->faults;
	struct yaml_node *list = yaml_get(reader->root, "faults");

	if (!scenario->has_workload || scenario->run.until > 0 || !list)
		return;
	for (struct yaml_node *node = list->children; node; node = node->next, fault++)
		if (fault->of_ports && fault->port_kind == PORT_FAULT_pause_storm &&
		    fault->time.lasts == 0)
			yaml_error(reader->errors, node,
				   "the pause_storm from %s never ends, nor would the run; "
				   "expected pause_storm: {lasts: ...}, or run: {until: ...}",
				   fault->from);
}

void scenario_faults_print(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; i < scenario->fault_count; i++)
		print_fault(&scenario->faults[i], out);
}

void scenario_faults_release(struct scenario *scenario)
{
	free(scenario->faults);
}
