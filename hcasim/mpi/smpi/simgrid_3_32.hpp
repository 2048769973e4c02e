/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simgrid_3_32: what a network model of our own needs of SimGrid 3.32 beyond the headers that it installs: the layout of
 * two classes and the order of their virtual functions, as its library has them. The library exports all that is
 * declared here and not defined. Another version is another layout: refused when this is compiled.
 */
#ifndef HCASIM_MPI_SMPI_SIMGRID_3_32_HPP
#define HCASIM_MPI_SMPI_SIMGRID_3_32_HPP

#include <list>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/version.h>
#include <string>
#include <vector>

#if SIMGRID_VERSION_MAJOR != 3 || SIMGRID_VERSION_MINOR != 32
#error "SimGrid 3.32 is expected: the classes below are declared as that version has them"
#endif

namespace simgrid::kernel::resource
{

class StandardLinkImpl;

class NetworkModel : public Model, public NetworkModelIntf
{
      public:
	using Model::Model;
	~NetworkModel() override;

	virtual StandardLinkImpl *create_link(const std::string &, const std::vector<double> &) = 0;
	virtual StandardLinkImpl *create_wifi_link(const std::string &,
						   const std::vector<double> &) = 0;
	virtual Action *communicate(s4u::Host *, s4u::Host *, double bytes, double rate) = 0;
	virtual double get_latency_factor(double bytes) = 0;
	virtual double get_bandwidth_factor(double bytes) = 0;
	double next_occurring_event_full(double now) override;

	void *loopback = nullptr; /* an owning pointer there; nullptr is all that it is here */
};

class NetworkAction : public Action
{
	s4u::Host &source;
	s4u::Host &destination;

      public:
	NetworkAction(Model *model, s4u::Host &from, s4u::Host &to, double bytes)
	    : Action(model, bytes, false), source(from), destination(to)
	{
	}

	void set_state(Action::State state) override;
	virtual std::list<StandardLinkImpl *> get_links() const;

	double latency = 0, current_latency = 0, penalty = 0;
};

} // namespace simgrid::kernel::resource

#endif
