/*
 * scenario_faults: what goes wrong on the links, as a list. Each entry names the links by the two ends a packet goes
 * between, and one thing that happens to packets:
 *
 *     faults:
 *       - drop: {probability: 1%}                            everywhere
 *       - {from: host0, to: "*", drop: {nth: 3, opcode: RC_SEND_ONLY}}
 *       - {from: leaf*, delay: {nth: 100, by: 5us}}
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "scenarios/scenario_read.h"

#define OPCODE_COUNT 256

/* clang-format off */
#define PLACE_ROW(...) PARAM_ROW(struct scenario_fault_place, __VA_ARGS__)
const struct param scenario_fault_place_list[] = { FAULT_PLACE_PARAMS(PLACE_ROW) {0} };
#define CHOICE_ROW(...) PARAM_ROW(struct scenario_fault_choice, __VA_ARGS__)
const struct param scenario_fault_choice_list[] = { FAULT_CHOICE_PARAMS(CHOICE_ROW) {0} };

#define ACTION_NAME(name, meaning) #name,
static const char *const action_names[] = { FAULT_ACTIONS(ACTION_NAME) };
/* clang-format on */

const char *scenario_fault_action(enum fault_action action)
{
	return action_names[action];
}

/* Does the pattern mean any host or switch that there is? */
static bool matches_any(const struct scenario *scenario, const char *pattern)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (fnmatch(pattern, scenario->hosts[i].name, 0) == 0)
			return true;
	}
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		if (fnmatch(pattern, scenario->switches[i].name, 0) == 0)
			return true;
	}
	return false;
}

static const char *read_pattern(struct scenario_reader *reader, struct yaml_node *map,
				const char *key)
{
	struct yaml_node *node = yaml_get(map, key);
	if (node == NULL)
		return "*";
	const char *pattern = yaml_expect_text(
		node, "the name of hosts or switches; * and ? allowed", reader->errors);
	if (pattern != NULL && !matches_any(reader->scenario, pattern))
		yaml_error(reader->errors, node, "%s: no host or switch is called \"%s\"", key,
			   pattern);
	return pattern != NULL ? pattern : "*";
}

static uint16_t read_opcode(struct scenario_reader *reader, struct yaml_node *map)
{
	const char *names[OPCODE_COUNT];
	size_t count = 0;
	struct yaml_node *node = yaml_get(map, "opcode");
	const char *text =
		node != NULL ? yaml_expect_text(node, "an opcode, as RC_SEND_ONLY", reader->errors)
			     : NULL;
	if (text == NULL)
		return FAULT_ANY_OPCODE;
	for (unsigned opcode = 0; opcode < OPCODE_COUNT; opcode++) {
		if (!opcode_known((uint8_t)opcode))
			continue;
		if (strcmp(opcode_name((uint8_t)opcode), text) == 0)
			return (uint16_t)opcode;
		names[count++] = opcode_name((uint8_t)opcode);
	}
	const char *near = yaml_suggest(text, names, count);
	if (near != NULL)
		yaml_error(reader->errors, node, "no opcode \"%s\"; did you mean \"%s\"?", text,
			   near);
	else
		yaml_error(reader->errors, node, "no opcode \"%s\"; expected one as RC_SEND_ONLY",
			   text);
	return FAULT_ANY_OPCODE;
}

static void read_rule(struct scenario_reader *reader, struct yaml_node *node,
		      struct fault_rule *rule)
{
	static const char *const keys[] = {"opcode", NULL};
	struct scenario_fault_choice choice;
	params_default(scenario_fault_choice_list, &choice);
	if (!yaml_expect_map(node, "which packets: {probability: 1%} or {nth: 3}", reader->errors))
		return;
	yaml_override_params(node, scenario_fault_choice_list, &choice, reader->errors);
	rule->kind = (enum packet_kind)choice.kind;
	rule->opcode = read_opcode(reader, node);
	rule->probability = choice.probability;
	rule->nth = choice.nth;
	rule->delay = choice.by;
	if ((yaml_get(node, "probability") != NULL) == (yaml_get(node, "nth") != NULL))
		yaml_error(reader->errors, node, "expected either probability or nth");
	if ((rule->action == FAULT_delay) != (yaml_get(node, "by") != NULL))
		yaml_error(reader->errors, node,
			   rule->action == FAULT_delay ? "delay: expected by: and a time"
						       : "by: is for delay alone");
	scenario_refuse_unused(reader, node, scenario_fault_choice_list, keys);
}

static void read_fault(struct scenario_reader *reader, struct yaml_node *node)
{
	const char *keys[FAULT_ACTION_COUNT + 3] = {"from", "to"};
	struct scenario *scenario = reader->scenario;
	struct scenario_fault *fault = &scenario->faults[scenario->fault_count++];
	struct scenario_fault_place place;
	unsigned actions = 0;
	params_default(scenario_fault_place_list, &place);
	if (!yaml_expect_map(node, "a fault, as {from: host0, drop: {probability: 1%}}",
			     reader->errors))
		return;
	fault->from = read_pattern(reader, node, "from");
	fault->to = read_pattern(reader, node, "to");
	yaml_override_params(node, scenario_fault_place_list, &place, reader->errors);
	fault->at_receiver = place.side == 1;
	for (unsigned i = 0; i < FAULT_ACTION_COUNT; i++) {
		struct yaml_node *action = yaml_get(node, action_names[i]);
		keys[i + 2] = action_names[i];
		if (action == NULL)
			continue;
		actions++;
		fault->rule.action = (enum fault_action)i;
		read_rule(reader, action, &fault->rule);
	}
	unsigned before = reader->errors->count;
	scenario_refuse_unused(reader, node, scenario_fault_place_list, keys);
	if (actions != 1 && before == reader->errors->count)
		yaml_error(reader->errors, node,
			   "expected one of drop, corrupt_icrc, corrupt_vcrc, delay; found %u",
			   actions);
	if (fault->at_receiver && fault->rule.action == FAULT_delay)
		yaml_error(reader->errors, node, "delay is possible at the transmitter only");
}

void scenario_read_faults(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (node == NULL)
		return;
	if (node->kind != YAML_LIST) {
		yaml_error(reader->errors, node, "found %s; expected a list of faults",
			   yaml_kind_name(node->kind));
		return;
	}
	scenario->faults =
		scenario_take_entries(node, sizeof(*scenario->faults), &scenario->fault_count);
	for (struct yaml_node *fault = node->children; fault != NULL; fault = fault->next)
		read_fault(reader, fault);
}
