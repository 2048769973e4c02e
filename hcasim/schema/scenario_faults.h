/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_faults: faults of a scenario: place, action, affected packets or ports, and time. The
 * actions are in fabric/fault.h (packets) and fabric/port_fault.h (ports).
 */
#ifndef HCASIM_SCHEMA_SCENARIO_FAULTS_H
#define HCASIM_SCHEMA_SCENARIO_FAULTS_H

#include "fabric/fault.h"
#include "fabric/port_fault.h"

/* clang-format off */
#define FAULT_PLACE_PARAMS(X) \
	X(side, CHOICE, "transmit", "transmit|receive", \
	  "Place of the loss. transmit: on the wire. receive: in the receiver, after its input " \
	  "space was used.", \
	  "choice")

#define FAULT_CHOICE_PARAMS(X) \
	X(kind, CHOICE, "data", "data|flow_control|pfc", \
	  "Affected packets: packets of programs, or packets of the link itself.", \
	  "choice") \
	X(probability, RATIO, "0", "0..1", \
	  "Probability for each matching packet.", \
	  "choice") \
	X(nth, COUNT, "0", "", \
	  "Only the packet with this number, counted from 1 at each matching port.", \
	  "choice") \
	X(bit_error_rate, RATIO, "0", "0..1", \
	  "Error probability of each bit.", \
	  "choice") \
	X(vls, COUNT, "0", "0..65535", \
	  "Affected VLs or priorities, one bit each. 0: all.", \
	  "choice") \
	X(by, TIME, "0ps", "..1s", \
	  "delay, reorder: additional delay.", \
	  "choice")

#define FAULT_BURST_PARAMS(X) \
	X(to_bad, RATIO, "0", "0..1", \
	  "Probability before each packet to change to the bad state.", \
	  "Elliott, Bell System Technical Journal 1963") \
	X(to_good, RATIO, "0", "0..1", \
	  "Probability before each packet to change to the good state.", \
	  "Elliott, Bell System Technical Journal 1963") \
	X(loss_good, RATIO, "0", "0..1", \
	  "Probability of a packet to be hit in the good state.", \
	  "Elliott, Bell System Technical Journal 1963") \
	X(loss_bad, RATIO, "1", "0..1", \
	  "Probability of a packet to be hit in the bad state.", \
	  "Elliott, Bell System Technical Journal 1963")

#define FAULT_REPEAT_PARAMS(X) \
	X(rate, RATE, "1Gbps", "1Mbps..3.2Tbps", \
	  "slow_receiver: rate at which input space is released.", \
	  "choice") \
	X(period, TIME, "0ps", "", \
	  "Time from one start to the next.", \
	  "choice") \
	X(times, COUNT, "1", "1..1000000", \
	  "Number of starts.", \
	  "choice")

#define FAULT_TIME_PARAMS(X) \
	X(begin, TIME, "0ps", "", \
	  "Virtual time at which the fault starts.", \
	  "choice") \
	X(lasts, TIME, "0ps", "", \
	  "Duration. 0: until the end of the run.", \
	  "choice")

#define FAULT_CONDITION_PARAMS(X) \
	X(reaches, COUNT, "1", "1..", \
	  "Smallest value of the counter at which the fault acts.", \
	  "choice") \
	X(every, TIME, "1us", "1ns..", \
	  "Faults of ports: interval between two checks of the counter.", \
	  "choice") \
	X(give_up, TIME, "100ms", "", \
	  "Faults of ports: virtual time after which the counter is not checked any more.", \
	  "choice")

struct scenario_fault_place     { FAULT_PLACE_PARAMS(PARAM_FIELD) };
struct scenario_fault_choice    { FAULT_CHOICE_PARAMS(PARAM_FIELD) };
struct scenario_fault_repeat    { FAULT_REPEAT_PARAMS(PARAM_FIELD) };
struct scenario_fault_time      { FAULT_TIME_PARAMS(PARAM_FIELD) };
struct scenario_fault_condition { FAULT_CONDITION_PARAMS(PARAM_FIELD) };
/* clang-format on */

struct scenario_fault {
	/* patterns of names: the links from a matching host or switch to a matching one */
	const char *from, *to;
	struct scenario_fault_place place;
	/* affects the ports at the `from` ends; false: the packets that leave there */
	bool of_ports;
	enum fault_action action;
	enum port_fault_kind port_kind;
	struct scenario_fault_choice choice; /* faults of packets */
	uint16_t opcode;
	struct fault_burst burst;
	struct scenario_fault_repeat repeat; /* faults of ports */
	uint8_t priorities;                  /* one bit each */
	struct scenario_fault_time time;
	const char *counter; /* "block.counter"; NULL: no condition */
	struct scenario_fault_condition condition;
};

struct scenario;
struct scenario_link;

/* Returns true if the fault affects traffic on this link from end `from`, 0 or 1. */
bool scenario_fault_concerns(const struct scenario *scenario, const struct scenario_fault *fault,
			     const struct scenario_link *link, unsigned from);

/* Return the fault as a rule for the models. `watched` points to the counter named by `counter`. */
struct fault_rule scenario_fault_rule(const struct scenario_fault *fault, const uint64_t *watched);
struct port_fault_plan scenario_fault_plan(const struct scenario_fault *fault,
					   const uint64_t *watched);

#endif
