/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_world: the messages of an MPI program as sends of HCAs of either fidelity: one rank a host, a connection for each pair of
 * hosts that talk, made when they first do. The program and its clock are somebody else's (hcasim/mpi/smpi), who
 * moves the time here:
 *
 *     mpi_world_send(now, ...) --> backend: post() ~~~ fabric ~~~ delivered() --complete_latency--> mpi_world_take()
 *
 * A message takes what it takes in a workload on these adapters (traffic/workload/backend.h): of fidelity endpoint the sender's
 * send_latency, the wire and its queues, and the receiver's receive_latency and complete_latency; detailed, the core that posts, the
 * adapters, and the core that polls. Bytes carry no content: SMPI copies it.
 */
#ifndef HCASIM_MPI_MPI_WORLD_H
#define HCASIM_MPI_MPI_WORLD_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Environment of the process that runs the program; set by hcasim mpi. */
#define MPI_WORLD_VARIABLES(X)                                                    \
	X(HCASIM_MPI_SCENARIO, "the effective scenario")                          \
	X(HCASIM_MPI_ENGINE, "of the simulation")                                 \
	X(HCASIM_MPI_STATUS, "a file for what came of it: see struct mpi_status") \
	X(HCASIM_MPI_OUT, "result folder; may be missing, as all that follows")   \
	X(HCASIM_MPI_PCAP, "file")                                                \
	X(HCASIM_MPI_TRACE, "file")                                               \
	X(HCASIM_MPI_COUNTERS, "file")

/* What the world leaves in HCASIM_MPI_STATUS when the program has come to its end. */
struct mpi_status {
	uint64_t messages, bytes, failed, packets;
	sim_time time;
	uint32_t deadlock; /* ranks wait for what never comes */
	uint32_t wrong;    /* expectations that do not hold, results that could not be written */
};

struct mpi_world;

/* NULL: it has said why on standard error. */
struct mpi_world *mpi_world_open(void);
uint32_t mpi_world_hosts(const struct mpi_world *world);
const char *mpi_world_host(const struct mpi_world *world, uint32_t host);

/* `now` is not before the time that the world has reached. The hosts differ. false: it has said why on standard error, an adapter has
 * no room for one more connection. */
bool mpi_world_send(struct mpi_world *world, sim_time now, uint32_t source, uint32_t destination,
		    uint64_t bytes, void *user);

/* Runs on until a message ends or that time is reached, and returns when that was; SIM_NEVER as the limit: until a message
 * ends; SIM_NEVER as the answer: none will. */
sim_time mpi_world_advance(struct mpi_world *world, sim_time until);

/* The user of a message that has ended, in the order in which they did; NULL: no more. */
void *mpi_world_take(struct mpi_world *world, bool *failed);

/* The program's end, or that of its hopes: what is still under way arrives, results are written. */
void mpi_world_close(struct mpi_world *world, sim_time now, bool deadlock);

#ifdef __cplusplus
}
#endif
#endif
