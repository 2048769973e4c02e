/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform: SimGrid side of mpi_world.h: a SimGrid platform in a shared object, as smpirun loads
 * one. It creates the hosts of the scenario and installs a network model. The model passes each
 * message to the HCAs. It advances their simulation up to SimGrid's clock: until a message ends, or
 * a rank can continue.
 *
 *     rank --MPI_Send--> SMPI --communicate()--> mpi_world ~~~ packets ~~~> ended --> SMPI --> rank
 */
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "hcasim/mpi/mpi_world.h"
#include "hcasim/mpi/smpi/simgrid_3_32.hpp"

namespace s4u = simgrid::s4u;
namespace resource = simgrid::kernel::resource;

namespace
{

constexpr double FLOPS =
	1e9; /* speed of a host; computing takes time only where a program specifies it */
constexpr int CORES = 64;

struct mpi_world *world;
bool deadlock;
std::unordered_map<const s4u::Host *, uint32_t> numbers; /* never walked */

sim_time to_ps(double seconds)
{
	return static_cast<sim_time>(std::llround(seconds * static_cast<double>(SEC)));
}

void close_world()
{
	if (world)
		mpi_world_close(world, to_ps(s4u::Engine::get_clock()), deadlock);
	world = nullptr;
}

/* Ends the program because a queue pair is broken, as MPI libraries do. SimGrid's loop has no other
 * exit. */
void give_up()
{
	close_world();
	fflush(nullptr);
	_exit(1);
}

class message_action final : public resource::NetworkAction
{
      public:
	using NetworkAction::NetworkAction;

	/* SimGrid's tracing would look for links, which do not exist in this platform. */
	void set_state(resource::Action::State to) override
	{
		resource::Action::set_state(to);
	}

	void update_remains_lazy(double) override
	{
	}
};

class packet_model final : public resource::NetworkModel
{
      public:
	using NetworkModel::NetworkModel;

	resource::StandardLinkImpl *create_link(const std::string &,
						const std::vector<double> &) override
	{
		fputs("hcasim: the scenario defines the links; expected no links in "
		      "SimGrid\n",
		      stderr);
		abort();
	}

	resource::StandardLinkImpl *create_wifi_link(const std::string &name,
						     const std::vector<double> &rates) override
	{
		return create_link(name, rates);
	}

	double get_latency_factor(double) override
	{
		return 1;
	}

	double get_bandwidth_factor(double) override
	{
		return 1;
	}

	void set_lat_factor_cb(const std::function<NetworkFactorCb> &) override
	{
	}

	void set_bw_factor_cb(const std::function<NetworkFactorCb> &) override
	{
	}

	bool next_occurring_event_is_idempotent() override
	{
		return false;
	}

	/* Starts a message. A message to the own rank arrives without delay and uses no HCA. */
	resource::Action *communicate(s4u::Host *from, s4u::Host *to, double bytes, double) override
	{
		auto *action = new message_action(this, *from, *to, bytes);

		if (from == to)
			action->finish(resource::Action::State::FINISHED);
		else if (!mpi_world_send(world, to_ps(s4u::Engine::get_clock()), numbers.at(from),
					 numbers.at(to), static_cast<uint64_t>(bytes), action))
			_exit(2);
		return action;
	}

	/* Advances by at most `limit` seconds; negative: no limit. Returns the time advanced, or a
	 * negative value if no event will happen. */
	double next_occurring_event(double limit) override
	{
		if (get_started_action_set()->empty())
			return -1;
		sim_time now = to_ps(s4u::Engine::get_clock());
		sim_time until = limit < 0 ? SIM_NEVER : now + to_ps(limit);
		sim_time reached = mpi_world_advance(world, until);

		if (reached == SIM_NEVER)
			return -1;
		if (reached >= until)
			return limit;
		return reached > now ? static_cast<double>(reached - now) / static_cast<double>(SEC)
				     : 0;
	}

	void update_actions_state(double, double) override
	{
		bool failed;

		while (auto *action =
			       static_cast<message_action *>(mpi_world_take(world, &failed))) {
			if (failed)
				give_up();
			action->finish(resource::Action::State::FINISHED);
		}
	}
};

} // namespace

extern "C" void load_platform(const s4u::Engine &);

void load_platform(const s4u::Engine &)
{
	auto *zone = s4u::create_empty_zone("fabric");
	auto model = std::make_shared<packet_model>("hcasim");

	world = mpi_world_open();
	if (!world)
		exit(2);
	s4u::Engine::get_instance()->add_model(model);
	zone->get_impl()->set_network_model(model);
	for (uint32_t i = 0; i < mpi_world_hosts(world); i++) {
		auto *host = zone->create_host(mpi_world_host(world, i), FLOPS);

		host->set_core_count(CORES)->seal();
		numbers[host] = i;
	}
	zone->seal();
	s4u::Engine::on_deadlock_cb([] { deadlock = true; });
	s4u::Engine::on_simulation_end_cb(close_world);
}
