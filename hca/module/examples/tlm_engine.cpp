/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_engine: a hand-written TLM-2.0 module that replaces the DMA engine and has the times of
 * hca/work/dma.c to the picosecond. Each direction processes its transfers in order and splits them
 * into pieces, which are translated concurrently. A gather reads a piece after its translation. A
 * scatter writes the pieces in the order of the list. Temporally decoupled: all work is done inside
 * calls of the adapter.
 */
#include "hca/module/examples/tlm_dma.h"

using namespace sc_core;

struct piece {
	tlm::tlm_generic_payload payload;
	piece_extension *extension = new piece_extension; /* extension of the payload */
	struct channel *channel = nullptr;
	tlm::tlm_generic_payload *transfer = nullptr; /* transfer that contains the piece */
	uint32_t number = 0;                          /* position in the order of the list */
	bool translated = false;

	piece()
	{
		payload.set_extension(extension);
	}
	piece(const piece &) = delete;

	struct dma_piece &part()
	{
		return extension->record.piece;
	}
};

/* One direction. */
struct channel {
	std::deque<tlm::tlm_generic_payload *> transfers; /* unfinished transfers, in order */
	/* number of transfers that are completely split; the next one is being split */
	size_t walked = 0;
	uint64_t inflight = 0;
	bool ending = false; /* the adapter has the end of the first transfer */
	std::deque<piece> pieces;
	std::deque<piece *> idle, to_write;
	struct gauge *transfers_gauge = nullptr, *pieces_gauge = nullptr;
};

static struct dma *dma_of(tlm::tlm_generic_payload *payload)
{
	return payload->get_extension<dma_extension>()->dma;
}

class engine : public sc_module
{
      public:
	tlm_utils::simple_target_socket<engine> transfers;
	tlm_utils::simple_initiator_socket<engine> translations, memory;

	engine(sc_module_name name, const dma_setup &of)
	    : sc_module(name), transfers("transfers"), translations("translations"),
	      memory("memory"), setup(of), param(*of.params), count(*of.counters)
	{
		transfers.register_nb_transport_fw(this, &engine::requested);
		translations.register_nb_transport_bw(this, &engine::translated);
		memory.register_nb_transport_bw(this, &engine::moved);
		channels[DMA_GATHER].transfers_gauge = &of.gauges->gathers;
		channels[DMA_GATHER].pieces_gauge = &of.gauges->gather_pieces;
		channels[DMA_SCATTER].transfers_gauge = &of.gauges->scatters;
		channels[DMA_SCATTER].pieces_gauge = &of.gauges->scatter_pieces;
		for (struct channel &channel : channels) {
			for (uint64_t i = 0; i < param.pieces; i++) {
				channel.pieces.emplace_back();
				channel.pieces.back().channel = &channel;
				channel.idle.push_front(&channel.pieces.back());
			}
			channel.transfers_gauge->capacity = param.inflight;
			channel.pieces_gauge->capacity = param.pieces;
		}
	}

	/* Grants a write. The piece that requested it is still the first, because pieces are
	 * written in order. */
	void grant(const sc_time &delay)
	{
		now = now_and(delay);
		grant_waits = false;
		grant_taken = true;
		write_next(channels[DMA_SCATTER]);
	}

	void signals(const struct systemc_tracer *tracer)
	{
		trace_signal(tracer, channels[DMA_GATHER].inflight, "gather_inflight");
		trace_signal(tracer, channels[DMA_SCATTER].inflight, "scatter_inflight");
		trace_signal(tracer, piece_bytes, "piece_bytes");
	}

      private:
	dma_setup setup;
	const struct dma_params &param;
	struct dma_counters &count;
	struct channel channels[DMA_SCATTER + 1];
	bool grant_waits = false; /* the pieces wait for permission to write */
	bool grant_taken = false; /* permission was granted */
	sim_time now = 0;         /* time of the current call */
	uint32_t piece_bytes = 0; /* for waveforms */

	tlm::tlm_sync_enum requested(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
				     sc_time &delay)
	{
		struct channel &channel = channels[dma_of(&payload)->direction];

		now = now_and(delay);
		if (phase == tlm::BEGIN_REQ)
			begin(channel, &payload);
		else
			over(channel);
		return tlm::TLM_ACCEPTED;
	}

	void begin(struct channel &channel, tlm::tlm_generic_payload *payload)
	{
		struct dma *dma = dma_of(payload);

		dma->segment = 0;
		dma->segment_offset = dma->offset;
		dma->walked = dma->pieces_busy = dma->pieces_made = 0;
		dma->failed_piece = UINT32_MAX;
		dma->begun = false;
		dma->finished_at = SIM_NEVER;
		channel.transfers.push_back(payload);
		count.transfer_stalls += channel.inflight == param.inflight;
		walk(channel);
	}

	void walk(struct channel &channel)
	{
		while (channel.walked < channel.transfers.size()) {
			tlm::tlm_generic_payload *payload = channel.transfers[channel.walked];
			struct dma *dma = dma_of(payload);

			if (!dma->begun) {
				bool full = channel.inflight == param.inflight;

				gauge_wait(channel.transfers_gauge, now, full);
				if (full)
					return;
				gauge_enter(channel.transfers_gauge, now, 1);
				if (++channel.inflight > count.inflight_max)
					count.inflight_max = channel.inflight;
				dma->begun = true;
			}
			if (!walk_transfer(channel, payload))
				return;
			channel.walked++;
			end_if_complete(channel, dma);
		}
	}

	/* Splits a transfer into pieces. Returns false if no piece is free. */
	bool walk_transfer(struct channel &channel, tlm::tlm_generic_payload *payload)
	{
		struct dma *dma = dma_of(payload);

		while (dma->walked < dma->length && dma->status == DMA_OK) {
			uint32_t room = dma->segments[dma->segment].length;

			if (dma->segment_offset >= room) {
				dma->segment_offset -= room;
				dma->segment++;
			} else if (!channel.idle.empty()) {
				make_piece(channel, payload);
			} else {
				count.piece_stalls++;
				gauge_wait(channel.pieces_gauge, now, true);
				return false;
			}
		}
		return true;
	}

	void make_piece(struct channel &channel, tlm::tlm_generic_payload *payload)
	{
		struct dma *dma = dma_of(payload);
		piece *made = channel.idle.front();
		struct dma_piece &part = made->part();

		channel.idle.pop_front();
		gauge_wait(channel.pieces_gauge, now, false);
		gauge_enter(channel.pieces_gauge, now, 1);
		made->transfer = payload;
		made->number = dma->pieces_made++;
		made->translated = false;
		part.dma = dma;
		part.segment = dma->segment;
		part.segment_offset = dma->segment_offset;
		part.byte_offset = dma->walked;
		part.length = std::min(dma->segments[dma->segment].length - dma->segment_offset,
				       dma->length - dma->walked);
		piece_bytes = part.length;
		dma->pieces_busy++;
		dma->walked += part.length;
		dma->segment_offset += part.length;
		count.pieces++;
		if (dma->direction == DMA_SCATTER)
			channel.to_write.push_back(made);
		request(translations, *made);
	}

	template <typename Socket> void request(Socket &socket, piece &which)
	{
		tlm::tlm_phase phase = tlm::BEGIN_REQ;
		sc_time delay = sc_time::from_value(now) - sc_time_stamp();

		socket->nb_transport_fw(which.payload, phase, delay);
	}

	piece *piece_of(tlm::tlm_generic_payload &payload)
	{
		for (struct channel &channel : channels)
			for (piece &each : channel.pieces)
				if (&each.payload == &payload)
					return &each;
		return nullptr;
	}

	tlm::tlm_sync_enum translated(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				      sc_time &delay)
	{
		piece *which = piece_of(payload);

		now = now_and(delay);
		which->translated = true;
		if (which->part().dma->direction == DMA_SCATTER) {
			write_next(*which->channel);
		} else if (which->part().status == DMA_OK) {
			request(memory, *which);
		} else {
			fail(*which);
			piece_done(*which);
		}
		return tlm::TLM_COMPLETED;
	}

	bool is_grant()
	{
		sim_time at;

		if (grant_waits)
			return false;
		if (grant_taken) {
			grant_taken = false;
			return true;
		}
		at = setup.services->write_grant(setup.adapter);
		if (at == now)
			return true;
		grant_waits = true;
		setup.services->grant_at(setup.adapter, at);
		return false;
	}

	/* Writes translated pieces in order. After a failure, no further piece of the transfer is
	 * written. */
	void write_next(struct channel &channel)
	{
		while (!channel.to_write.empty() && channel.to_write.front()->translated) {
			piece &which = *channel.to_write.front();

			if (which.part().dma->status == DMA_OK && which.part().status == DMA_OK &&
			    !is_grant())
				return;
			channel.to_write.pop_front();
			if (which.part().status != DMA_OK)
				fail(which);
			if (which.part().dma->status != DMA_OK)
				piece_done(which);
			else
				request(memory, which);
		}
	}

	tlm::tlm_sync_enum moved(tlm::tlm_generic_payload &payload, tlm::tlm_phase &,
				 sc_time &delay)
	{
		piece *which = piece_of(payload);

		now = now_and(delay);
		if (which->part().status != DMA_OK)
			fail(*which);
		piece_done(*which);
		return tlm::TLM_COMPLETED;
	}

	void fail(piece &which)
	{
		struct dma *dma = which.part().dma;

		if (which.number >= dma->failed_piece)
			return;
		dma->failed_piece = which.number;
		dma->status = which.part().status;
	}

	void piece_done(piece &which)
	{
		struct channel &channel = *which.channel;
		struct dma *dma = which.part().dma;
		bool walking = channel.walked < channel.transfers.size() &&
			       channel.transfers[channel.walked] == which.transfer;

		dma->pieces_busy--;
		channel.idle.push_front(&which);
		gauge_leave(channel.pieces_gauge, now, 1);
		if (!walking)
			end_if_complete(channel, dma);
		walk(channel);
	}

	/* Ends a transfer if it is completely split and no piece is in progress. */
	void end_if_complete(struct channel &channel, struct dma *dma)
	{
		if (dma->pieces_busy > 0 || dma->finished_at != SIM_NEVER)
			return;
		dma->finished_at = now + param.latency;
		end_first(channel);
	}

	void end_first(struct channel &channel)
	{
		tlm::tlm_phase phase = tlm::BEGIN_RESP;
		tlm::tlm_generic_payload *first;
		sc_time delay;

		if (channel.ending || channel.transfers.empty())
			return;
		first = channel.transfers.front();
		if (dma_of(first)->finished_at == SIM_NEVER)
			return;
		channel.ending = true;
		delay = sc_time::from_value(std::max(dma_of(first)->finished_at, now)) -
			sc_time_stamp();
		first->set_response_status(dma_of(first)->status == DMA_OK
						   ? tlm::TLM_OK_RESPONSE
						   : tlm::TLM_GENERIC_ERROR_RESPONSE);
		transfers->nb_transport_bw(*first, phase, delay);
	}

	void over(struct channel &channel)
	{
		channel.transfers.pop_front();
		channel.walked--;
		channel.ending = false;
		end_first(channel);
		channel.inflight--;
		gauge_leave(channel.transfers_gauge, now, 1);
		walk(channel);
	}
};

HCA_DMA_MODULE(engine, "tlm_engine", "pieces of transfers in order, as in the built-in engine",
	       nullptr);
