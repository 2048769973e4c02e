/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_module: a SystemC module as an architect might attach one, for test_systemc.c. It answers
 * each request some time later and ticks on its own.
 */
#ifndef TESTS_SIM_SUPPORT_ECHO_MODULE_H
#define TESTS_SIM_SUPPORT_ECHO_MODULE_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct echo_module;

struct echo_ports {
	struct event *answer; /* of PRIORITY_EXTERNAL: the module has answered */
	struct event *tick;   /* of PRIORITY_EXTERNAL: every `period` */
	sim_time latency;
	sim_time period;
	unsigned ticks; /* and then no more */
	struct echo_module *module;
};

/* For systemc_call(); the argument is a struct echo_ports. */
void echo_module_create(void *ports);
void echo_module_destroy(void *ports);

/* Call this function from an event of PRIORITY_SYSTEMC. */
void echo_module_request(struct echo_module *module);

/* sc_time_stamp(), to see that it is the event's time. */
sim_time echo_module_now(void);

#ifdef __cplusplus
}
#endif
#endif
