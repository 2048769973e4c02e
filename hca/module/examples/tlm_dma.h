/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_dma: sockets for a TLM-2.0 module that replaces the DMA engine (C++; for the .cpp of a shared
 * object).
 *
 *     adapter.transfers --BEGIN_REQ--> module      a transfer; READ gathers, WRITE scatters
 *                       <--BEGIN_RESP--            it is over, at sc_time_stamp() + delay
 *                       --END_RESP-->              that time has come: the next one may end
 *     adapter.translations <--BEGIN_REQ-- module   a piece; comes back as BEGIN_RESP
 *     adapter.memory       <--BEGIN_REQ-- module   a piece; comes back as BEGIN_RESP
 *
 * A module is an sc_module with the sockets `transfers`, `translations` and `memory`, and a
 * constructor (sc_module_name, const dma_setup &). It has the functions grant(const sc_time
 * &delay), which allows the next write, and signals(). HCA_DMA_MODULE exports the module. Delays
 * are as in tlm_translation.h.
 */
#ifndef HCA_MODULE_EXAMPLES_TLM_DMA_H
#define HCA_MODULE_EXAMPLES_TLM_DMA_H

#include <deque>

#include "hca/module/examples/tlm_border.h"
#include "hca/work/dma_module.h"

struct dma_extension : border_extension<dma_extension> {
	struct dma *dma = nullptr;
};

/* A piece and its payload. The module owns both. */
struct piece_extension : border_extension<piece_extension> {
	struct record {
		struct dma_piece piece; /* first member: the adapter finds the record by it */
		tlm::tlm_generic_payload *payload;
	} record = {};
};

/* The adapter's end of the sockets. */
class dma_tlm_adapter : public sc_core::sc_module
{
      public:
	tlm_utils::simple_initiator_socket<dma_tlm_adapter> transfers;
	tlm_utils::simple_target_socket<dma_tlm_adapter> translations, memory;

	dma_tlm_adapter(sc_core::sc_module_name name, const dma_setup &of)
	    : sc_core::sc_module(name), transfers("transfers"), translations("translations"),
	      memory("memory"), setup(of)
	{
		transfers.register_nb_transport_bw(this, &dma_tlm_adapter::responded);
		translations.register_nb_transport_fw(this, &dma_tlm_adapter::translate);
		memory.register_nb_transport_fw(this, &dma_tlm_adapter::move);
	}

	void start(struct dma *dma, sim_time ahead)
	{
		tlm::tlm_generic_payload *payload = pool.take<dma_extension>();

		payload->get_extension<dma_extension>()->dma = dma;
		payload->set_command(dma->direction == DMA_GATHER ? tlm::TLM_READ_COMMAND
								  : tlm::TLM_WRITE_COMMAND);
		payload->set_data_length(dma->length);
		payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
		notify(payload, tlm::BEGIN_REQ, ahead);
	}

	void finished(struct dma *dma, sim_time ahead)
	{
		tlm::tlm_generic_payload *payload = ending[dma->direction];

		notify(payload, tlm::END_RESP, ahead);
		payload->release();
	}

	void translated(struct dma_piece *piece, sim_time ahead)
	{
		give_back(translations, piece, ahead);
	}

	void moved(struct dma_piece *piece, sim_time ahead)
	{
		give_back(memory, piece, ahead);
	}

      private:
	dma_setup setup;
	payload_pool pool;
	tlm::tlm_generic_payload *ending[DMA_SCATTER + 1] = {};

	void notify(tlm::tlm_generic_payload *payload, tlm::tlm_phase phase, sim_time ahead)
	{
		sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);

		transfers->nb_transport_fw(*payload, phase, delay);
	}

	template <typename Socket>
	void give_back(Socket &socket, struct dma_piece *piece, sim_time ahead)
	{
		sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
		tlm::tlm_phase phase = tlm::BEGIN_RESP;
		tlm::tlm_generic_payload *payload =
			reinterpret_cast<struct piece_extension::record *>(piece)->payload;

		payload->set_response_status(piece->status == DMA_OK
						     ? tlm::TLM_OK_RESPONSE
						     : tlm::TLM_ADDRESS_ERROR_RESPONSE);
		socket->nb_transport_bw(*payload, phase, delay);
	}

	tlm::tlm_sync_enum responded(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
				     sc_core::sc_time &delay)
	{
		struct dma *dma = payload.get_extension<dma_extension>()->dma;

		if (phase == tlm::BEGIN_RESP) {
			setup.services->done(setup.adapter, dma, now_and(delay));
			ending[dma->direction] = &payload;
		}
		return tlm::TLM_ACCEPTED;
	}

	struct dma_piece *piece_of(tlm::tlm_generic_payload &payload)
	{
		struct piece_extension::record *record =
			&payload.get_extension<piece_extension>()->record;

		record->payload = &payload;
		return &record->piece;
	}

	tlm::tlm_sync_enum translate(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				     sc_core::sc_time &delay)
	{
		setup.services->translate(setup.adapter, piece_of(payload), now_and(delay));
		return tlm::TLM_ACCEPTED;
	}

	tlm::tlm_sync_enum move(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				sc_core::sc_time &delay)
	{
		setup.services->move(setup.adapter, piece_of(payload), now_and(delay));
		return tlm::TLM_ACCEPTED;
	}
};

/* Implements the functions of struct dma_module with a module and an adapter in front of the
 * module. */
template <typename Module> struct dma_tlm {
	dma_tlm_adapter adapter;
	Module module;

	explicit dma_tlm(const dma_setup &setup)
	    : adapter((identifier(setup.name) + "_adapter").c_str(), setup),
	      module(identifier(setup.name).c_str(), setup)
	{
		adapter.transfers.bind(module.transfers);
		module.translations.bind(adapter.translations);
		module.memory.bind(adapter.memory);
	}

	static dma_tlm *of(void *module)
	{
		return static_cast<dma_tlm *>(module);
	}
	static void *create(const dma_setup *setup)
	{
		return new dma_tlm(*setup);
	}
	static void destroy(void *module)
	{
		delete of(module);
	}
	static void start(void *module, struct dma *dma, sim_time ahead)
	{
		of(module)->adapter.start(dma, ahead);
	}
	static void translated(void *module, struct dma_piece *piece, sim_time ahead)
	{
		of(module)->adapter.translated(piece, ahead);
	}
	static void moved(void *module, struct dma_piece *piece, sim_time ahead)
	{
		of(module)->adapter.moved(piece, ahead);
	}
	static void grant(void *module, sim_time ahead)
	{
		of(module)->module.grant(sc_core::sc_time::from_value(ahead));
	}
	static void finished(void *module, struct dma *dma, sim_time ahead)
	{
		of(module)->adapter.finished(dma, ahead);
	}
	static void trace(void *module, const struct systemc_tracer *tracer)
	{
		of(module)->module.signals(tracer);
	}
};

/* Defines the exported table; use it once per shared object. accepts: as in struct dma_module. */
#define HCA_DMA_MODULE(Module, name, meaning, accepts)                          \
	extern "C" const struct dma_module hca_dma_module;                      \
	const struct dma_module hca_dma_module = {                              \
		{MODULE_VERSION_DMA, sizeof(struct dma_module), name, meaning}, \
		accepts,                                                        \
		dma_tlm<Module>::create,                                        \
		dma_tlm<Module>::destroy,                                       \
		dma_tlm<Module>::start,                                         \
		dma_tlm<Module>::translated,                                    \
		dma_tlm<Module>::moved,                                         \
		dma_tlm<Module>::grant,                                         \
		dma_tlm<Module>::finished,                                      \
		dma_tlm<Module>::trace}

#endif
