/* SPDX-License-Identifier: Apache-2.0 */
/* bench_engine_systemc: see bench_engine_systemc.h. */
#include "tests/bench/bench_engine_systemc.h"

#include <memory>
#include <vector>

#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>

using namespace sc_core;

namespace
{

struct bare_queue : sc_module {
	const bare_load *load;
	std::vector<std::unique_ptr<sc_event>> events;
	size_t left = 0;

	SC_HAS_PROCESS(bare_queue);

	bare_queue(sc_module_name name, const bare_load *of) : sc_module(name), load(of)
	{
		for (size_t i = 0; i < load->pending; i++) {
			sc_event *event = new sc_event;
			sc_spawn_options options;

			events.emplace_back(event);
			options.spawn_method();
			options.dont_initialize();
			options.set_sensitivity(event);
			sc_spawn([this, event] { hold(event); }, sc_gen_unique_name("hold"),
				 &options);
		}
	}

	void start_of_simulation() override
	{
		size_t models = load->pending - load->timers;

		for (size_t i = 0; i < load->pending; i++)
			events[i]->notify(sc_time::from_value(i < models ? load->delay()
									 : load->timer_delay()));
	}

	void hold(sc_event *event)
	{
		size_t moved = load->timer_to_move();

		if (moved != SIZE_MAX) {
			sc_event *timer = events[load->pending - load->timers + moved].get();

			timer->cancel();
			timer->notify(sc_time::from_value(load->timer_delay()));
		}
		event->notify(sc_time::from_value(load->delay()));
		if (--left == 0)
			sc_pause();
	}

	void run(size_t holds)
	{
		left = holds;
		sc_start();
	}
};

} // namespace

double bare_systemc_seconds(const struct bare_load *load, size_t warm_up, size_t holds,
			    double (*cpu_seconds)(void),
			    double (*seconds_since)(double begin, size_t holds))
{
	sc_simcontext *context = sc_curr_simcontext = sc_default_global_context = new sc_simcontext;
	double begin, seconds;

	{
		bare_queue queue("bare", load);

		queue.run(warm_up);
		begin = cpu_seconds();
		queue.run(holds);
		seconds = seconds_since(begin, holds);
	}
	delete context;
	sc_curr_simcontext = sc_default_global_context = nullptr;
	return seconds;
}
