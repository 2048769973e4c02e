/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_flat: a minimal translation unit without caches. Every entry is on the chip, and each request
 * takes 30 ns. Loosely timed: b_transport() runs in its own process, which SystemC's sockets
 * create. docs/explanation/systemc.md explains it line by line.
 */
#include "hca/module/examples/tlm_translation.h"

using namespace sc_core;

class flat : public sc_module
{
      public:
	tlm_utils::simple_target_socket<flat> requests;
	tlm_utils::simple_initiator_socket<flat> fetches; /* unused, because no entry is missing */

	flat(sc_module_name name, const translation_setup &of)
	    : sc_module(name), requests("requests"), fetches("fetches"), setup(of)
	{
		requests.register_b_transport(this, &flat::translate);
	}

	void invalidate(enum translation_cache, uint64_t, uint64_t)
	{
		/* no entries are cached */
	}

	void signals(const struct systemc_tracer *tracer)
	{
		trace_signal(tracer, address, "address");
	}

      private:
	translation_setup setup;
	uint64_t address = 0;

	void translate(tlm::tlm_generic_payload &payload, sc_time &delay)
	{
		struct translation *request =
			payload.get_extension<translation_extension>()->request;
		struct translation_entry entry;

		wait(delay + sc_time(30, SC_NS));
		delay = SC_ZERO_TIME;
		address = payload.get_address();
		if (request->length > 0)
			setup.services->entry(setup.adapter, request, &entry);
		payload.set_response_status(tlm::TLM_OK_RESPONSE);
	}
};

HCA_TRANSLATION_MODULE(flat, "flat", "all entries cached, 30 ns per request", nullptr);
