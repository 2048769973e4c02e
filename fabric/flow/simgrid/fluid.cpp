/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid: see fluid.h. This file uses SimGrid at the level of flows: one engine without actors,
 * whose clock hcasim advances. A zone with two hosts resolves each route to the links of the flow
 * that is being begun. hcasim therefore determines the routes.
 *
 * SimGrid represents seconds as doubles, and treats dates within 10 us as equal. A SimGrid second
 * therefore represents a microsecond, so that the limit is 10 ps. Links have no latency. The caller
 * that begins a flow adds the latency of the route.
 */
#include "fabric/flow/fluid.h"

#include <signal.h>

#include <cassert>
#include <cmath>
#include <deque>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simgrid::kernel::resource::StandardLinkImpl;

struct fluid_flow {
	struct fluid *fluid;
	s4u::CommPtr comm;
	double bytes;
	void *user;
};

struct fluid {
	double origin; /* SimGrid's date at time 0 of the simulation */
	std::vector<StandardLinkImpl *> links;
	std::unordered_map<const s4u::Activity *, fluid_flow *> flows; /* never iterated */
	std::deque<fluid_flow *> ended;
};

namespace
{

constexpr double PS_PER_UNIT = 1e6; /* unit of SimGrid's time */
constexpr double UNITS_PER_SECOND = 1e6;
constexpr double DUE_UNITS = 1e-7; /* 0.1 ps: earlier ends count as now */

class direct_zone final : public routing::NetZoneImpl
{
      public:
	std::vector<StandardLinkImpl *> route; /* links of the flow that is being begun */

	explicit direct_zone(const std::string &name) : NetZoneImpl(name)
	{
	}

	void get_local_route(const routing::NetPoint *, const routing::NetPoint *,
			     routing::Route *into, double *) override
	{
		into->link_list_ = route;
	}
};

/* State of the process. SimGrid's clock never goes back, and hosts and links remain. It is never
 * destroyed, because SimGrid's own static objects are destroyed first. */
struct {
	s4u::Engine *engine;
	direct_zone *zone;
	s4u::Host *source, *destination;
	uint64_t links;
	struct fluid *user; /* NULL if free */
} process;

void note_end(const s4u::Activity &activity)
{
	struct fluid *fluid = process.user;

	if (!fluid) /* the object is being destroyed */
		return;
	auto found = fluid->flows.find(&activity);

	if (found == fluid->flows.end())
		return;
	fluid->ended.push_back(found->second);
	fluid->flows.erase(found);
}

/* Starts the engine and restores the handlers of SIGINT and SIGSEGV, which SimGrid replaces. */
void start_engine()
{
	static char name[] = "hcasim";
	static char quiet[] = "--log=root.thresh:critical";
	static char *arguments[] = {name, quiet, nullptr};
	const int signals[] = {SIGINT, SIGSEGV};
	struct sigaction kept[2];
	int count = 2;

	for (int i = 0; i < 2; i++)
		sigaction(signals[i], nullptr, &kept[i]);
	process.engine = new s4u::Engine(&count, arguments);
	s4u::Engine::set_config("network/model:CM02");
	s4u::Engine::set_config("network/crosstraffic:0");
	s4u::Engine::set_config("surf/precision:1e-7");
	process.zone = new direct_zone("fabric");
	process.source = process.zone->get_iface()->create_host("source", 1.0)->seal();
	process.destination = process.zone->get_iface()->create_host("destination", 1.0)->seal();
	s4u::Activity::on_completion_cb(note_end);
	for (int i = 0; i < 2; i++)
		sigaction(signals[i], &kept[i], nullptr);
}

struct fluid *create()
{
	assert(!process.user);
	if (!process.engine)
		start_engine();
	process.user = new fluid{s4u::Engine::get_clock(), {}, {}, {}};
	return process.user;
}

void destroy(struct fluid *fluid)
{
	process.user = nullptr;
	for (auto &entry : fluid->flows) {
		entry.second->comm->cancel();
		delete entry.second;
	}
	for (auto *flow : fluid->ended)
		delete flow;
	delete fluid;
}

uint32_t add_link(struct fluid *fluid, uint64_t rate_bps)
{
	double bytes_per_unit = static_cast<double>(rate_bps) / 8 / UNITS_PER_SECOND;
	auto *zone = process.zone->get_iface();
	auto *link = zone->create_link("link" + std::to_string(process.links++), bytes_per_unit);

	fluid->links.push_back(link->set_latency(0)->seal()->get_impl());
	return static_cast<uint32_t>(fluid->links.size() - 1);
}

struct fluid_flow *begin(struct fluid *fluid, const uint32_t *links, uint32_t count, uint64_t bytes,
			 void *user)
{
	auto comm = s4u::Comm::sendto_init(process.source, process.destination);
	auto *flow = new fluid_flow{fluid, comm, static_cast<double>(bytes), user};

	process.zone->route.clear();
	for (uint32_t i = 0; i < count; i++)
		process.zone->route.push_back(fluid->links[links[i]]);
	fluid->flows.emplace(comm.get(), flow);
	comm->set_payload_size(bytes);
	comm->start();
	return flow;
}

double date_of(const struct fluid *fluid, sim_time time)
{
	return fluid->origin + static_cast<double>(time) / PS_PER_UNIT;
}

/* Returns the time of the first end, rounded up. A flow that ends within 0.1 ps of this time then
 * counts as ended. */
sim_time next(struct fluid *fluid)
{
	double clock = s4u::Engine::get_clock(), soonest = -1;

	for (auto *model : process.engine->get_all_models()) {
		double left = model->next_occurring_event(clock);

		if (left >= 0 && (soonest < 0 || left < soonest))
			soonest = left;
	}
	if (soonest < 0)
		return SIM_NEVER;
	double now = (clock - fluid->origin) * PS_PER_UNIT;

	return static_cast<sim_time>(
		std::max(std::ceil(now + soonest * PS_PER_UNIT - 0.05), std::floor(now + 0.5) + 1));
}

void advance(struct fluid *fluid, sim_time to)
{
	double date = date_of(fluid, to);

	while (s4u::Engine::get_clock() < date - DUE_UNITS)
		process.engine->run_until(date);
}

void *take_ended(struct fluid *fluid)
{
	if (fluid->ended.empty())
		return nullptr;
	fluid_flow *flow = fluid->ended.front();
	void *user = flow->user;

	fluid->ended.pop_front();
	delete flow;
	return user;
}

double carried_bytes(const struct fluid_flow *flow)
{
	return flow->bytes - flow->comm->get_remaining();
}

} // namespace

const struct fluid_ops fluid_ops = {
	create, destroy, add_link, begin, next, advance, take_ended, carried_bytes,
};
