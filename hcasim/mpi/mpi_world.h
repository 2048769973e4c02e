/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_world: simulated world of an MPI program, inside the program's process. It opens the scenario
 * that `hcasim mpi` names, passes messages to traffic/mpi/mpi_messages.h, and writes the results at
 * the end.
 *
 *     hcasim mpi --environment--> smpirun: hcasim/mpi/smpi --> mpi_world
 *         --> mpi_messages --> backend
 */
#ifndef HCASIM_MPI_MPI_WORLD_H
#define HCASIM_MPI_MPI_WORLD_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Environment variables of the program's process, which hcasim mpi sets. */
#define MPI_WORLD_VARIABLES(X)                                                   \
	X(HCASIM_MPI_SCENARIO, "effective scenario")                             \
	X(HCASIM_MPI_ENGINE, "simulation engine")                                \
	X(HCASIM_MPI_STATUS, "file for the outcome, see struct mpi_status")      \
	X(HCASIM_MPI_OUT, "result folder; optional, as are the variables below") \
	X(HCASIM_MPI_PCAP, "file")                                               \
	X(HCASIM_MPI_TRACE, "file")                                              \
	X(HCASIM_MPI_COUNTERS, "file")

/* Outcome that the world writes to HCASIM_MPI_STATUS when the program ends. */
struct mpi_status {
	uint64_t messages, bytes, failed, packets;
	sim_time time;
	uint32_t deadlock; /* ranks that wait for messages that will never be sent */
	uint32_t wrong;    /* failed expectations, and results that could not be written */
};

struct mpi_world;

/* Opens the world. Returns NULL and prints the reason to standard error on failure. */
struct mpi_world *mpi_world_open(void);
uint32_t mpi_world_hosts(const struct mpi_world *world);
const char *mpi_world_host(const struct mpi_world *world, uint32_t host);

/* Sends a message between two different hosts. `now` must not be earlier than the time that the
 * world has reached. Returns false and prints the reason if an adapter has no room for one more
 * connection. */
bool mpi_world_send(struct mpi_world *world, sim_time now, uint32_t source, uint32_t destination,
		    uint64_t bytes, void *user);

/* Runs until a message ends or until the limit is reached, and returns that time. With a limit of
 * SIM_NEVER: returns SIM_NEVER if no message will end. */
sim_time mpi_world_advance(struct mpi_world *world, sim_time until);

/* Returns the user of the next message that has ended, in the order in which messages ended, or
 * NULL. */
void *mpi_world_take(struct mpi_world *world, bool *failed);

/* Ends the run of a program that has ended or is deadlocked. Messages in flight arrive, then
 * results are written. */
void mpi_world_close(struct mpi_world *world, sim_time now, bool deadlock);

#ifdef __cplusplus
}
#endif
#endif
