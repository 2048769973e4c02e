/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint: an HCA port for studies of fabrics: transport and congestion control exact, the host side reduced to
 * configured latencies and rates. Its packets and counters are those of the detailed HCA (hca/transport).
 *
 *     endpoint_post(qp, message)                                                            message->done()
 *        | send_latency                                                                          ^
 *        v                                                                                       | complete_latency
 *     ready queue pairs --one packet whenever the port has room--> port ~~~ fabric ~~~> port --> ACK, NAK, response
 *        ^ pace (earliest next departure: one event a port)          <~~~ ACK, CNP ~~~
 *
 * Packets are made when the port can take one, so rate, window and loss act at once. One event a port is pending for
 * paced queue pairs, one for timeouts, however many there are.
 *
 * IBTA vol. 1, 9.7 (reliable service), annex A17.9 (CNP), annex A10 (BECN); IRN: Mittal et al., SIGCOMM'18.
 * What has no place on the wire and NICs know otherwise goes with the packet: an ACK carries the departure time of
 * the packet that asked for it (hardware time stamps), the number of marked packets, and in-band telemetry.
 */
#ifndef HCA_ENDPOINT_ENDPOINT_H
#define HCA_ENDPOINT_ENDPOINT_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "hca/congestion/congestion.h"
#include "hca/endpoint/endpoint_params.h"
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

enum endpoint_operation { ENDPOINT_WRITE, ENDPOINT_SEND, ENDPOINT_READ, ENDPOINT_ATOMIC };
enum endpoint_status { ENDPOINT_OK, ENDPOINT_RETRY_EXCEEDED, ENDPOINT_FLUSHED };

struct endpoint_hca;
struct endpoint_qp;

/* A work request. The caller owns it until done() is called, then again. */
struct endpoint_message {
	/* the caller's */
	uint64_t bytes; /* ENDPOINT_ATOMIC: 8 */
	/* Of the data, and the key there: another endpoint_hca does not ask. */
	uint64_t remote_address;
	uint32_t rkey;
	enum endpoint_operation operation;
	uint32_t tag; /* goes with its packets; 0: none */
	void (*done)(struct endpoint_message *message);
	/* filled in */
	enum endpoint_status status;
	sim_time posted_at;
	sim_time started_at; /* its first packet was handed to the port */
	sim_time done_at;    /* done() is called then */
	uint64_t packets_sent;
	uint64_t packets_retransmitted;
	/* private */
	struct delay_item item; /* on its way from the program, or back to it */
	struct endpoint_message *next;
	struct endpoint_qp *qp;
	uint64_t first_psn;
	uint64_t first_byte; /* of the queue pair's payload */
	uint64_t packets;    /* PSNs that it takes */
};

/* Whoever sits above: told of what arrives. */
struct endpoint_user {
	/* A write or send has arrived whole, in order; called at the time its last bit has had its effect. With the PSN of its last
	 * packet. */
	void (*delivered)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			  uint32_t psn);
	/* At the responder of a READ: it has been asked, and its last response is handed to the port. Again after a loss. With the
	 * PSN of the first response asked for, and of that last one. NULL: nobody minds. */
	void (*read_begins)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			    uint32_t psn);
	void (*read_ends)(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			  uint32_t psn);
};

/* The port is named NAME.port. params and congestion outlive it, the pool too. */
struct endpoint_hca *endpoint_create(struct sim *sim, const char *name,
				     const struct endpoint_params *params,
				     const struct port_params *port_params,
				     enum link_layer link_layer, struct packet_pool *pool,
				     const struct congestion *congestion);
void endpoint_destroy(struct endpoint_hca *ep);

struct port *endpoint_port(struct endpoint_hca *ep);
struct sim *endpoint_sim(const struct endpoint_hca *ep);

/* Its number among the endpoints; once, before queue pairs are joined. */
void endpoint_attach(struct endpoint_hca *ep, struct endpoints *endpoints, uint32_t number);
uint32_t endpoint_number(const struct endpoint_hca *ep);

/* Flows take the place of packets: hca/endpoint/flow.c says what is left of the transport then. Before queue pairs are
 * joined; the caller knows of each pair of paths that topology_trace_route() finds the route. */
struct flow_fabric;
void endpoint_set_flows(struct endpoint_hca *ep, struct flow_fabric *flows);

/* A pair of queue pairs; the one on `hca` is returned, endpoint_peer() is the other. `entropy` varies the UDP source
 * port beyond what the queue pair numbers do. */
struct endpoint_qp *endpoint_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					 unsigned service_level, uint32_t entropy);
struct endpoint_qp *endpoint_peer(const struct endpoint_qp *qp); /* NULL: no endpoint_hca's */

/* The one end of a connection with an adapter of another kind, that is endpoint `other`; connected before the first post, with the
 * number of the queue pair there. Nothing but go_back_n recovers with those. */
struct endpoint_qp *endpoint_open(struct endpoint_hca *ep, uint32_t other, unsigned service_level,
				  uint16_t udp_source_port);
void endpoint_connect(struct endpoint_qp *qp, uint32_t number);
uint32_t endpoint_qp_number(const struct endpoint_qp *qp);
uint32_t endpoint_next_qp_number(const struct endpoint_hca *ep);

/* The HCA that the queue pair is of; what its packets have in common, interned. */
struct endpoint_hca *endpoint_of(const struct endpoint_qp *qp);
const struct path *endpoint_path(const struct endpoint_qp *qp);

/* In place of the HCA's algorithm, before the first post. */
void endpoint_set_congestion(struct endpoint_qp *qp, const struct congestion *congestion);

/* Where deliveries are told; NULL: nowhere. */
void endpoint_set_user(struct endpoint_hca *ep, struct endpoint_user *user);

/* Messages of a queue pair are sent, and complete, in this order. */
void endpoint_post(struct endpoint_qp *qp, struct endpoint_message *message);

/* Returns the packets of a message that have been sent so far; in a flow model, the share of them that has been transferred. */
uint64_t endpoint_packets_sent(const struct endpoint_message *message);

/* Retries were exceeded; what is posted is flushed. */
bool endpoint_failed(const struct endpoint_qp *qp);

/* What congestion control says now. The line rate: no limit. */
uint64_t endpoint_rate_bps(struct endpoint_qp *qp);
uint64_t endpoint_cwnd_bytes(struct endpoint_qp *qp);

/* Since it was joined; of reads, what has come back. */
uint64_t endpoint_acked_bytes(const struct endpoint_qp *qp);

/* The same of what has come to the other end, once each packet, acknowledged or not: no more than the wire carries, to a packet.
 * An ACK may tell of many packets at once. QP_FAR: as endpoint_acked_bytes(). */
uint64_t endpoint_arrived_bytes(const struct endpoint_qp *qp);

uint64_t endpoint_inflight_bytes(const struct endpoint_qp *qp);
uint32_t endpoint_cnps(const struct endpoint_qp *qp);  /* that it was sent */
uint32_t endpoint_marks(const struct endpoint_qp *qp); /* marked packets that came to it */

const struct endpoint_counters *endpoint_counters(const struct endpoint_hca *ep);

#endif
