/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_messages: sends the messages of an MPI program through HCAs of either fidelity. Each rank has
 * a host. Two hosts get a connection when they first exchange a message. The clock of the program
 * is external (hcasim/mpi/smpi). It advances the simulation by these functions:
 *
 *     mpi_messages_send(now, ...) --> backend: post() ~~~ fabric ~~~ delivered()
 *                 --complete_latency--> mpi_messages_take()
 *
 * A message takes the same time as a message of a workload on these adapters
 * (traffic/workload/backend.h). With fidelity endpoint this is the sender's send_latency, the wire
 * and its queues, and the receiver's receive_latency and complete_latency. With fidelity detailed
 * it is the time of the posting core, the adapters, and the polling core. The messages have no
 * content: SMPI copies it.
 */
#ifndef TRAFFIC_MPI_MPI_MESSAGES_H
#define TRAFFIC_MPI_MPI_MESSAGES_H

#include "traffic/workload/backend.h"
#include "traffic/workload/flow_table.h"

/* Functions and objects that the caller provides. */
struct mpi_messages_uses {
	struct sim *sim;
	unsigned service_level;
	void *context;
	/* Returns the time from the arrival of a message until the program of that host sees it. */
	sim_time (*complete_latency)(void *context, uint32_t host);
	/* Returns the time of a message on an empty path, and its number of switches in *hops. */
	sim_time (*ideal)(void *context, uint32_t source, uint32_t destination,
			  const struct backend_qp *qp, uint64_t bytes, unsigned *hops);
};

struct mpi_messages_totals {
	const struct flow_record *records; /* one for each message */
	uint32_t count;
	uint64_t bytes, failed;
};

struct mpi_messages;

struct mpi_messages *mpi_messages_create(const struct mpi_messages_uses *uses);

/* Prepares the backend for messages of up to `bytes_max` bytes that a receiver does not request,
 * and starts it. The messages become the backend's user. Returns NULL, or the reason for a
 * failure. */
const char *mpi_messages_start(struct mpi_messages *messages, struct backend *backend,
			       uint64_t bytes_max);

void mpi_messages_destroy(struct mpi_messages *messages);

/* Sends a message between two hosts. `now` must not be earlier than the simulation time. Returns
 * NULL, or the reason why an adapter cannot open one more connection. */
const char *mpi_messages_send(struct mpi_messages *messages, sim_time now, uint32_t source,
			      uint32_t destination, uint64_t bytes, void *user);

/* Runs the simulation until `now`. A `now` in the past has no effect. The rounding of seconds in
 * doubles can cause one. */
void mpi_messages_reach(struct mpi_messages *messages, sim_time now);

/* Runs until a message ends or until the limit is reached, and returns that time. With a limit of
 * SIM_NEVER: returns SIM_NEVER if no message will end. */
sim_time mpi_messages_advance(struct mpi_messages *messages, sim_time until);

/* Returns the user of the next message that has ended, in the order in which messages ended, or
 * NULL. */
void *mpi_messages_take(struct mpi_messages *messages, bool *failed);

/* Runs until all messages have arrived, or no events remain. */
void mpi_messages_drain(struct mpi_messages *messages);

struct mpi_messages_totals mpi_messages_totals(const struct mpi_messages *messages);

#endif
