/*
 * scenario: one YAML file as plain values: who is there, how they are joined, what goes wrong, what is recorded,
 * what is expected. Everything is checked here; build.h turns it into simulation objects.
 *
 *     file.yaml --scenario_read()--> struct scenario --build_create()--> hosts, HCAs, switches, links
 *                                         `--scenario_print()--> effective configuration, which reads back the same
 */
#ifndef SCENARIOS_SCENARIO_H
#define SCENARIOS_SCENARIO_H

#include "fabric/fault.h"
#include "scenarios/composite.h"
#include "verbs-shim/kernel/kernel_params.h"
#include "verbs-shim/session/session.h"

struct hca_params;
struct switch_params;
struct port_params;

/* clang-format off */
#define SCENARIO_PARAMS(X)                                                                                 \
	X(seed,       COUNT,  "1",          "",                "of all random streams; the same seed, the same run", "choice")

#define FABRIC_PARAMS(X)                                                                                   \
	X(link_layer, CHOICE, "infiniband", "infiniband|roce", "what the links and switches are", "choice")  \
	X(topology,   CHOICE, "links",      "links|back-to-back|single-switch",                                \
	  "links: as the lists `switches` and `links` say; else one cable, or one switch with all hosts", "choice")

#define RECORD_PARAMS(X)                                                                                   \
	X(packets,    FLAG,   "false", "", "packets.pcapng: every packet that leaves a port, credits and pauses too", "choice") \
	X(counters,   FLAG,   "true",  "", "counters.json: all counters of all blocks at the end", "choice")

#define PROGRAM_PARAMS(X)                                                                                  \
	X(start,      TIME,   "0ps",   "", "virtual time before which it does not start", "choice")

#define FAULT_PLACE_PARAMS(X)                                                                              \
	X(side,        CHOICE, "transmit",  "transmit|receive",                                                  \
	  "transmit: lost on the wire; receive: lost in the receiver, its input space is used", "choice")

/* Which packets, in the map behind the action. */
#define FAULT_CHOICE_PARAMS(X)                                                                             \
	X(probability, RATIO,  "0",         "0..1",            "of each packet that applies", "choice")        \
	X(nth,         COUNT,  "0",         "",                "that packet alone, from 1, at each such port", "choice") \
	X(kind,        CHOICE, "data",      "data|flow_control|pfc", "what is hit: packets of programs, or the link's own", "choice") \
	X(by,          TIME,   "0ps",       "..1s",            "delay: how much later", "choice")

struct scenario_fault_place { FAULT_PLACE_PARAMS(PARAM_FIELD) };
struct scenario_fault_choice { FAULT_CHOICE_PARAMS(PARAM_FIELD) };
struct scenario_fabric { FABRIC_PARAMS(PARAM_FIELD) };
struct scenario_record { RECORD_PARAMS(PARAM_FIELD) };
struct scenario_start  { PROGRAM_PARAMS(PARAM_FIELD) };
/* clang-format on */

struct scenario_host {
	const char *name;
	uint8_t ipv4[4];
	struct hca_params *hca;
};

struct scenario_switch {
	const char *name;
	struct switch_params *params;
};

struct scenario_node { /* one end of a link */
	bool is_switch;
	uint32_t number;
};

struct scenario_link {
	struct scenario_node ends[2];
	struct port_params
		*port;  /* what `given` says replaces the values of both ends' own ports */
	uint64_t given; /* bit i: entry i of port_param_list */
};

struct scenario_fault {
	const char *from,
		*to; /* names of hosts and switches, as patterns: the links from one to the other */
	bool at_receiver;
	struct fault_rule rule;
};

struct scenario_program {
	uint32_t host;
	char **argv; /* ends with NULL */
	sim_time start;
};

struct scenario_expectation { /* of a counter at the end */
	const char
		*counter; /* "block.name.counter"; * stands for any text, and then it is the sum */
	uint64_t low, high;
};

/* All texts belong to the document, which is kept. */
struct scenario {
	const char *file;
	SCENARIO_PARAMS(PARAM_FIELD)
	struct cpu_params cpu;
	struct session_params session;
	struct kernel_params kernel;
	struct scenario_fabric fabric;
	struct scenario_record record;
	struct scenario_host *hosts;
	struct scenario_switch *switches;
	struct scenario_link *links;
	struct scenario_fault *faults;
	struct scenario_program *programs;
	struct scenario_expectation *expectations;
	const char **traces; /* block names to be traced; * stands for any text */
	uint32_t host_count, switch_count, link_count, fault_count, program_count,
		expectation_count, trace_count;
	struct yaml_document *document;
};

/* overrides: `count` texts "key.path=value" that replace single values of the file. NULL: errors says why. */
struct scenario *scenario_read(const char *file, const char *const *overrides, size_t count,
			       struct yaml_errors *errors);
void scenario_destroy(struct scenario *scenario);

/* The effective configuration: every value, as YAML that reads back to an equal scenario. */
void scenario_print(const struct scenario *scenario, FILE *out);

/* NO_HOST: no such host. */
#define NO_HOST UINT32_MAX
uint32_t scenario_find_host(const struct scenario *scenario, const char *name);
const char *scenario_suggest_host(const struct scenario *scenario,
				  const char *name); /* NULL: none is near */

/* The lists of the keys that are not part of a composite, by their place in the file; ends with a NULL name. */
struct scenario_section {
	const char *name; /* "" for the top of the file */
	const struct param *list;
	const char *meaning;
};
extern const struct scenario_section scenario_sections[];

#endif
