/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_cache: the translation unit as a TLM-2.0 module with two caches (C++). Its times
 * equal those in hca/context/translation.c to the picosecond. Temporally decoupled: all work is
 * done inside calls of the adapter, at sc_time_stamp() + delay.
 *
 *     requests --> MPT cache --> check --> MTT cache, page by page --> TLM_COMPLETED
 *                      `--- miss: fetches ---'
 *
 * TLM_COMPLETED carries the delay of the response. AGAIN continues a request that had to wait.
 */
#ifndef HCA_MODULE_EXAMPLES_TRANSLATION_CACHE_H
#define HCA_MODULE_EXAMPLES_TRANSLATION_CACHE_H

#include "hca/module/examples/lookup_cache.h"

/* Returns false for parameters that this unit does not support. */
static inline bool translation_cache_accepts(const struct translation_params *params, char *error,
					     size_t error_bytes)
{
	const struct icm_cache_params *caches[] = {&params->mpt, &params->mtt};

	for (const struct icm_cache_params *cache : caches) {
		if (cache->replacement != ICM_REPLACE_LRU || cache->write_back ||
		    cache->second_entries) {
			snprintf(error, error_bytes,
				 "mpt and mtt can only have replacement: lru, write_back: false "
				 "and second_entries: 0");
			return false;
		}
	}
	return true;
}

template <typename Tags>
class translation_cache_unit : public sc_core::sc_module, private lookup_cache_owner
{
      public:
	tlm_utils::simple_target_socket<translation_cache_unit> requests;
	tlm_utils::simple_initiator_socket<translation_cache_unit> fetches;

	translation_cache_unit(sc_core::sc_module_name name, const translation_setup &of)
	    : sc_core::sc_module(name), requests("requests"), fetches("fetches"), setup(of),
	      param(*of.params), mpt("mpt", TRANSLATION_MPT, of, this),
	      mtt("mtt", TRANSLATION_MTT, of, this)
	{
		requests.register_nb_transport_fw(this, &translation_cache_unit::requested);
		fetches.register_nb_transport_bw(this, &translation_cache_unit::fetched);
	}

	void invalidate(enum translation_cache cache, uint64_t first, uint64_t count)
	{
		(cache == TRANSLATION_MPT ? mpt : mtt).invalidate(first, count);
	}

	void signals(const struct systemc_tracer *tracer)
	{
		trace_signal(tracer, address, "address");
		mpt.signals(tracer, "mpt");
		mtt.signals(tracer, "mtt");
	}

      private:
	enum { KEY_OWN_BITS = 8 };
	enum stage { NEW, FETCH_MPT, MPT_HERE, FETCH_MTT, MTT_HERE };

	translation_setup setup;
	const struct translation_params &param;
	lookup_cache<Tags> mpt, mtt;
	sim_time local_now = 0;  /* time of the current call */
	sim_time start_next = 0; /* earliest start of the next request, by the interval */
	uint64_t address = 0;    /* for waveforms */

	tlm::tlm_sync_enum requested(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
				     sc_core::sc_time &delay)
	{
		translation_extension *extension = payload.get_extension<translation_extension>();
		sim_time response = 0;

		local_now = now_and(delay);
		switch (extension->stage) {
		case NEW:
			response = begin(extension);
			break;
		case FETCH_MPT:
			response = fetch_mpt(extension);
			break;
		case MPT_HERE:
			response = check(extension, local_now);
			break;
		case FETCH_MTT:
			response = fetch_mtt(extension);
			break;
		case MTT_HERE:
			response = find_pages(extension, local_now);
			break;
		}
		if (response == 0)
			return tlm::TLM_ACCEPTED;
		phase = tlm::END_RESP;
		delay = sc_core::sc_time::from_value(response + param.latency) -
			sc_core::sc_time_stamp();
		payload.set_response_status(extension->request->status == TRANSLATION_OK
						    ? tlm::TLM_OK_RESPONSE
						    : tlm::TLM_ADDRESS_ERROR_RESPONSE);
		return tlm::TLM_COMPLETED;
	}

	/* The following functions return the end of the lookups, or 0 if the request has to
	 * wait. */
	sim_time begin(translation_extension *extension)
	{
		struct translation *request = extension->request;
		sim_time start = std::max(local_now, start_next), found;

		start_next = start + param.interval;
		address = request->address;
		if (request->length == 0)
			return start;
		if (mpt.hit(request->key >> KEY_OWN_BITS, request->tag, start, &found))
			return check(extension, found);
		return at(extension, FETCH_MPT, start);
	}

	/* Continues a request at time `start`. A lookup that misses starts in its own event,
	 * because its read competes with other reads. */
	sim_time at(translation_extension *extension, enum stage stage, sim_time start)
	{
		extension->stage = stage;
		if (start > local_now) {
			resume(extension, TRANSLATION_CACHES, start);
			return 0;
		}
		return stage == FETCH_MPT ? fetch_mpt(extension) : fetch_mtt(extension);
	}

	sim_time fetch_mpt(translation_extension *extension)
	{
		struct translation *request = extension->request;

		extension->stage = MPT_HERE;
		mpt.look_up(extension, request->key >> KEY_OWN_BITS, request->tag, local_now);
		return 0;
	}

	sim_time check(translation_extension *extension, sim_time found)
	{
		struct translation *request = extension->request;
		struct translation_entry entry;

		setup.services->entry(setup.adapter, request, &entry);
		request->next_page = entry.first_page;
		request->last_page = entry.first_page + entry.page_count;
		return find_pages(extension, found);
	}

	/* Looks up MTT entries one after another until a lookup misses. */
	sim_time find_pages(translation_extension *extension, sim_time found)
	{
		struct translation *request = extension->request;

		for (; request->next_page < request->last_page; request->next_page++) {
			if (!mtt.hit(request->next_page, request->tag, found, &found))
				return at(extension, FETCH_MTT, found);
		}
		return found;
	}

	sim_time fetch_mtt(translation_extension *extension)
	{
		struct translation *request = extension->request;

		extension->stage = MTT_HERE;
		mtt.look_up(extension, request->next_page++, request->tag, local_now);
		return 0;
	}

	void resume(translation_extension *who, enum translation_cache part, sim_time at) override
	{
		setup.services->again(setup.adapter, who->request, part, at);
	}

	void fetch_line(miss_slot &slot) override
	{
		tlm::tlm_phase phase = tlm::BEGIN_REQ;
		sc_core::sc_time delay =
			sc_core::sc_time::from_value(local_now) - sc_core::sc_time_stamp();

		fetches->nb_transport_fw(slot.payload, phase, delay);
	}

	tlm::tlm_sync_enum fetched(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				   sc_core::sc_time &delay)
	{
		local_now = now_and(delay);
		if (!mpt.arrived(&payload, local_now))
			mtt.arrived(&payload, local_now);
		return tlm::TLM_COMPLETED;
	}
};

#endif
