/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a scenario's values reach their objects, and that single keys override presets. Each
 * mistake is reported at its position. The effective configuration reads back to itself. All
 * installed scenarios and presets are valid, and each number of a preset has a source.
 */
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "fabric/wire/opcode.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/preset.h"
#include "hcasim/schema/scenario_sections.h"
#include "sim/renamed_keys.h"
#include "switch/switch_params.h"
#include "tests/support/suite.h"

#define TESTS(TEST)           \
	TEST(values)          \
	TEST(wrong)           \
	TEST(star_rules)      \
	TEST(overrides)       \
	TEST(sections)        \
	TEST(renamed_keys)    \
	TEST(preset_chain)    \
	TEST(port_numbers)    \
	TEST(shipped_presets) \
	TEST(shipped_scenarios)
SUITE(TESTS)

#define TREE TEST_DATA "/../.."

static const char path[] = "s.yaml";

static struct scenario *read_text(const char *text, struct yaml_errors *errors)
{
	FILE *file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	return scenario_read(path, NULL, 0, errors);
}

static char *print(const struct scenario *scenario)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	scenario_print(scenario, out);
	fclose(out);
	return text;
}

static void check_reads_back(const struct scenario *scenario)
{
	struct yaml_errors errors = {0};
	char *text = print(scenario);
	struct scenario *again = read_text(text, &errors);
	CU_ASSERT_PTR_NOT_NULL(again);
	if (again == NULL)
		printf("\n%s", yaml_errors_text(&errors));
	char *text_again = again != NULL ? print(again) : strdup("");
	CU_ASSERT_STRING_EQUAL(text, text_again);
	scenario_destroy(again);
	free(text);
	free(text_again);
	yaml_errors_free(&errors);
}

#define JOINED "hosts: {a: , b: }\nfabric: {topology: back-to-back}\n"

/* clang-format off */
static const struct { const char *text, *errors; } wrong[] = {
	{"", "1:1: found nothing; expected a scenario, as a map (key: value)\n"},
	{"seed: 1\n",
	 "1:1: no hosts; expected hosts: {host0: {hca: ...}, ...}\n"
	 "1:1: no fabric; expected fabric: {topology: single-switch, ...}\n"},
	{JOINED "sead: 2\n", "3:1: unknown key \"sead\"; did you mean \"seed\"?\n"},
	{JOINED "seed: -2\n", "3:7: seed: \"-2\" is negative; expected a whole number\n"},
	{"hosts: {a: {hcaa: x}, b: }\nfabric: {topology: back-to-back}\n",
	 "1:13: unknown key \"hcaa\"; did you mean \"hca\"?\n"},
	{"hosts: {a: , b: , c: }\nfabric: {topology: back-to-back}\n",
	 "2:9: topology back-to-back needs two hosts; found 3\n"},
	{"hosts: {a b: , b: }\nfabric: {topology: back-to-back}\n",
	 "1:9: \"a b\" is not a valid host name; expected letters, digits, - and _, at most 31\n"},
	{"hosts: {a: {address: 10.0.0.1}, b: {address: 127.0.0.300}}\nfabric: {topology: "
	 "back-to-back}\n",
	 "1:22: \"10.0.0.1\" is not in this machine's loopback network; expected 127.x.x.x\n"
	 "1:46: \"127.0.0.300\" is not an IPv4 address; expected 127.77.0.1\n"},
	{"hosts: {a: {address: 127.1.1.1}, b: {address: 127.1.1.1}}\nfabric: {topology: "
	 "back-to-back}\n",
	 "1:47: \"127.1.1.1\" is already the address of a\n"},
	{"hosts: {a: , b: }\nfabric: {topology: back-to-back, switch: x}\n",
	 "2:34: unknown key \"switch\"; expected link_layer, fidelity, partition_enforcement, "
	 "reroute_delay, routing, topology, link, vl_arbitration, service_levels, dscp, routes, "
	 "forwarding, multicast or partitions\n"},
	{"hosts: {a: , b: }\nfabric: {topology: ring}\n",
	 "2:20: topology: \"ring\" is not one of the choices; expected one of "
	 "links|back-to-back|single-switch|dumbbell|parking-lot|leaf-spine|fat-tree|dragonfly|torus"
	 "|net-file|hpcc-file\n"},
	{"hosts: {a: , b: }\nfabric: {link_layer: infiniband}\n",
	 "2:9: a has 0 links; an HCA has one port\n2:9: b has 0 links; an HCA has one port\n"},
	{"hosts: {a: , b: }\nfabric: {switches: {s: }, links: [{between: [a, s]}, {between: [b, "
	 "t]}]}\n",
	 "2:68: no host or switch \"t\"\n"},
	{"hosts: {a: , b: }\nfabric: {links: [{between: [a, x]}]}\n",
	 "2:32: no host or switch \"x\"\n"},
	{"hosts: {leaf0: , b: }\nfabric: {switches: {leaf0: }, links: [{between: [b, leaf]}]}\n",
	 "2:21: \"leaf0\" is already the name of a host\n2:53: no host or switch \"leaf\"; did you "
	 "mean \"leaf0\"?\n"},
	{"hosts: {a: , b: }\nfabric: {links: [{between: [a]}]}\n",
	 "2:28: expected a link's two ends: {between: [host0, switch0], ...}\n"},
	{"hosts: {a: , b: }\nfabric: {links: [{between: [a, b], lenght: 2m}]}\n",
	 "2:36: unknown key \"lenght\"; did you mean \"length\"?\n"},
	{"hosts: {a: , b: }\nfabric: {switches: {s: }, links: [{between: [a, s]}, {between: [b, "
	 "s]}, {between: [s, s]}]}\n",
	 "2:9: a link connects s to itself\n"},
	{"hosts: {a: , b: }\nfabric: {topology: single-switch, switch: sb77}\n",
	 "2:43: no preset \"sb77\"; did you mean \"sb7700\"?\n"},
	{"hosts: {a: , b: }\nfabric: {topology: single-switch, switch: cable-edr}\n",
	 "2:43: preset \"cable-edr\" is of kind link; expected kind switch\n"},
	{"hosts: {count: 3}\nfabric: {topology: {kind: dumbbell}}\n",
	 "1:16: 3 hosts; the topology has places for 4\n"},
	{"hosts: {count: 0}\nfabric: {topology: {kind: dumbbell, leaves: 3}}\n",
	 "2:37: unknown key \"leaves\"; expected kind, left, right, uplink_rate or "
	 "uplink_length\n"},
	{"hosts: {count: 4}\nfabric: {topology: {kind: dumbbell, uplink_rate: 1bps}}\n",
	 "2:20: uplink_rate: expected 1Mbps at least, or 0bps\n"},
	{"hosts: {count: 0}\nfabric: {topology: {kind: fat-tree, arity: 5}}\n",
	 "2:20: arity: 5 is odd\n"},
	{"hosts: {count: 0}\nfabric: {topology: {kind: torus}, link_rules: [{between: [a, b], "
	 "rate: 1Gbps}]}\n",
	 "2:48: no link between \"a\" and \"b\"\n"},
	{"hosts: {a: {hca: {fidelity: endpont}}, b: }\nfabric: {topology: back-to-back}\n",
	 "1:29: no fidelity \"endpont\"; expected endpoint or detailed\n"},
	{"hosts: {a: {hca: {fidelity: endpoint, congestion: {preset: dcqcn-paper, gan: 1}}}, b: "
	 "{hca: {fidelity: endpoint}}}\n"
	 "fabric: {topology: back-to-back}\n", "1:78: dcqcn has no parameter `gan`\n"},
	{"hosts: {a: {hca: {fidelity: endpoint}}, b: }\nfabric: {topology: "
	 "back-to-back}\nprograms: [{host: b, command: [ls]}]\n",
	 "1:1: a and b have HCAs of different fidelity; programs need one fidelity for all "
	 "hosts\n"},
	{JOINED "workload: {pattern: shift, host: {tx_depth: 0, rx_detph: 64}, cpu: {post: 1s}}\n",
	 "3:45: tx_depth: \"0\" is out of range; expected a whole number (1..4096)\n"
	 "3:48: unknown key \"rx_detph\"; did you mean \"rx_depth\"?\n"
	 "3:75: post: \"1s\" is out of range; expected a time: ps, ns, us, ms, s (0ps..1ms)\n"},
	{JOINED "sweep: {seed: {from: 1, to: 3}}\n",
	 "3:15: expected from and to, and either step above 0 or times above 1\n"},
	{JOINED "sweep: {seed: {from: 4KB, to: 6, step: 1}}\n",
	 "3:22: \"4KB\" is not a number; expected 4 here, and unit: KB for the range\n"},
	{JOINED "expect: [{metric: jain, at_least: 1}]\n",
	 "3:19: metrics need a workload or a load; the scenario has neither\n"},
	{JOINED "faults: {drop: }\n", "3:9: found a map; expected a list of faults\n"},
	{JOINED "faults: [{}]\n",
	 "3:10: expected one of drop, corrupt_icrc, corrupt_vcrc, delay, reorder, mark, link_down, "
	 "pause_storm, slow_receiver; found 0\n"},
	{JOINED "faults: [{drop: {nth: 1}, delay: {nth: 2, by: 1us}}]\n",
	 "3:10: expected one of drop, corrupt_icrc, corrupt_vcrc, delay, reorder, mark, link_down, "
	 "pause_storm, slow_receiver; found 2\n"},
	{JOINED "faults: [{drop: {}}]\n",
	 "3:17: expected one of probability, nth, bit_error_rate, burst; found 0\n"},
	{JOINED "faults: [{drop: {nth: 1, probability: 1%}}]\n",
	 "3:17: expected one of probability, nth, bit_error_rate, burst; found 2\n"},
	{JOINED "faults: [{drop: {nth: 1, by: 1us}}]\n",
	 "3:17: by: applies only to delay and reorder\n"},
	{JOINED "faults: [{delay: {nth: 1}}]\n", "3:18: delay: expected by: and a time\n"},
	{JOINED "faults: [{side: receive, delay: {nth: 1, by: 1us}}]\n",
	 "3:33: delay is possible at the transmitter only\n"},
	{JOINED "faults: [{reorder: {nth: 1, by: 1us}}]\n",
	 "3:20: reorder is not possible on InfiniBand links, which preserve packet order; expected "
	 "link_layer: roce\n"},
	{JOINED "faults: [{drop: {burst: {to_good: 1%}}}]\n",
	 "3:25: to_bad: expected a chance above 0\n"},
	{JOINED "faults: [{pause_storm: }]\n",
	 "3:24: pause_storm is not possible on InfiniBand links, which have no pause frames; "
	 "expected link_layer: roce\n"},
	{JOINED "faults: [{link_down: {rate: 1Gbps}}]\n",
	 "3:22: rate: applies only to slow_receiver\n"},
	{JOINED "faults: [{slow_receiver: {lasts: 1ms}}]\n",
	 "3:26: slow_receiver: expected rate: and a rate\n"},
	{JOINED "faults: [{link_down: {times: 3, lasts: 1ms, period: 1ms}}]\n",
	 "3:22: times needs lasts: and a longer period:\n"},
	{JOINED "faults: [{link_down: {when: {reaches: 3}}}]\n",
	 "3:29: no counter; expected counter: block.counter\n"},
	{JOINED "faults: [{link_down: {laasts: 1ms}}]\n",
	 "3:23: unknown key \"laasts\"; did you mean \"lasts\"?\n"},
	{JOINED "faults: [{from: c, drop: {probability: 1}}]\n",
	 "3:17: from: no host or switch is called \"c\"; expected a name; * and ? allowed\n"},
	{JOINED "faults: [{drop: {nth: 1, opcode: RC_ACKK}}]\n",
	 "3:34: no opcode \"RC_ACKK\"; did you mean \"RC_ACK\"?\n"},
	{JOINED "faults: [{dorp: {nth: 1}}]\n",
	 "3:11: unknown key \"dorp\"; did you mean \"drop\"?\n"},
	{JOINED "record: {trace: a.*}\n", "3:17: found a text; expected a list of block names\n"},
	{JOINED "expect: [{at_least: 1}]\n",
	 "3:10: no counter; expected counter: block.name.counter\n"},
	{JOINED "expect: [{counter: a.b, equals: 1, at_most: 3}]\n",
	 "3:33: equals excludes at_least and at_most; remove one of them\n"},
	{JOINED "programs: [{command: [ls]}]\n", "3:12: no host; expected host: NAME\n"},
	{JOINED "programs: [{host: aa, command: [ls]}]\n", "3:19: no host \"aa\"\n"},
	{JOINED "programs: [{host: a}]\n",
	 "3:12: no command; expected command: [program, argument ...]\n"},
	{JOINED "programs: [{host: a, command: []}]\n",
	 "3:31: the command is empty; expected [PROGRAM, ARGUMENT, ...]\n"},
	{JOINED "programs: [{host: a, command: ls}]\n",
	 "3:31: found a text; expected a list of a program and its arguments\n"},
};
/* clang-format on */

/* Writes each line of `errors` without the file's name. */
static void strip_names(const char *errors, char *text, size_t bytes)
{
	size_t length = strlen(path) + 1, used = 0;
	for (const char *line = errors; line != NULL && *line != '\0';) {
		const char *end = strchr(line, '\n') + 1;
		size_t skip = strncmp(line, path, length - 1) == 0 ? length : 0;
		size_t count = (size_t)(end - line) - skip;
		CU_ASSERT_TRUE_FATAL(used + count < bytes);
		memcpy(text + used, line + skip, count);
		used += count;
		line = end;
	}
	text[used] = '\0';
}

static void test_wrong(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char text[4096] = "";
		struct yaml_errors errors = {0};
		struct scenario *scenario = read_text(wrong[i].text, &errors);
		CU_ASSERT_PTR_NULL(scenario);
		strip_names(yaml_errors_text(&errors), text, sizeof(text));
		CU_ASSERT_STRING_EQUAL(text, wrong[i].errors);
		if (strcmp(text, wrong[i].errors) != 0)
			printf("\n%s-> %s", wrong[i].text, text);
		scenario_destroy(scenario);
		yaml_errors_free(&errors);
	}
}

static void test_values(void)
{
	struct yaml_errors errors = {0};
	struct scenario *scenario = read_text(
		"seed: 42\n"
		"hosts: {one: {address: 127.5.5.5}, two: }\n"
		"fabric:\n"
		"  link_layer: roce\n"
		"  switches: {s: {preset: sb7700, forwarding_latency: 7ns, port: {vls: 2}}}\n"
		"  links:\n"
		"    - {between: [one, s], preset: cable-edr, length: 30m}\n"
		"    - {between: [s, two]}\n"
		"faults:\n"
		"  - {from: o*, to: s, side: receive, drop: {nth: 3, opcode: RC_ACK}}\n"
		"  - delay: {probability: 1%, by: 5us, kind: pfc}\n"
		"  - drop: {burst: {to_bad: 0.1%, to_good: 10%}, begin: 1ms, lasts: 2ms}\n"
		"  - {from: two, pause_storm: {priorities: [3, 0], begin: 1us, lasts: 5us, period: "
		"10us, times: 2}}\n"
		"  - {from: s, slow_receiver: {rate: 2Gbps, when: {counter: x.y, reaches: 7, "
		"every: 2us}}}\n"
		"  - {from: one, reorder: {bit_error_rate: 1e-9, by: 2us}}\n"
		"record: {packets: true, trace: [one.*]}\n"
		"expect: [{counter: a.b, at_least: 3}, {counter: c.d, equals: 9}]\n"
		"programs: [{host: two, command: [ls, \"-l \\\"x\\\"\"], start: 3ms}]\n",
		&errors);
	CU_ASSERT_PTR_NOT_NULL(scenario);
	if (scenario == NULL)
		printf("\n%s", yaml_errors_text(&errors));
	yaml_errors_free(&errors);
	if (scenario == NULL)
		return;
	CU_ASSERT_EQUAL(scenario->seed, 42);
	CU_ASSERT_EQUAL(scenario->host_count, 2);
	CU_ASSERT_EQUAL(memcmp(scenario->hosts[0].ipv4, "\177\5\5\5", 4), 0);
	CU_ASSERT_EQUAL(memcmp(scenario->hosts[1].ipv4, "\177\115\0\2", 4), 0);
	CU_ASSERT_EQUAL(scenario->fabric.link_layer, 1);
	CU_ASSERT_EQUAL(scenario->switches[0].params->forwarding_latency, 7 * NS);
	CU_ASSERT_EQUAL(scenario->switches[0].params->port.vls, 2);
	CU_ASSERT_EQUAL(scenario->switches[0].params->port.speed, 6);
	CU_ASSERT_EQUAL(scenario->links[0].port->length, 30);
	CU_ASSERT_EQUAL(scenario->links[0].port->speed, 6);
	CU_ASSERT_NOT_EQUAL(scenario->links[0].given, 0);
	CU_ASSERT_EQUAL(scenario->links[1].given, 0);
	CU_ASSERT_TRUE(scenario->links[1].ends[0].is_switch);
	CU_ASSERT_EQUAL(scenario->links[1].ends[1].number, 1);
	CU_ASSERT_TRUE(scenario->faults[0].place.side == 1);
	CU_ASSERT_EQUAL(scenario->faults[0].action, FAULT_drop);
	CU_ASSERT_EQUAL(scenario->faults[0].choice.nth, 3);
	CU_ASSERT_EQUAL(scenario->faults[0].opcode, RC_ACK);
	CU_ASSERT_EQUAL(scenario->faults[1].action, FAULT_delay);
	CU_ASSERT_EQUAL(scenario->faults[1].choice.kind, PACKET_PFC);
	CU_ASSERT_EQUAL(scenario->faults[1].choice.probability, 0.01);
	CU_ASSERT_EQUAL(scenario->faults[1].choice.by, 5 * US);
	CU_ASSERT_EQUAL(scenario->faults[1].opcode, FAULT_ANY_OPCODE);
	CU_ASSERT_STRING_EQUAL(scenario->faults[1].from, "*");
	CU_ASSERT_EQUAL(scenario->faults[2].burst.to_bad, 0.001);
	CU_ASSERT_EQUAL(scenario->faults[2].burst.loss_bad, 1);
	CU_ASSERT_EQUAL(scenario_fault_rule(&scenario->faults[2], NULL).from, MS);
	CU_ASSERT_EQUAL(scenario_fault_rule(&scenario->faults[2], NULL).until, 3 * MS);
	CU_ASSERT_EQUAL(scenario->faults[3].priorities, 9);
	CU_ASSERT_EQUAL(scenario_fault_plan(&scenario->faults[3], NULL).times, 2);
	CU_ASSERT_EQUAL(scenario_fault_plan(&scenario->faults[3], NULL).lasts, 5 * US);
	CU_ASSERT_EQUAL(scenario_fault_plan(&scenario->faults[4], NULL).lasts, SIM_NEVER);
	CU_ASSERT_EQUAL(scenario->faults[4].repeat.rate, UINT64_C(2000000000));
	CU_ASSERT_EQUAL(scenario->faults[4].condition.reaches, 7);
	CU_ASSERT_STRING_EQUAL(scenario->faults[4].counter, "x.y");
	CU_ASSERT_EQUAL(scenario->faults[5].action, FAULT_reorder);
	CU_ASSERT_EQUAL(scenario->faults[5].choice.bit_error_rate, 1e-9);
	CU_ASSERT_TRUE(scenario->record.packets);
	CU_ASSERT_STRING_EQUAL(scenario->traces[0], "one.*");
	CU_ASSERT_EQUAL(scenario->expectations[0].low, 3);
	CU_ASSERT_EQUAL(scenario->expectations[0].high, UINT64_MAX);
	CU_ASSERT_EQUAL(scenario->expectations[1].low, 9);
	CU_ASSERT_EQUAL(scenario->expectations[1].high, 9);
	CU_ASSERT_EQUAL(scenario->programs[0].host, 1);
	CU_ASSERT_EQUAL(scenario->programs[0].start, 3 * MS);
	CU_ASSERT_STRING_EQUAL(scenario->programs[0].argv[1], "-l \"x\"");
	CU_ASSERT_PTR_NULL(scenario->programs[0].argv[2]);
	check_reads_back(scenario);
	scenario_destroy(scenario);
}

/* One link of a star is long. The other links keep the values of `link`. */
static void test_star_rules(void)
{
	struct yaml_errors errors = {0};
	struct scenario *scenario =
		read_text("hosts: {count: 3}\n"
			  "fabric:\n"
			  "  topology: single-switch\n"
			  "  link: {preset: cable-edr, length: 2m}\n"
			  "  link_rules: [{between: [host1, switch0], length: 8400m}]\n",
			  &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scenario);
	CU_ASSERT_EQUAL(scenario->links[0].port->length, 2);
	CU_ASSERT_EQUAL(scenario->links[1].port->length, 8400);
	CU_ASSERT_EQUAL(scenario->links[2].port->length, 2);
	CU_ASSERT_EQUAL(scenario->links[1].port->speed, scenario->links[0].port->speed);
	check_reads_back(scenario);
	scenario_destroy(scenario);
	yaml_errors_free(&errors);
}

static void test_overrides(void)
{
	static const char *const overrides[] = {
		"seed=9", "fabric.link.length=3m", "fabric.switch.forwarding_latency=1us",
		"faults=[{drop: {probability: 2%}}]", "faults.0.drop.probability=3%"};
	static const char *const bad[] = {
		"seed=x", "fabric.links.0.length=3m", "a..b=3",          "=3",
		"seed",   "faults.7.drop=1",          "hosts.*.hcaa.b=1"};
	struct yaml_errors errors = {0};
	struct scenario *scenario = scenario_read(TREE "/scenarios/two-hosts-ib.yaml", overrides,
						  ARRAY_SIZE(overrides), &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scenario);
	CU_ASSERT_EQUAL(scenario->seed, 9);
	CU_ASSERT_EQUAL(scenario->links[1].port->length, 3);
	CU_ASSERT_EQUAL(scenario->links[1].port->speed, 6);
	CU_ASSERT_EQUAL(scenario->switches[0].params->forwarding_latency, US);
	CU_ASSERT_EQUAL(scenario->faults[0].choice.probability, 0.03);
	scenario_destroy(scenario);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		scenario = scenario_read(TREE "/scenarios/two-hosts-ib.yaml", &bad[i], 1, &errors);
		CU_ASSERT_PTR_NULL(scenario);
		CU_ASSERT_EQUAL(errors.count, i == 6 ? 2 : 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(yaml_errors_text(&errors));
		CU_ASSERT_EQUAL(strncmp(yaml_errors_text(&errors), "--set ", 6), 0);
		yaml_errors_free(&errors);
	}
}

/* Each plain section of the table reads its keys, names an unknown one, and is printed. */
static void test_sections(void)
{
	for (const struct scenario_section *section = scenario_sections + 1; section->name;
	     section++) {
		struct yaml_errors errors = {0};
		char set[64];
		const char *sets[] = {set};
		snprintf(set, sizeof(set), "%s.no_such_key=1", section->name);
		if (section->irregular)
			continue;
		struct scenario *scenario =
			scenario_read(TREE "/scenarios/two-hosts-ib.yaml", sets, 1, &errors);
		CU_ASSERT_PTR_NULL(scenario);
		CU_ASSERT_PTR_NOT_NULL_FATAL(yaml_errors_text(&errors));
		CU_ASSERT_PTR_NOT_NULL(
			strstr(yaml_errors_text(&errors), "unknown key \"no_such_key\""));
		scenario_destroy(scenario);
		yaml_errors_free(&errors);
	}
}

/* Returns true if the old key is refused where --set puts it. Sections are ends of paths. One of
 * the places has these sections, as a map or in the first entry of a list. */
static bool refuses_old(const struct renamed_key *key, const char *text)
{
	static const char *const places[] = {
		"",          "workload.",      "hosts.*.",  "hosts.*.hca.",
		"fabric.",   "fabric.switch.", "faults.0.", "workload.posting.",
		"hosts.hca."};
	char said[128], set[256];
	bool found = false;
	snprintf(said, sizeof(said), "; it is now \"%s\"", key->now);
	for (size_t i = 0; !found && i < 2 * ARRAY_SIZE(places); i++) {
		const char *sets[] = {set};
		struct yaml_errors errors = {0};
		int section = (int)strcspn(key->section, "|");
		snprintf(set, sizeof(set), "%s%.*s%s%s%s=1", places[i / 2], section, key->section,
			 section ? "." : "", i % 2 ? "0." : "", key->old);
		FILE *file = fopen(path, "w");
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		fputs(text, file);
		fclose(file);
		scenario_destroy(scenario_read(path, sets, 1, &errors));
		found = yaml_errors_text(&errors) && strstr(yaml_errors_text(&errors), said);
		yaml_errors_free(&errors);
	}
	return found;
}

/* Metrics and the like are no keys. */
static void test_renamed_keys(void)
{
	static const char *const texts[] = {
		"hosts: {count: 2, hca: connectx4-edr}\n"
		"fabric: {topology: single-switch, link_rules: [{between: [host0, switch0]}],\n"
		"  service_levels: [{at: switch0}]}\n"
		"faults: [{from: host0, to: switch0}]\n",
		"hosts: {count: 2, hca: {fidelity: endpoint}}\nfabric: {topology: single-switch}\n",
		"hosts: {count: 2, hca: {fidelity: endpoint, congestion: {preset: dcqcn-paper}}}\n"
		"fabric: {topology: single-switch, link_layer: roce}\n",
		"hosts: {a: , b: }\nfabric: {topology: links, switches: {s: },\n"
		"  links: [{between: [a, s]}, {between: [b, s]}]}\n",
	};
	static const char *const others[] = {"option",  "metric", "block",   "counter", "preset",
					     "command", "list",   "value.*", "expect",  "set"};
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		bool other = false;
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			other = other || fnmatch(others[i], key->section, 0) == 0;
		bool refused = other;
		for (size_t i = 0; !refused && i < ARRAY_SIZE(texts); i++)
			refused = refuses_old(key, texts[i]);
		if (refused)
			continue;
		printf("\n%s.%s is not refused as it should be\n", key->section, key->old);
		CU_FAIL("an old key");
	}
}

static void test_preset_chain(void)
{
	struct yaml_errors errors = {0};
	FILE *file = fopen("one.yaml", "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs("kind: switch\npreset: two\nroutes: true\n", file);
	fclose(file);
	file = fopen("two.yaml", "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs("kind: switch\nforwarding_latency: 11ns\nroutes: false\n", file);
	fclose(file);
	static const char text[] =
		"hosts: {a: , b: }\nfabric: {topology: single-switch, switch: %s}\n";
	char scenario_text[200];
	snprintf(scenario_text, sizeof(scenario_text), text, "one");
	struct scenario *scenario = read_text(scenario_text, &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scenario);
	CU_ASSERT_EQUAL(scenario->switches[0].params->forwarding_latency, 11 * NS);
	CU_ASSERT_TRUE(scenario->switches[0].params->routes);
	scenario_destroy(scenario);
	file = fopen("two.yaml", "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs("kind: switch\npreset: one\n", file);
	fclose(file);
	CU_ASSERT_PTR_NULL(read_text(scenario_text, &errors));
	CU_ASSERT_PTR_NOT_NULL(strstr(yaml_errors_text(&errors), "is based on itself"));
	CU_ASSERT_EQUAL(errors.count, 1);
	yaml_errors_free(&errors);
}

/* Every line of a preset that gives a value names its source after #. */
static void check_sources(const char *file)
{
	char line[512];
	FILE *in = fopen(file, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		const char *colon = strchr(line, ':');
		bool value = line[0] != '#' && colon != NULL && colon[1] == ' ';
		bool source = strchr(line, '#') != NULL && strlen(strchr(line, '#')) > 5;
		if (value && strncmp(line, "kind:", 5) != 0 && !source)
			printf("\n%s: %s", file, line);
		CU_ASSERT_TRUE(!value || strncmp(line, "kind:", 5) == 0 || source);
	}
	fclose(in);
}

static void test_shipped_presets(void)
{
	glob_t found;
	CU_ASSERT_EQUAL_FATAL(glob(TREE "/scenarios/presets/*.yaml", 0, NULL, &found), 0);
	CU_ASSERT_TRUE(found.gl_pathc >= 6);
	CU_ASSERT_STRING_NOT_EQUAL(preset_directory(), "");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct yaml_errors errors = {0};
		const char *file = found.gl_pathv[i];
		struct yaml_document *document = yaml_read_file(file, &errors);
		CU_ASSERT_PTR_NOT_NULL_FATAL(document);
		struct yaml_node *kind = yaml_get(yaml_root(document), "kind");
		CU_ASSERT_PTR_NOT_NULL_FATAL(kind);
		unsigned number = 0;
		while (number < COMPOSITE_COUNT &&
		       strcmp(composite_of((enum composite_kind)number)->name, kind->text) != 0)
			number++;
		CU_ASSERT_TRUE_FATAL(number < COMPOSITE_COUNT);
		void *params = composite_create((enum composite_kind)number);
		struct yaml_node name = {.kind = YAML_SCALAR, .file = "test", .text = file};
		preset_read((enum composite_kind)number, &name, NULL, params, NULL, &errors);
		CU_ASSERT_EQUAL(errors.count, 0);
		if (yaml_errors_text(&errors) != NULL)
			printf("\n%s", yaml_errors_text(&errors));
		check_sources(file);
		if (number == COMPOSITE_ENDPOINT)
			endpoint_device_destroy(params);
		else
			free(params);
		yaml_errors_free(&errors);
		yaml_close(document);
	}
	globfree(&found);
}

static void test_shipped_scenarios(void)
{
	glob_t found;
	CU_ASSERT_EQUAL_FATAL(glob(TREE "/scenarios/*.yaml", 0, NULL, &found), 0);
	CU_ASSERT_EQUAL_FATAL(glob(TREE "/scenarios/studies/*.yaml", GLOB_APPEND, NULL, &found), 0);
	CU_ASSERT_TRUE(found.gl_pathc >= 4);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct yaml_errors errors = {0};
		struct scenario *scenario = scenario_read(found.gl_pathv[i], NULL, 0, &errors);
		CU_ASSERT_PTR_NOT_NULL(scenario);
		if (scenario != NULL)
			check_reads_back(scenario);
		else
			printf("\n%s", yaml_errors_text(&errors));
		scenario_destroy(scenario);
		yaml_errors_free(&errors);
	}
	globfree(&found);
}

/* Ports by number stay where they are. */
static void test_port_numbers(void)
{
	struct yaml_errors errors = {0};
	struct scenario *scenario =
		read_text("hosts: {a: , b: }\nfabric: {topology: links, switches: {s: }, links: "
			  "[{between: [a, s], ports: [0, 7]}, {between: [s, b], ports: [3, 0], "
			  "rate: 10Gbps}]}\n",
			  &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scenario);
	CU_ASSERT_EQUAL(scenario->links[0].ports[1], 7);
	CU_ASSERT_EQUAL(scenario->links[1].ports[0], 3);
	CU_ASSERT_EQUAL(scenario->links[1].port->rate, 10000000000);
	check_reads_back(scenario);
	scenario_destroy(scenario);
}
