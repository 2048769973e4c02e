/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks: the processes of one run that `mpirun -n N hcasim run` has started. Each builds the whole
 * scenario and fires the events of one logical process (sim/parallel.h). All of them call the same
 * functions in the same order.
 *
 *     parallel_ranks.c --struct ranks_ops--> libhcasim-ranks.so (sim/mpi/ranks_mpi.c) --> MPI
 *
 * Only the shared object depends on MPI. A process that mpirun did not start never loads it.
 */
#ifndef SIM_RANKS_H
#define SIM_RANKS_H

#include "sim/carry.h"

struct ranks;

/* Functions of the shared object. */
struct ranks_ops {
	/* Begins and ends the use of MPI. end() waits for all ranks. */
	void (*begin)(unsigned *rank, unsigned *count);
	void (*end)(void);
	/* Sends out[i] to each rank i, and fills in[i] with the bytes of rank i. Both have an entry
	 * for each rank. The own entries are not used. Returns the smallest `next` of all ranks. */
	uint64_t (*exchange)(uint64_t next, const struct carry *out, struct carry *in);
	/* Replaces each value by the sum over all ranks. */
	void (*sum)(uint64_t *values, size_t count);
	/* Returns the seconds that this rank has spent in exchange(). */
	double (*waited)(void);
};
extern const struct ranks_ops ranks_mpi_ops; /* exported by the shared object */

struct ranks {
	const struct ranks_ops *ops;
	unsigned rank, count;
	struct carry *out, *in; /* [count] */
};

/* Returns true if mpirun has started this process as one of several. Writes its number. */
bool ranks_wanted(unsigned *rank);

/* Begins. Call it if ranks_wanted(). Returns NULL and writes the reason to *error if the shared
 * object cannot be loaded. */
struct ranks *ranks_begin(char *error, size_t error_bytes);
void ranks_end(struct ranks *ranks); /* does nothing for NULL */

/* Returns true if all ranks say true. For NULL, returns `one`. */
bool ranks_agree(struct ranks *ranks, bool one);

#endif
