/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_round_robin: a hand-written TLM-2.0 module that replaces the QP scheduler and has the times
 * of hca/work/scheduler.c to the picosecond. Each processing unit has a ring of entities and grants
 * one segment of a message at a time. It grants nothing while too many bytes are in flight.
 * Temporally decoupled: all work is done inside calls of the adapter.
 */
#include <algorithm>
#include <deque>

#include "hca/module/examples/tlm_scheduler.h"

using namespace sc_core;

class round_robin : public sc_module
{
      public:
	tlm_utils::simple_target_socket<round_robin> entities;
	tlm_utils::simple_initiator_socket<round_robin> grants;

	round_robin(sc_module_name name, const scheduler_setup &of)
	    : sc_module(name), entities("entities"), grants("grants"), setup(of), param(*of.params),
	      count(*of.counters), gauge(*of.gauges), units(of.params->processing_units)
	{
		entities.register_nb_transport_fw(this, &round_robin::notified);
		payload.set_extension(extension);
	}

	void signals(const struct systemc_tracer *tracer)
	{
		trace_signal(tracer, inflight_bytes, "inflight_bytes");
		trace_signal(tracer, throttled, "throttled");
		trace_signal(tracer, granted_qpn, "granted_qpn");
	}

      private:
	struct processing_unit {
		std::deque<struct sched_entity *> ring;
		sim_time free_at = 0;
		bool armed = false; /* an arbitration is scheduled */
	};

	scheduler_setup setup;
	const struct scheduler_params &param;
	struct scheduler_counters &count;
	struct scheduler_gauges &gauge;
	std::deque<processing_unit> units;
	tlm::tlm_generic_payload payload; /* payload of grants */
	grant_extension *extension = new grant_extension;
	uint64_t inflight_bytes = 0;
	bool throttled = false;
	uint32_t refused = 0;     /* the first unit that was refused since the throttle began */
	sim_time now = 0;         /* time of the current call */
	uint32_t granted_qpn = 0; /* for waveforms */

	tlm::tlm_sync_enum notified(tlm::tlm_generic_payload &what, tlm::tlm_phase &,
				    sc_time &delay)
	{
		const scheduler_extension &event = *what.get_extension<scheduler_extension>();

		now = now_and(delay);
		switch (event.what) {
		case scheduler_extension::WAKE:
			enqueue(event.entity);
			arm(unit_of(event.entity), param.latency);
			break;
		case scheduler_extension::READY:
			enqueue(event.entity);
			arm(unit_of(event.entity), 0);
			break;
		case scheduler_extension::FORGET:
			forget(event.entity);
			break;
		case scheduler_extension::RELEASE:
			release(event.bytes);
			break;
		case scheduler_extension::ARBITRATE:
			arbitrate(event.unit);
			break;
		}
		return tlm::TLM_COMPLETED;
	}

	uint32_t unit_of(const struct sched_entity *entity)
	{
		return setup.services->look(setup.adapter, entity).qpn %
		       static_cast<uint32_t>(units.size());
	}

	void arm(uint32_t number, sim_time delay)
	{
		processing_unit &unit = units[number];

		if (unit.armed || unit.ring.empty() || throttled)
			return;
		unit.armed = true;
		setup.services->arbitrate_at(setup.adapter, number,
					     std::max(now + delay, unit.free_at));
	}

	void enqueue(struct sched_entity *entity)
	{
		std::deque<struct sched_entity *> &ring = units[unit_of(entity)].ring;

		if (entity->away || setup.services->look(setup.adapter, entity).gone ||
		    std::find(ring.begin(), ring.end(), entity) != ring.end())
			return;
		gauge_enter(&gauge.ring, now, 1);
		ring.push_back(entity);
	}

	void forget(struct sched_entity *entity)
	{
		std::deque<struct sched_entity *> &ring = units[unit_of(entity)].ring;
		auto found = std::find(ring.begin(), ring.end(), entity);

		if (found == ring.end())
			return;
		ring.erase(found);
		gauge_leave(&gauge.ring, now, 1);
	}

	void release(uint32_t bytes)
	{
		inflight_bytes -= bytes;
		gauge_leave(&gauge.inflight, now, bytes);
		if (!throttled || inflight_bytes >= param.inflight_bytes)
			return;
		throttled = false;
		gauge_wait(&gauge.inflight, now, false);
		/* the first unit that was refused goes first */
		for (uint32_t i = 0; i < units.size(); i++)
			arm((refused + i) % static_cast<uint32_t>(units.size()), 0);
	}

	/* Returns true if the entity has data to send, its context, and permission to send. */
	bool next_segment(uint32_t number, struct sched_entity *entity)
	{
		sc_time delay = sc_time::from_value(now) - sc_time_stamp();

		extension->grant.packets = 0;
		if (!setup.services->look(setup.adapter, entity).has_work ||
		    !setup.services->has_context(setup.adapter, entity))
			return false;
		extension->entity = entity;
		extension->unit = number;
		grants->b_transport(payload, delay);
		return extension->grant.packets > 0;
	}

	void arbitrate(uint32_t number)
	{
		processing_unit &unit = units[number];
		struct sched_entity *entity;

		unit.armed = false;
		if (unit.ring.empty())
			return;
		if (inflight_bytes >= param.inflight_bytes) {
			if (!throttled)
				refused = number;
			throttled = true;
			gauge_wait(&gauge.inflight, now, true);
			count.throttled++;
			return;
		}
		entity = unit.ring.front();
		unit.ring.pop_front();
		gauge_leave(&gauge.ring, now, 1);
		if (next_segment(number, entity)) {
			const struct scheduler_grant grant = extension->grant;

			granted_qpn = setup.services->look(setup.adapter, entity).qpn;
			inflight_bytes += grant.bytes;
			gauge_enter(&gauge.inflight, now, grant.bytes);
			unit.free_at = now + grant.taken;
			enqueue(entity);
			arm(number, 0);
			setup.services->gather(setup.adapter, entity);
			return;
		}
		if (!entity->away)
			count.idle++;
		arm(number, 0);
	}
};

HCA_SCHEDULER_MODULE(round_robin, "tlm_round_robin",
		     "a ring of entities for each unit, as in the built-in scheduler", nullptr);
