/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport: the state that all queue pairs of an adapter share: pools of segments, counters with
 * the names of a real port, the arithmetic unit for atomics.
 */
#ifndef HCA_TRANSPORT_TRANSPORT_H
#define HCA_TRANSPORT_TRANSPORT_H

#include "fabric/port.h"
#include "hca/congestion/congestion.h"
#include "hca/context/context_cache.h"
#include "hca/context/paging.h"
#include "hca/context/translation.h"
#include "hca/formats/services.h"
#include "hca/transport/atomic.h"
#include "hca/transport/read_recoveries.h"
#include "hca/transport/response_list.h"
#include "hca/transport/transport_params.h"
#include "hca/work/dma.h"
#include "hca/work/wqe_cache.h"
#include "sim/audit.h"
#include "sim/delay_line.h"
#include "sim/gauge.h"
#include "sim/number_table.h"

/* clang-format off */
#define TRANSPORT_COUNTERS(X) \
	X(wqes_completed, "WQEs", "send WQEs completed successfully") \
	X(wqes_failed, "WQEs", "send WQEs completed with an error other than flushed") \
	X(wqes_flushed, "WQEs", "send and receive WQEs flushed") \
	X(receives_flushed, "WQEs", "receive WQEs flushed (part of wqes_flushed)") \
	X(packets_retransmitted, "packets", "retransmitted") \
	X(local_ack_timeouts, "times", "no response arrived in time (local_ack_timeout_err)") \
	X(packet_seq_err, "packets", "NAKs for a sequence error received") \
	X(implied_nak_seq_err, "times", "a response to a READ or atomic was missing") \
	X(read_recovery_stalls, "times", \
	  "the adapter accepted no packets because read_recoveries was reached") \
	X(rnr_nak_received, "packets", "RNR NAKs received") \
	X(rnr_nak_sent, "packets", "RNR NAKs sent (out_of_buffer)") \
	X(out_of_sequence, "packets", "requests with a PSN ahead of the expected PSN") \
	X(duplicate_request, "packets", "requests with a PSN behind the expected PSN") \
	X(acks_sent, "packets", "ACKs sent") \
	X(acks_received, "packets", "ACKs received") \
	X(acked_before_data, "messages", \
	  "loopback messages acknowledged to the sender before their data were passed to PCIe") \
	X(naks_sent, "packets", "NAKs sent, including sequence errors") \
	X(stale_responses, "packets", "ACKs and responses that match no outstanding request") \
	X(rx_write_requests, "messages", "RDMA WRITEs executed") \
	X(rx_read_requests, "messages", "RDMA READs executed") \
	X(rx_atomic_requests, "messages", "atomics executed") \
	X(rx_sends, "messages", "SENDs executed") \
	X(atomic_replays, "messages", "duplicate atomics answered from the saved results") \
	X(atomic_waits, "messages", "atomics that waited for an atomic with an equal lock") \
	X(resource_drops, "packets", \
	  "duplicate requests dropped because too many responses were pending") \
	X(no_receive_wqe, "packets", "UC and UD: dropped because there was no receive WQE") \
	X(unreliable_drops, "packets", "UC: dropped because their message had a gap") \
	X(ud_unreachable, "packets", "UD: sent to an unreachable address") \
	X(dc_connects, "packets", "DC: connects sent") \
	X(dc_disconnects, "packets", "DC: disconnects sent") \
	X(dc_accepts, "packets", "DC: connects accepted") \
	X(dc_refusals, "packets", "DC: connects refused because of their access key (NAK)") \
	X(dc_shortages, "packets", \
	  "DC: connects postponed (RNR NAK) because no responder context was free") \
	X(dc_reclaims, "times", \
	  "DC: a responder context was taken from an initiator silent for dc_lifetime") \
	X(dc_strays, "packets", "DC: requests dropped because their initiator was not connected") \
	X(scatter_stalls, "times", "all scatter buffers were in use") \
	X(response_stalls, "packets", \
	  "ACKs and responses that waited because all response buffers were in use") \
	X(list_waits, "packets", \
	  "ACKs and responses that waited for a WQE to be read again, or behind such a response") \
	X(page_stalls, "messages", "whose data waited for a page fault") \
	X(page_refusals, "packets", \
	  "requests refused (RNR NAK) because their pages were not present") \
	X(page_drops, "packets", \
	  "responses dropped because a page was not present, or a page fault was pending")

#define TRANSPORT_GAUGES(X) \
	X(scatter_buffers, POOL, "buffers", "receive buffers of messages") \
	X(response_buffers, POOL, "buffers", "receive buffers of READ and atomic responses") \
	X(response_lists, POOL, "reads", \
	  "reads of WQEs that left the cache before their response arrived") \
	X(atomics, POOL, "atomics", "in progress; atomics with an equal lock wait") \
	X(atomic_unit, BUSY, "atomics", "arithmetic unit, which starts one atomic per interval") \
	X(reads, SHARE, "queue pairs", "at their limit of outstanding READs and atomics") \
	X(window, SHARE, "queue pairs", "at their limit of unacknowledged packets") \
	X(fence, SHARE, "queue pairs", "waiting behind a fence") \
	X(rnr, SHARE, "queue pairs", "in an RNR wait because the receiver had no WQE, or no page") \
	X(pace, SHARE, "queue pairs", \
	  "held back by their rate limit, by congestion control, or by a reaction time") \
	X(congestion, SHARE, "queue pairs", "at the window of congestion control") \
	X(dc_reconnect, SHARE, "initiators", \
	  "DC initiators that wait for responses before they connect to another target") \
	X(dc_handshake, SHARE, "initiators", "DC initiators whose connect is not accepted yet") \
	X(wqe, SHARE, "queue pairs", "whose next WQE was replaced in the cache and is read again") \
	X(page_fault, SHARE, "queue pairs", "stalled by a page fault of their own host")

#define TRANSPORT_TRACE(X) \
	X(WQE_START, "qpn", "psn", "the first packet of a WQE is made") \
	X(WQE_COMPLETE, "qpn", "status", "a send WQE is complete") \
	X(REWIND, "qpn", "psn", "the requester goes back to this PSN") \
	X(REQUEST, "qpn", "psn", "the responder executes a request packet") \
	X(REQUEST_ERROR, "qpn", "error", "the responder finds an error") \
	X(RESPOND, "qpn", "psn", "the responder responds")
/* clang-format on */

enum { TRANSPORT_TRACE(TRACE_ENUM) };

struct transport_counters {
	TRANSPORT_COUNTERS(COUNTER_FIELD)
};

struct transport_gauges {
	TRANSPORT_GAUGES(GAUGE_FIELD)
};

#define PAGE_FAULT_BYTES 64 /* size of the state that page_fault.c keeps per stall */

struct completion_writer;
struct congestion_choice;
struct cc_unit;
struct endpoints;
struct event_queue;
struct qp;
struct receive;
struct receive_queues;
struct scheduler;
struct send_slot;
struct transmit;
struct wqe_fetch;
struct wqe_fetch_params;

/* Functions of the blocks above the transport, which transmit and receive its packets. */
struct transport_above {
	struct port *port; /* provides the rate of the link */
	struct transmit *transmit;
	struct receive *receive;
	/* hca/port/transmit.h */
	void (*push)(struct transmit *transmit, struct packet *packet);
	void (*watch)(struct transmit *transmit, struct qp *qp, struct send_slot *slot,
		      const struct packet *packet);
	void (*notify)(struct transmit *transmit, struct packet *packet);
	/* hca/port/receive.h */
	void (*done)(struct receive *receive, struct packet *packet);
	void (*stall)(struct receive *receive, sim_time until);
	void (*forget_qp)(struct receive *receive, struct qp *qp);
};

/* Blocks that the transport uses, below and above it. All must outlive it. */
struct transport_blocks {
	struct packet_pool *packets;
	struct address_resolver *address_resolver;
	struct pcie *pcie;
	struct mr_table *regions;
	const struct number_table *cqs, *srqs;
	struct paging *paging;
	struct translation_unit *translation;
	struct context_cache *contexts;
	struct dma_engine *dma;
	struct scheduler *scheduler;
	struct wqe_cache *send_cache; /* NULL without a cache */
	struct wqe_fetch *wqe_fetch;
	struct receive_queues *receive_queues;
	struct completion_writer *completion;
	struct event_queue *events;
	const struct transport_above *above;
};

/* Properties of the rest of the adapter. */
struct transport_facts {
	enum link_layer link_layer;
	uint32_t mtu;              /* MTU of the port, in bytes of payload */
	uint32_t vls;              /* number of VLs of the port */
	sim_time transmit_latency; /* latency of the pipeline to the port */
	sim_time receive_latency;  /* latency of the pipeline from the port */
	bool relaxed_ordering;     /* relaxed ordering of PCIe */
	uint32_t qps_max;
	const struct wqe_fetch_params *wqe_fetch;
	const struct congestion_choice *congestion;
};

struct transport_block {
	struct block block;
	struct transport_counters count;
	struct transport_gauges gauge;
	struct audit_order send_order; /* of WQEs in their send queue */
	struct audit_order data_order; /* of writes of a response's data before its CQE */
	struct transport_blocks blocks;
	struct transport_facts facts;
	const struct transport_params *params;
	struct cc_unit *congestion;        /* NULL without congestion control */
	struct hca_watcher *watcher;       /* NULL without an observer */
	const struct endpoints *endpoints; /* NULL until hca_set_endpoints() */
	struct number_table qps;
	struct qp *all_qps;        /* includes destroyed queue pairs that are still in use */
	struct qp *gsi;            /* queue pair 1 */
	bool pages_may_be_missing; /* on-demand regions exist */
	uint32_t ack_interval;     /* from the parameters or the congestion control */
	struct pool send_segments, scatter_segments, response_scatters, responses;
	struct pool stalled; /* private to page_fault.c */
	struct qp *segment_waiters_first, *segment_waiters_last;
	/* Responses that wait for a buffer, or behind such a response. */
	struct packet *responses_first, *responses_last;
	struct response_lists lists;
	struct atomic_unit atomics;
	struct read_recoveries read_recoveries;
	struct delay_line naks; /* private to nak_delay.c */
	struct pool delayed_naks;
	struct dc_targets *dc_targets; /* NULL before the first DCT */
	uint32_t dc_sessions;          /* number of sessions opened by initiators */
};

struct transport_block *transport_create(struct sim *sim, const char *name,
					 const struct transport_params *params,
					 const struct transport_blocks *blocks,
					 const struct transport_facts *facts);
void transport_destroy(struct transport_block *transport);
const struct transport_counters *transport_counters(const struct transport_block *transport);

/* Frees the packet and its place in the port's input space. */
static inline void transport_packet_done(const struct transport_block *transport,
					 struct packet *packet)
{
	const struct transport_above *above = transport->blocks.above;

	above->done(above->receive, packet);
}

/* Accepts no packets before the time `until`. */
static inline void transport_stall(const struct transport_block *transport, sim_time until)
{
	const struct transport_above *above = transport->blocks.above;

	above->stall(above->receive, until);
}

/* Drops the packets that wait for the queue pair's context, and removes it from its multicast
 * groups. */
static inline void transport_forget_packets(const struct transport_block *transport, struct qp *qp)
{
	const struct transport_above *above = transport->blocks.above;

	above->forget_qp(above->receive, qp);
}

/* Sends the packet to the port, after the packets pushed before it. */
static inline void transport_push(const struct transport_block *transport, struct packet *packet)
{
	const struct transport_above *above = transport->blocks.above;

	above->push(above->transmit, packet);
}

/* Watches the packet pushed last, which ends that slot's message. The transmit block notifies the
 * requester when the packet leaves. */
static inline void transport_watch(const struct transport_block *transport, struct qp *qp,
				   struct send_slot *slot, const struct packet *packet)
{
	const struct transport_above *above = transport->blocks.above;

	above->watch(above->transmit, qp, slot, packet);
}

/* Returns the virtual lane of the port for packets of that path. */
static inline unsigned transport_vl(const struct transport_block *transport,
				    const struct path *path)
{
	unsigned vls = transport->facts.vls;

	return path->service_level < vls ? path->service_level : path->service_level % vls;
}

/* Sends a CNP to the port at once, ahead of the packets of queue pairs. */
static inline void transport_notify(const struct transport_block *transport, struct packet *cnp)
{
	const struct transport_above *above = transport->blocks.above;

	above->notify(above->transmit, cnp);
}

#endif
