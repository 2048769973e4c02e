/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_reference: the engine `systemc-reference`. Every event is a notification of its own
 * sc_event, and SystemC keeps the time. SystemC does not define the order of notifications with
 * the same time. The engine therefore collects them in one delta cycle, and fires them in
 * hcasim's order in the next:
 *
 *     sc_event of a slot --> collect() --> due, sorted --> (one delta later) fire_due()
 *
 * An event that is scheduled for the current time needs one delta cycle to arrive; the other
 * events wait for it.
 */
#include <cassert>
#include <memory>
#include <set>
#include <vector>

#include "sim/systemc_context.h"

using namespace sc_core;

namespace
{

/* Containers in event->place, beside the address of the slot. */
enum : uintptr_t { NOT_PENDING, IN_SYSTEMC, IN_DUE, CONTAINERS = 3 };

struct earlier {
	bool operator()(const struct event *a, const struct event *b) const
	{
		return a->key != b->key ? a->key < b->key : a->order < b->order;
	}
};

struct slot {
	sc_event timeout;
	sc_process_handle process; /* process that collects the event */
	struct event *event = nullptr;
	bool arriving = false; /* scheduled for the current time and not collected yet */
};

uintptr_t container_of_event(const struct event *event)
{
	return event->place & CONTAINERS;
}

slot *slot_of(const struct event *event)
{
	return reinterpret_cast<slot *>(event->place & ~uintptr_t{CONTAINERS});
}

struct fire_module : sc_module {
	systemc_host *host;
	sc_event fire_wake;
	std::set<struct event *, earlier> due;
	std::vector<std::unique_ptr<slot>> slots;
	std::vector<slot *> free_slots;
	size_t pending = 0;
	size_t arriving = 0;
	bool ends_when_empty = false; /* the run ends when no event is pending */

	SC_HAS_PROCESS(fire_module);

	fire_module(sc_module_name name, systemc_host *of) : sc_module(name), host(of)
	{
		SC_METHOD(fire_due);
		sensitive << fire_wake;
		dont_initialize();
	}

	slot *take_slot()
	{
		slot *taken;

		if (!free_slots.empty()) {
			taken = free_slots.back();
			free_slots.pop_back();
			return taken;
		}
		slots.push_back(std::make_unique<slot>());
		taken = slots.back().get();

		sc_spawn_options options;
		options.spawn_method();
		options.dont_initialize();
		options.set_sensitivity(&taken->timeout);
		taken->process = sc_spawn([this, taken] { collect(taken); },
					  sc_gen_unique_name("slot"), &options);
		return taken;
	}

	void release_slot(struct event *event)
	{
		slot *released = slot_of(event);

		released->event = nullptr;
		arrived(released);
		free_slots.push_back(released);
		event->place = NOT_PENDING;
		pending--;
	}

	/* Deletes all processes. SystemC itself would delete only those that existed at its start.
	 * The newest process is deleted first, because it is first in SystemC's list. */
	void forget_all()
	{
		due.clear();
		for (auto each = slots.rbegin(); each != slots.rend(); ++each) {
			(*each)->timeout.cancel();
			if (sc_is_running())
				(*each)->process.kill();
		}
	}

	void arrived(slot *at)
	{
		arriving -= at->arriving;
		at->arriving = false;
	}

	void collect(slot *from)
	{
		struct event *event = from->event;

		if (event == nullptr || container_of_event(event) != IN_SYSTEMC ||
		    event_time(event) > systemc_now())
			return; /* cancelled after its notification was triggered */
		arrived(from);
		event->place = reinterpret_cast<uintptr_t>(from) | IN_DUE;
		due.insert(event);
		fire_wake.notify(SC_ZERO_TIME);
	}

	void fire_due()
	{
		struct sim *sim = host->sim;

		host->firing = true;
		while (!sim->stop && arriving == 0 && !due.empty()) {
			struct event *event = *due.begin();

			due.erase(due.begin());
			release_slot(event);
			engine_fire(sim, event);
		}
		host->firing = false;
		sim->current = nullptr;
		if (sim->stop || (ends_when_empty && pending == 0))
			sc_pause();
	}
};

struct reference : systemc_host {
	fire_module module;

	explicit reference(struct sim *of) : systemc_host(of), module("hcasim", this)
	{
	}
};

reference *host_of(struct sim *sim)
{
	return static_cast<reference *>(static_cast<systemc_host *>(sim->host));
}

void reference_init(struct sim *sim)
{
	sim->host = static_cast<systemc_host *>(new reference(sim));
}

void reference_fini(struct sim *sim)
{
	reference *host = host_of(sim);

	host->context.enter();
	host->module.forget_all();
	host->context.settle();
	delete host;
}

void reference_insert(struct sim *sim, struct event *event)
{
	fire_module *module = &host_of(sim)->module;
	slot *taken;

	host_of(sim)->context.enter();
	taken = module->take_slot();
	taken->event = event;
	event->place = reinterpret_cast<uintptr_t>(taken) | IN_SYSTEMC;
	module->pending++;
	if (event_time(event) > systemc_now()) {
		taken->timeout.notify(systemc_time(event_time(event) - systemc_now()));
	} else {
		taken->arriving = true;
		module->arriving++;
		taken->timeout.notify(SC_ZERO_TIME);
	}
}

void reference_cancel(struct sim *sim, struct event *event)
{
	fire_module *module = &host_of(sim)->module;

	host_of(sim)->context.enter();
	if (container_of_event(event) == IN_DUE)
		module->due.erase(event);
	else
		slot_of(event)->timeout.cancel();
	module->release_slot(event);
}

const struct event *reference_first(struct sim *sim)
{
	const struct event *first = nullptr;

	for (const auto &each : host_of(sim)->module.slots)
		if (each->event != nullptr && (first == nullptr || earlier()(each->event, first)))
			first = each->event;
	return first;
}

void reference_run(struct sim *sim, sim_time until)
{
	reference *host = host_of(sim);

	host->context.enter();
	host->running = true;
	host->module.ends_when_empty = until == SIM_NEVER;
	host->module.fire_wake.notify(SC_ZERO_TIME); /* an earlier stop may have left due events */
	if (until != SIM_NEVER)
		host->context.run_before(until);
	else
		while (!sim->stop && host->module.pending > 0)
			host->context.run_all();
	host->running = false;
}

} // namespace

const struct engine_ops engine_systemc_reference = {reference_init,   reference_fini,
						    reference_insert, reference_cancel,
						    reference_first,  reference_run};
