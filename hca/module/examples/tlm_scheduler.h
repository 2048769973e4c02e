/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_scheduler: sockets for a TLM-2.0 module that replaces the QP scheduler (C++; for the .cpp of
 * a shared object).
 *
 *     adapter.entities --nb_transport_fw--> module
 *         an event: the extension describes it; completed by TLM_COMPLETED
 *     adapter.grants <--b_transport-- module
 *         a grant for an entity: the adapter writes the segment to the extension
 *
 * A module is an sc_module with the sockets `entities` and `grants`, a constructor (sc_module_name,
 * const scheduler_setup &), and signals(). HCA_SCHEDULER_MODULE exports it. Delays are as in
 * tlm_translation.h. The module schedules an arbitration by the service arbitrate_at().
 */
#ifndef HCA_MODULE_EXAMPLES_TLM_SCHEDULER_H
#define HCA_MODULE_EXAMPLES_TLM_SCHEDULER_H

#include "hca/module/examples/tlm_border.h"
#include "hca/work/scheduler_module.h"
#include "sim/gauge.h"

struct scheduler_extension : border_extension<scheduler_extension> {
	enum { WAKE, READY, FORGET, RELEASE, ARBITRATE } what = WAKE;
	struct sched_entity *entity = nullptr; /* not for RELEASE and ARBITRATE */
	uint32_t unit = 0;                     /* ARBITRATE */
	uint32_t bytes = 0;                    /* RELEASE */
};

struct grant_extension : border_extension<grant_extension> {
	struct sched_entity *entity = nullptr;
	uint32_t unit = 0;
	struct scheduler_grant grant = {}; /* out */
};

/* The adapter's end of the sockets. */
class scheduler_tlm_adapter : public sc_core::sc_module
{
      public:
	tlm_utils::simple_initiator_socket<scheduler_tlm_adapter> entities;
	tlm_utils::simple_target_socket<scheduler_tlm_adapter> grants;

	scheduler_tlm_adapter(sc_core::sc_module_name name, const scheduler_setup &of)
	    : sc_core::sc_module(name), entities("entities"), grants("grants"), setup(of)
	{
		grants.register_b_transport(this, &scheduler_tlm_adapter::grant);
	}

	void notify(const scheduler_extension &what, sim_time ahead)
	{
		tlm::tlm_generic_payload *payload = pool.take<scheduler_extension>();
		sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
		tlm::tlm_phase phase = tlm::BEGIN_REQ;

		payload->get_extension<scheduler_extension>()->copy_from(what);
		entities->nb_transport_fw(*payload, phase, delay);
		payload->release();
	}

      private:
	scheduler_setup setup;
	payload_pool pool;

	void grant(tlm::tlm_generic_payload &payload, sc_core::sc_time &)
	{
		grant_extension *extension = payload.get_extension<grant_extension>();

		extension->grant =
			setup.services->grant(setup.adapter, extension->unit, extension->entity);
		payload.set_response_status(tlm::TLM_OK_RESPONSE);
	}
};

/* Implements the functions of struct scheduler_module with a module and an adapter in front of the
 * module. */
template <typename Module> struct scheduler_tlm {
	scheduler_tlm_adapter adapter;
	Module module;

	explicit scheduler_tlm(const scheduler_setup &setup)
	    : adapter((identifier(setup.name) + "_adapter").c_str(), setup),
	      module(identifier(setup.name).c_str(), setup)
	{
		adapter.entities.bind(module.entities);
		module.grants.bind(adapter.grants);
	}

	static scheduler_tlm *of(void *module)
	{
		return static_cast<scheduler_tlm *>(module);
	}
	static void *create(const scheduler_setup *setup)
	{
		return new scheduler_tlm(*setup);
	}
	static void destroy(void *module)
	{
		delete of(module);
	}
	static void wake(void *module, struct sched_entity *entity, sim_time ahead)
	{
		scheduler_extension extension;

		extension.entity = entity;
		of(module)->adapter.notify(extension, ahead);
	}
	static void ready(void *module, struct sched_entity *entity, sim_time ahead)
	{
		scheduler_extension extension;

		extension.what = scheduler_extension::READY;
		extension.entity = entity;
		of(module)->adapter.notify(extension, ahead);
	}
	static void forget(void *module, struct sched_entity *entity, sim_time ahead)
	{
		scheduler_extension extension;

		extension.what = scheduler_extension::FORGET;
		extension.entity = entity;
		of(module)->adapter.notify(extension, ahead);
	}
	static void release(void *module, uint32_t bytes, sim_time ahead)
	{
		scheduler_extension extension;

		extension.what = scheduler_extension::RELEASE;
		extension.bytes = bytes;
		of(module)->adapter.notify(extension, ahead);
	}
	static void arbitrate(void *module, uint32_t unit, sim_time ahead)
	{
		scheduler_extension extension;

		extension.what = scheduler_extension::ARBITRATE;
		extension.unit = unit;
		of(module)->adapter.notify(extension, ahead);
	}
	static void trace(void *module, const struct systemc_tracer *tracer)
	{
		of(module)->module.signals(tracer);
	}
};

/* Defines the exported table; use it once per shared object. accepts: as in struct
 * scheduler_module. */
#define HCA_SCHEDULER_MODULE(Module, name, meaning, accepts)                                \
	extern "C" const struct scheduler_module hca_scheduler_module;                      \
	const struct scheduler_module hca_scheduler_module = {                              \
		{MODULE_VERSION_SCHEDULER, sizeof(struct scheduler_module), name, meaning}, \
		accepts,                                                                    \
		scheduler_tlm<Module>::create,                                              \
		scheduler_tlm<Module>::destroy,                                             \
		scheduler_tlm<Module>::wake,                                                \
		scheduler_tlm<Module>::ready,                                               \
		scheduler_tlm<Module>::forget,                                              \
		scheduler_tlm<Module>::release,                                             \
		scheduler_tlm<Module>::arbitrate,                                           \
		scheduler_tlm<Module>::trace}

#endif
