/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint: an HCA port for studies of fabrics. Transport and congestion control are exact. The
 * host is reduced to configured latencies and rates. Packets and counters equal the packets and
 * counters of the detailed HCA (hca/transport).
 *
 *     endpoint_post(qp, message)                                   message->done()
 *        | send_latency                                                 ^ complete_latency
 *        v                                                              |
 *     ready queue pairs --one packet, if the port has room--> port   completion <-- port
 *        ^ pace (earliest next departure: one event a port)    |                     ^
 *                                                            fabric   ACK, NAK, response, CNP
 *                                                              v                     |
 *                                                            port ---------> other endpoint
 *
 * A packet is created when the port can accept it, so rate, window and loss act at once. One event
 * per port is pending for all paced queue pairs, and one for all timeouts.
 *
 * With `transport: tcp` or `iwarp` a queue pair is a TCP connection: see tcp_end.h, iwarp_end.h.
 *
 * IBTA vol. 1, 9.7 (reliable service), annex A17.9 (CNP), annex A10 (BECN); IRN: Mittal et al.,
 * SIGCOMM'18. Packets carry some data that has no place on the wire and that NICs obtain in other
 * ways. An ACK carries the departure time of the packet that requested it (hardware time stamps),
 * the number of marked packets, and in-band telemetry.
 */
#ifndef HCA_ENDPOINT_ENDPOINT_H
#define HCA_ENDPOINT_ENDPOINT_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "hca/congestion/congestion.h"
#include "hca/endpoint/connection_params.h"
#include "hca/endpoint/endpoint_params.h"
#include "hca/endpoint/iwarp_counters.h"
#include "hca/endpoint/tcp_params.h"
#include "sim/delay_line.h"

/* clang-format off */
#define ENDPOINT_COUNTERS(X) \
	X(messages_posted, "messages", "posted") \
	X(messages_completed, "messages", "completed successfully") \
	X(messages_failed, "messages", "completed with an error") \
	X(data_packets_sent, "packets", "with payload, sent, including retransmissions") \
	X(data_bytes_sent, "bytes", "of payload sent, including retransmissions") \
	X(data_packets_received, "packets", "with payload, accepted for the first time") \
	X(data_bytes_received, "bytes", "of payload accepted for the first time") \
	X(packets_retransmitted, "packets", "retransmitted") \
	X(local_ack_timeouts, "times", "no response arrived in time (local_ack_timeout_err)") \
	X(packet_seq_err, "packets", "NAKs for a sequence error received") \
	X(rnr_nak_received, "packets", \
	  "RNR NAKs received from detailed adapters without a receive WQE") \
	X(implied_nak_seq_err, "times", "a response to a READ or atomic was missing") \
	X(read_recovery_stalls, "times", \
	  "the adapter accepted no packets because read_recoveries was reached") \
	X(out_of_sequence, "packets", "requests with a PSN ahead of the expected PSN") \
	X(duplicate_request, "packets", "requests with a PSN behind the expected PSN") \
	X(acks_sent, "packets", "ACKs sent") \
	X(acks_received, "packets", "ACKs received") \
	X(naks_sent, "packets", "NAKs sent") \
	X(stale_responses, "packets", "ACKs and responses that match no outstanding request") \
	X(rx_write_requests, "messages", "RDMA WRITEs executed") \
	X(rx_read_requests, "messages", "RDMA READs executed") \
	X(rx_atomic_requests, "messages", "atomics executed") \
	X(rx_sends, "messages", "SENDs executed") \
	X(ecn_marked_packets, "packets", \
	  "data packets received with ECN CE or FECN (np_ecn_marked_roce_packets)") \
	X(cnp_sent, "packets", "CNPs sent (np_cnp_sent)") \
	X(cnp_received, "packets", "CNPs and BECNs received (rp_cnp_handled)") \
	X(icrc_drops, "packets", "dropped: damaged") \
	X(pkey_violations, "packets", "dropped: not the P_Key of the queue pair") \
	X(foreign_drops, "packets", "flooded to all ports and addressed to another host") \
	X(stack_drops, "packets", \
	  "for the host's network stack, which this fidelity does not have: mirrored frames") \
	X(base_rtt_low, "queue pairs", \
	  "whose base_rtt is below the round-trip time of their empty path") \
	X(empty_rtt_max, "ps", \
	  "longest round-trip time on an empty path, over queue pairs that have sent")

#define ENDPOINT_TRACE(X) \
	X(MESSAGE_START, "qpn", "psn", "the first packet of a message is made") \
	X(MESSAGE_COMPLETE, "qpn", "bytes", "a message is complete") \
	X(REWIND, "qpn", "psn", "the requester goes back to this PSN") \
	X(CNP, "qpn", "rate_mbps", "a CNP arrives; the new rate")

struct endpoint_counters { ENDPOINT_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

enum endpoint_operation {
	ENDPOINT_WRITE,
	ENDPOINT_SEND,
	ENDPOINT_READ,
	ENDPOINT_ATOMIC,
	ENDPOINT_READ_RESPONSE /* private: iWARP, the responder's message */
};
enum endpoint_status { ENDPOINT_OK, ENDPOINT_RETRY_EXCEEDED, ENDPOINT_FLUSHED };

struct endpoint_hca;
struct endpoint_qp;

/* A work request. The caller owns it before endpoint_post() and after done(). */
struct endpoint_message {
	/* filled in by the caller */
	uint64_t bytes; /* ENDPOINT_ATOMIC: 8 */
	/* Address and key of the data at the responder. Another endpoint_hca ignores them. */
	uint64_t remote_address;
	uint32_t rkey;
	enum endpoint_operation operation;
	uint32_t tag; /* carried by the packets of the message; 0 for none */
	void (*done)(struct endpoint_message *message);
	/* filled in by the endpoint */
	enum endpoint_status status;
	uint32_t msn; /* private: iWARP, of a Send or a Read Request */
	sim_time posted_at;
	sim_time started_at; /* time at which its first packet was passed to the port */
	sim_time done_at;    /* time of the call of done() */
	uint64_t packets_sent;
	uint64_t packets_retransmitted;
	/* private */
	struct delay_item item; /* on its way from the program, or back to it */
	struct endpoint_message *next;
	struct endpoint_qp *qp;
	uint64_t first_psn;  /* TCP and iWARP: offset in the stream */
	uint64_t first_byte; /* offset in the payload of the queue pair */
	uint64_t packets;    /* number of its PSNs; TCP and iWARP: bytes in the stream */
};

/* Functions that report arrivals to the user of an endpoint. */
struct endpoint_user {
	/* Reports that a WRITE or SEND has arrived completely and in order, when its last bit is
	 * processed. `psn` is the PSN of its last packet. */
	void (*delivered)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			  uint32_t psn);
	/* Report events at the responder of a READ: the arrival of the request, and the last
	 * response passed to the port. Both events occur again after a loss. `psn` is the PSN of
	 * the first requested response, or of the last response. NULL if they are not needed. */
	void (*read_begins)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			    uint32_t psn);
	void (*read_ends)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			  uint32_t psn);
};

/* Creates an endpoint, whose port is named NAME.port. `params`, `congestion` and `pool` must
 * outlive it. */
struct endpoint_hca *endpoint_create(struct sim *sim, const char *name,
				     const struct endpoint_params *params,
				     const struct port_params *port_params,
				     enum link_layer link_layer, struct packet_pool *pool,
				     const struct congestion *congestion);
void endpoint_destroy(struct endpoint_hca *ep);

struct port *endpoint_port(struct endpoint_hca *ep);
struct sim *endpoint_sim(const struct endpoint_hca *ep);

/* Sets the number among the end points of the fabric. Call it once, before queue pairs are
 * created. */
void endpoint_attach(struct endpoint_hca *ep, struct endpoints *endpoints, uint32_t number);
uint32_t endpoint_number(const struct endpoint_hca *ep);

/* Replaces packets by flows. hca/endpoint/flow.c describes the remaining functions of the
 * transport. Call it before queue pairs are created. topology_trace_route() must find the route for
 * each pair of paths. */
struct flow_fabric;
void endpoint_set_flows(struct endpoint_hca *ep, struct flow_fabric *flows);

/* Allows TCP connections. Call it for both ends before they are connected. `params` must outlive
 * the endpoint. */
void endpoint_set_tcp(struct endpoint_hca *ep, const struct endpoint_tcp_params *params);
const struct endpoint_tcp_counters *
endpoint_tcp_counters(const struct endpoint_hca *ep); /* returns NULL without TCP */
/* Allows iWARP on TCP connections. Call it after endpoint_set_tcp(), for both ends. */
void endpoint_set_iwarp(struct endpoint_hca *ep);
/* returns NULL without iWARP */
const struct endpoint_iwarp_counters *endpoint_iwarp_counters(const struct endpoint_hca *ep);
/* Counts the memory of queue pairs and connections (connection_memory.h), and caches their contexts
 * (connection_cache.h). Call it before queue pairs are created. Both params must outlive
 * the endpoint. */
void endpoint_set_connections(struct endpoint_hca *ep,
			      const struct connection_memory_params *memory,
			      const struct connection_cache_params *cache);
/* Writes a full segment of the connection to *segment. *bytes is the length of a message, and
 * becomes its bytes in the stream; for a READ, those of its response. Returns false if the queue
 * pair is not a TCP connection. */
bool endpoint_tcp_segment(const struct endpoint_qp *qp, enum endpoint_operation operation,
			  uint64_t *bytes, struct packet *segment);
/* Returns the TCP connection of the queue pair, or NULL if it has none. */
const struct tcp_connection *endpoint_tcp_connection(const struct endpoint_qp *qp);

/* Creates a pair of queue pairs, or a TCP connection if the transport of `ep` is TCP. Returns the
 * end on `ep`; endpoint_peer() returns the other. `entropy` varies the UDP source port in addition
 * to the queue pair numbers. */
struct endpoint_qp *endpoint_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					 unsigned service_level, uint32_t entropy);
/* returns NULL if the peer is another kind of adapter */
struct endpoint_qp *endpoint_peer(const struct endpoint_qp *qp);

/* Creates one end of a connection to another kind of adapter, which is endpoint `other`.
 * endpoint_connect() sets the number of the queue pair there, before the first post. Only recovery
 * go_back_n is possible. */
struct endpoint_qp *endpoint_open(struct endpoint_hca *ep, uint32_t other, unsigned service_level,
				  uint16_t udp_source_port);
void endpoint_connect(struct endpoint_qp *qp, uint32_t number);
uint32_t endpoint_qp_number(const struct endpoint_qp *qp);

/* A queue pair may rest while it has nothing to do. It then takes less memory. Its address is not
 * valid any more, but its slot remains valid. Nothing else changes. Do not call these functions in
 * the HCA of another LP. */
struct endpoint_slot;
struct endpoint_slot *endpoint_slot(const struct endpoint_qp *qp);
struct endpoint_slot *endpoint_slot_peer(const struct endpoint_slot *slot); /* in any LP */
/* Lets a new pair rest, after endpoint_set_congestion(). It may stay awake. */
void endpoint_let_rest(struct endpoint_slot *slot);
/* Reports that the messages of the queue pair are done, and that nothing more will be posted. */
void endpoint_retire(struct endpoint_slot *slot);
/* Wakes the queue pair and returns it. The address is valid until the end of the event. */
struct endpoint_qp *endpoint_at(struct endpoint_slot *slot);
/* Returns the queue pair, or a copy of one at rest, for queries. It is valid until the next call
 * for a queue pair of its HCA. */
struct endpoint_qp *endpoint_look(struct endpoint_slot *slot);
uint32_t endpoint_next_qp_number(const struct endpoint_hca *ep);

/* Return the HCA of the queue pair, and the interned path of its packets. */
struct endpoint_hca *endpoint_of(const struct endpoint_qp *qp);
const struct path *endpoint_path(const struct endpoint_qp *qp);

/* Replaces the HCA's congestion control for one queue pair, before its first post. It is not
 * possible with TCP. `congestion` must outlive the endpoint. */
void endpoint_set_congestion(struct endpoint_qp *qp, const struct congestion *congestion);

/* Sets the user that deliveries are reported to, or none if `user` is NULL. */
void endpoint_set_user(struct endpoint_hca *ep, struct endpoint_user *user);

/* Posts a message. The messages of a queue pair are sent and complete in the order of the calls. */
void endpoint_post(struct endpoint_qp *qp, struct endpoint_message *message);

/* Returns the number of packets of a message that were sent so far. In a flow model it follows from
 * the share that has been transferred. */
uint64_t endpoint_packets_sent(const struct endpoint_message *message);

/* Returns true if the retries were exceeded. Posted messages are then flushed. */
bool endpoint_failed(const struct endpoint_qp *qp);

/* Return the current limits of congestion control. The line rate means no limit. */
uint64_t endpoint_rate_bps(struct endpoint_qp *qp);
uint64_t endpoint_cwnd_bytes(struct endpoint_qp *qp);

/* Writes the values that a plug-in declares, or NULL. Returns the state of the algorithm, or NULL
 * if the queue pair has none yet. */
const void *endpoint_gauges(const struct endpoint_qp *qp, const struct congestion_gauge **gauges);

/* Returns the round-trip time of the latest ACK that measured one. For TCP, returns the smoothed
 * round-trip time. Returns 0 if there was none, or without congestion control. */
sim_time endpoint_rtt(const struct endpoint_qp *qp);

/* Returns the acknowledged payload bytes since the creation, and the bytes of READs that have
 * arrived. */
uint64_t endpoint_acked_bytes(const struct endpoint_qp *qp);

/* Returns the payload bytes that have arrived at the other end since the creation, each packet
 * once, acknowledged or not. Unlike acknowledged bytes, they never exceed the rate of the wire by
 * more than a packet. For QP_FAR, the result is that of endpoint_acked_bytes(). */
uint64_t endpoint_arrived_bytes(const struct endpoint_qp *qp);

uint64_t endpoint_inflight_bytes(const struct endpoint_qp *qp);
uint32_t endpoint_cnps(const struct endpoint_qp *qp);  /* CNPs received */
uint32_t endpoint_marks(const struct endpoint_qp *qp); /* marked packets received */

const struct endpoint_counters *endpoint_counters(const struct endpoint_hca *ep);

#endif
