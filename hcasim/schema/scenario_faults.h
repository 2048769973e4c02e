/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_faults: what goes wrong, as a scenario lists it: where, what, to which packets or ports, and when. The
 * actions themselves are fabric/fault.h (packets) and fabric/port_fault.h (ports).
 */
#ifndef HCASIM_SCHEMA_SCENARIO_FAULTS_H
#define HCASIM_SCHEMA_SCENARIO_FAULTS_H

#include "fabric/fault.h"
#include "fabric/port_fault.h"

/* clang-format off */
#define FAULT_PLACE_PARAMS(X)                                                                              \
	X(side,        CHOICE, "transmit",  "transmit|receive",                                                  \
	  "transmit: lost on the wire; receive: lost in the receiver, its input space is used", "choice")

#define FAULT_CHOICE_PARAMS(X)                                                                             \
	X(kind,        CHOICE, "data",      "data|flow_control|pfc", "what is hit: packets of programs, or the link's own", "choice") \
	X(probability, RATIO,  "0",         "0..1",            "of each packet that applies", "choice")        \
	X(nth,         COUNT,  "0",         "",                "that packet alone, from 1, at each such port", "choice") \
	X(bit_error_rate, RATIO, "0",       "0..1",            "chance of each bit to be hit", "choice")       \
	X(vls,         COUNT,  "0",         "0..65535",        "one bit a VL or priority of the packets, 0: all", "choice") \
	X(by,          TIME,   "0ps",       "..1s",            "delay, reorder: how much later", "choice")

#define FAULT_BURST_PARAMS(X)                                                                              \
	X(to_bad,      RATIO,  "0",         "0..1",            "chance before each packet to turn bad", "Elliott, Bell System Technical Journal 1963") \
	X(to_good,     RATIO,  "0",         "0..1",            "chance before each packet to turn good", "Elliott, Bell System Technical Journal 1963") \
	X(loss_good,   RATIO,  "0",         "0..1",            "chance of a packet to be hit while good", "Elliott, Bell System Technical Journal 1963") \
	X(loss_bad,    RATIO,  "1",         "0..1",            "chance of a packet to be hit while bad", "Elliott, Bell System Technical Journal 1963")

#define FAULT_REPEAT_PARAMS(X)                                                                             \
	X(rate,        RATE,   "1Gbps",     "1Mbps..3.2Tbps",  "slow_receiver: at which input space is given back", "choice") \
	X(period,      TIME,   "0ps",       "",                "from one beginning to the next",   "choice")       \
	X(times,       COUNT,  "1",         "1..1000000",      "how often it begins",              "choice")

#define FAULT_TIME_PARAMS(X)                                                                               \
	X(begin,       TIME,   "0ps",       "",                "from when on",                       "choice")   \
	X(lasts,       TIME,   "0ps",       "",                "how long, 0: to the end of the run", "choice")

#define FAULT_CONDITION_PARAMS(X)                                                                          \
	X(reaches,     COUNT,  "1",         "1..",             "that the counter has, or more",      "choice")   \
	X(every,       TIME,   "1us",       "1ns..",           "faults of ports: how often the counter is looked at", "choice") \
	X(give_up,     TIME,   "100ms",     "",                "faults of ports: after which virtual time it is not looked at", "choice")

struct scenario_fault_place     { FAULT_PLACE_PARAMS(PARAM_FIELD) };
struct scenario_fault_choice    { FAULT_CHOICE_PARAMS(PARAM_FIELD) };
struct scenario_fault_repeat    { FAULT_REPEAT_PARAMS(PARAM_FIELD) };
struct scenario_fault_time      { FAULT_TIME_PARAMS(PARAM_FIELD) };
struct scenario_fault_condition { FAULT_CONDITION_PARAMS(PARAM_FIELD) };
/* clang-format on */

struct scenario_fault {
	const char *from, *to; /* patterns of names: the links from such a host or switch to such */
	struct scenario_fault_place place;
	bool of_ports; /* at their `from` ends; else of packets that leave there */
	enum fault_action action;
	enum port_fault_kind port_kind;
	struct scenario_fault_choice choice; /* of packets, with ... */
	uint16_t opcode;
	struct fault_burst burst;
	struct scenario_fault_repeat repeat; /* of ports, with ... */
	uint8_t priorities;                  /* one bit each */
	struct scenario_fault_time time;
	const char *counter; /* "block.counter"; NULL: no condition */
	struct scenario_fault_condition condition;
};

struct scenario;
struct scenario_link;

/* Does it concern what goes over this link from that end, 0 or 1? */
bool scenario_fault_concerns(const struct scenario *scenario, const struct scenario_fault *fault,
			     const struct scenario_link *link, unsigned from);

/* As the models take it; `watched`: what `counter` names. */
struct fault_rule scenario_fault_rule(const struct scenario_fault *fault, const uint64_t *watched);
struct port_fault_plan scenario_fault_plan(const struct scenario_fault *fault,
					   const uint64_t *watched);

#endif
