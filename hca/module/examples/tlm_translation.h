/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_translation: two sockets for a TLM-2.0 module that replaces the translation unit (C++; for
 * the .cpp of a shared object, which links nothing of hcasim).
 *
 *     adapter.requests --nb_transport_fw(BEGIN_REQ or AGAIN)--> module
 *         responds by TLM_COMPLETED with its delay, or later by nb_transport_bw(BEGIN_RESP)
 *     adapter.fetches  <--nb_transport_fw(BEGIN_REQ)-- module
 *         a PCIe read; comes back as BEGIN_RESP
 *
 * A module is an sc_module with the sockets `requests` and `fetches`, and a constructor
 * (sc_module_name, const translation_setup &). It has the functions invalidate(), as in
 * translation_module.h, and signals(), which registers the signals for waveforms.
 * HCA_TRANSLATION_MODULE exports it. Delays count from sc_time_stamp() on both sides, as in TLM-2.0
 * (IEEE 1666-2011, 11.1.3).
 */
#ifndef HCA_MODULE_EXAMPLES_TLM_TRANSLATION_H
#define HCA_MODULE_EXAMPLES_TLM_TRANSLATION_H

#include "hca/context/translation_module.h"
#include "hca/module/examples/tlm_border.h"

/* Presents the request again, at the time that the module requested by the service again(). */
DECLARE_EXTENDED_PHASE(AGAIN);

struct translation_extension : border_extension<translation_extension> {
	struct translation *request = nullptr;
	unsigned stage = 0; /* private to the module; 0 in a new request */
};

/* A fetch and its payload. The module owns both. */
struct fetch_extension : border_extension<fetch_extension> {
	struct record {
		/* first member: the adapter finds the record by it */
		struct translation_fetch fetch;
		tlm::tlm_generic_payload *payload;
	} record = {};
};

/* The adapter's end of both sockets. */
class translation_tlm_adapter : public sc_core::sc_module
{
      public:
	tlm_utils::simple_initiator_socket<translation_tlm_adapter> requests;
	tlm_utils::simple_target_socket<translation_tlm_adapter> fetches;

	translation_tlm_adapter(sc_core::sc_module_name name, const translation_setup &of)
	    : sc_core::sc_module(name), requests("requests"), fetches("fetches"), setup(of)
	{
		requests.register_nb_transport_bw(this, &translation_tlm_adapter::responded);
		fetches.register_nb_transport_fw(this, &translation_tlm_adapter::fetch);
	}

	void request(struct translation *request, sim_time ahead)
	{
		sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
		tlm::tlm_phase phase = request->module == nullptr ? tlm::BEGIN_REQ : AGAIN;
		tlm::tlm_generic_payload *payload =
			request->module == nullptr
				? take(request)
				: static_cast<tlm::tlm_generic_payload *>(request->module);
		tlm::tlm_sync_enum status = requests->nb_transport_fw(*payload, phase, delay);

		if (status == tlm::TLM_COMPLETED ||
		    (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP))
			respond(payload, delay);
	}

	void fetched(struct translation_fetch *fetch, sim_time ahead)
	{
		sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
		tlm::tlm_phase phase = tlm::BEGIN_RESP;
		tlm::tlm_generic_payload *payload =
			reinterpret_cast<struct fetch_extension::record *>(fetch)->payload;

		payload->set_response_status(tlm::TLM_OK_RESPONSE);
		fetches->nb_transport_bw(*payload, phase, delay);
	}

      private:
	translation_setup setup;
	payload_pool pool;

	tlm::tlm_generic_payload *take(struct translation *request)
	{
		tlm::tlm_generic_payload *payload = pool.take<translation_extension>();
		translation_extension *extension = payload->get_extension<translation_extension>();

		payload->set_read();
		payload->set_address(request->address);
		payload->set_data_length(request->length);
		payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
		extension->request = request;
		extension->stage = 0;
		request->module = payload;
		return payload;
	}

	void respond(tlm::tlm_generic_payload *payload, const sc_core::sc_time &delay)
	{
		setup.services->respond(setup.adapter,
					payload->get_extension<translation_extension>()->request,
					now_and(delay));
		payload->release();
	}

	tlm::tlm_sync_enum responded(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
				     sc_core::sc_time &delay)
	{
		if (phase != tlm::BEGIN_RESP)
			return tlm::TLM_ACCEPTED;
		respond(&payload, delay);
		return tlm::TLM_COMPLETED;
	}

	tlm::tlm_sync_enum fetch(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				 sc_core::sc_time &delay)
	{
		struct fetch_extension::record *record =
			&payload.get_extension<fetch_extension>()->record;

		record->payload = &payload;
		setup.services->fetch(setup.adapter, &record->fetch, now_and(delay));
		return tlm::TLM_ACCEPTED;
	}
};

/* Implements the functions of struct translation_module with a module and an adapter in front of
 * the module. */
template <typename Module> struct translation_tlm {
	translation_tlm_adapter adapter;
	Module module;

	explicit translation_tlm(const translation_setup &setup)
	    : adapter((identifier(setup.name) + "_adapter").c_str(), setup),
	      module(identifier(setup.name).c_str(), setup)
	{
		adapter.requests.bind(module.requests);
		module.fetches.bind(adapter.fetches);
	}

	static translation_tlm *of(void *module)
	{
		return static_cast<translation_tlm *>(module);
	}
	static void *create(const translation_setup *setup)
	{
		return new translation_tlm(*setup);
	}
	static void destroy(void *module)
	{
		delete of(module);
	}
	static void request(void *module, struct translation *request, sim_time ahead)
	{
		of(module)->adapter.request(request, ahead);
	}
	static void fetched(void *module, struct translation_fetch *fetch, sim_time ahead)
	{
		of(module)->adapter.fetched(fetch, ahead);
	}
	static void invalidate(void *module, enum translation_cache cache, uint64_t first,
			       uint64_t count)
	{
		of(module)->module.invalidate(cache, first, count);
	}
	static void trace(void *module, const struct systemc_tracer *tracer)
	{
		of(module)->module.signals(tracer);
	}
};

/* Defines the exported table; use it once per shared object. accepts: as in struct
 * translation_module. */
#define HCA_TRANSLATION_MODULE(Module, name, meaning, accepts)                                  \
	extern "C" const struct translation_module hca_translation_module;                      \
	const struct translation_module hca_translation_module = {                              \
		{MODULE_VERSION_TRANSLATION, sizeof(struct translation_module), name, meaning}, \
		accepts,                                                                        \
		translation_tlm<Module>::create,                                                \
		translation_tlm<Module>::destroy,                                               \
		translation_tlm<Module>::request,                                               \
		translation_tlm<Module>::fetched,                                               \
		translation_tlm<Module>::invalidate,                                            \
		translation_tlm<Module>::trace}

#endif
