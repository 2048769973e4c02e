/* SPDX-License-Identifier: Apache-2.0 */
/* echo_module: see echo_module.h. */
#include "tests/sim/support/echo_module.h"

#include <systemc>

#include "sim/systemc.h"

using namespace sc_core;

struct echo_module : sc_module {
	echo_ports *ports;
	sc_event requested;
	unsigned ticks_left;

	SC_HAS_PROCESS(echo_module);

	echo_module(sc_module_name name, echo_ports *of)
	    : sc_module(name), ports(of), ticks_left(of->ticks)
	{
		SC_METHOD(answer);
		sensitive << requested;
		dont_initialize();
		SC_METHOD(tick);
	}

	void answer()
	{
		systemc_notify(ports->answer);
	}

	void tick()
	{
		if (sc_time_stamp() > SC_ZERO_TIME)
			systemc_notify(ports->tick);
		if (ticks_left-- > 0)
			next_trigger(sc_time::from_value(ports->period));
	}
};

void echo_module_create(void *ports)
{
	echo_ports *of = static_cast<echo_ports *>(ports);

	of->module = new echo_module("echo", of);
}

void echo_module_destroy(void *ports)
{
	delete static_cast<echo_ports *>(ports)->module;
}

void echo_module_request(struct echo_module *module)
{
	module->requested.notify(sc_time::from_value(module->ports->latency));
}

sim_time echo_module_now(void)
{
	return sc_time_stamp().value();
}
