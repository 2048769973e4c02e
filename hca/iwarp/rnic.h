/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnic: the iWARP engine of an adapter: queue pairs, completion queues and shared receive queues in
 * the format of siw, and TCP connections in the adapter. <rdma/siw-abi.h> has the formats.
 *
 *     driver --rnic_ring()--> SQ --PCIe read--> WQE --DMA--> FPDUs --> TCP (tcp/) --> transmit
 *     receive --> TCP --> FPDUs --DMA--> memory of regions and receive WQEs --PCIe--> CQE, event
 *
 * A doorbell starts a send queue. The adapter then reads WQEs until one is not valid. It clears the
 * valid flag of each WQE that it has read, as siw does. Receive WQEs are read when a Send arrives.
 *
 * A connection has an MPA request and reply of revision 2 (RFC 6581), peer to peer: the initiator
 * sends an empty RDMA Write first, and the responder waits for it. A Send or an RDMA Write is
 * complete when TCP has acknowledged it. An error ends the connection with a Terminate. RFC 5040,
 * 5041, 5044.
 */
#ifndef HCA_IWARP_RNIC_H
#define HCA_IWARP_RNIC_H

#include "fabric/wire/mpa.h"
#include "fabric/wire/packet.h"
#include "hca/formats/contexts.h"
#include "hca/host/memory.h"
#include "hca/iwarp/rnic_params.h"
#include "sim/block.h"

/* clang-format off */
#define RNIC_COUNTERS(X) \
	X(doorbells, "doorbells", "send queues started by the driver") \
	X(wqes_read, "reads", "reads of send queues, of valid and invalid entries") \
	X(receive_wqes_read, "reads", "reads of receive queues, of valid and invalid entries") \
	X(writes, "messages", "RDMA Writes sent") \
	X(reads, "messages", "RDMA Reads requested") \
	X(sends, "messages", "Sends sent") \
	X(responses, "messages", "RDMA Read Responses sent") \
	X(fpdus_sent, "FPDUs", "written to streams") \
	X(fpdus_received, "FPDUs", "taken from streams") \
	X(payload_sent, "bytes", "of DDP segments written to streams") \
	X(payload_received, "bytes", "of DDP segments taken from streams") \
	X(completions, "CQEs", "written") \
	X(segments_sent, "segments", "of TCP") \
	X(segments_received, "segments", "of TCP") \
	X(retransmissions, "segments", "sent again") \
	X(damaged, "segments", "dropped because of a wrong checksum") \
	X(terminates_sent, "messages", "Terminates sent") \
	X(terminates_received, "messages", "Terminates received") \
	X(connections, "connections", "opened, by either side") \
	X(state_bytes, "bytes", \
	  "Largest memory of the adapter for the states of connections and queue pairs: control " \
	  "blocks, and entries of receive queues (rnic.context, rnic.receive_entry).") \
	X(held_bytes, "bytes", \
	  "Largest number of bytes that all connections held at once in the adapter: written " \
	  "without an ACK, or received and not taken.")
/* clang-format on */

struct rnic_counters {
	RNIC_COUNTERS(COUNTER_FIELD)
};

struct dma_engine;
struct event_queue;
struct mr_table;
struct paths;
struct pcie;
struct port;
struct receive;
struct rnic;
struct rnic_connection;
struct translation_unit;
struct transmit;

/* The connection manager. It is called from events of the adapter. */
struct rnic_user {
	/* Returns true if the connection manager accepts connections to the port. */
	bool (*listens)(struct rnic_user *user, uint16_t port);
	/* Reports that an MPA request has arrived at a listening port. */
	void (*requested)(struct rnic_user *user, struct rnic_connection *connection,
			  const struct mpa_startup *request);
	/* Reports that the MPA reply has arrived. NULL: the peer does not answer, or refuses. */
	void (*replied)(struct rnic_user *user, struct rnic_connection *connection,
			const struct mpa_startup *reply);
	/* Reports that the peer has closed the connection, or that the connection has failed. */
	void (*closed)(struct rnic_user *user, struct rnic_connection *connection);
};

/* Blocks that the engine uses. All must outlive it. */
struct rnic_blocks {
	struct packet_pool *packets;
	struct paths *paths;
	struct pcie *pcie;
	struct dma_engine *dma;
	struct event_queue *events;
	struct transmit *transmit;
	struct receive *receive;
	struct port *port;
	struct mr_table *regions;
	struct translation_unit *translation;
	uint64_t inflight_bytes; /* of all connections, in the transmit pipeline */
};

struct rnic *rnic_create(struct sim *sim, const char *name, const struct rnic_params *params,
			 const struct rnic_blocks *blocks);
void rnic_destroy(struct rnic *rnic);
void rnic_set_user(struct rnic *rnic, struct rnic_user *user);

/* ---- objects of the driver ---- */

enum rnic_ring_kind { RNIC_CQ, RNIC_SQ, RNIC_RQ, RNIC_SRQ };

/* Returns the bytes of a ring with that number of entries. The CQ has a control word after its
 * entries. */
uint64_t rnic_ring_bytes(enum rnic_ring_kind kind, uint32_t entries);

/* Create objects and return their numbers. rnic_set_ring() follows for each ring. */
uint32_t rnic_create_cq(struct rnic *rnic, struct memory *memory, uint32_t entries);
uint32_t rnic_create_srq(struct rnic *rnic, struct memory *memory, uint32_t entries, uint32_t pd);

struct rnic_qp_attr {
	struct memory *memory;
	uint32_t sq_entries, rq_entries;
	uint32_t pd, send_cqn, recv_cqn;
	uint32_t srqn; /* 0: none */
};
uint32_t rnic_create_qp(struct rnic *rnic, const struct rnic_qp_attr *attr);

/* Sets the address of a ring in the memory of its program. */
void rnic_set_ring(struct rnic *rnic, enum rnic_ring_kind kind, uint32_t number, uint64_t address);

void rnic_destroy_cq(struct rnic *rnic, uint32_t number);
void rnic_destroy_srq(struct rnic *rnic, uint32_t number);
void rnic_destroy_qp(struct rnic *rnic, uint32_t number);

/* Starts the send queue, after the time of a store to the adapter. */
void rnic_ring(struct rnic *rnic, uint32_t qpn);

enum qp_state rnic_qp_state(const struct rnic *rnic, uint32_t qpn);
/* Moves a queue pair to ERR: flushes its work requests. */
void rnic_qp_fail(struct rnic *rnic, uint32_t qpn);

/* ---- connections ---- */

/* Opens a connection on a path with both ports. */
struct rnic_connection *rnic_connect(struct rnic *rnic, const struct path *path, uint32_t qpn,
				     const struct mpa_startup *request);
/* Answer a request. */
void rnic_accept(struct rnic_connection *connection, uint32_t qpn, const struct mpa_startup *reply);
void rnic_reject(struct rnic_connection *connection, const struct mpa_startup *reply);

/* Sends all posted work requests, and closes the connection. */
void rnic_disconnect(struct rnic_connection *connection);
/* Reports that the connection manager has forgotten the connection. The adapter then reports no
 * further events of the connection. */
void rnic_forget(struct rnic_connection *connection);

const struct path *rnic_path(const struct rnic_connection *connection);
void rnic_set_context(struct rnic_connection *connection, void *context);
void *rnic_context(const struct rnic_connection *connection);

#endif
