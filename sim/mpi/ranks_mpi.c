/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_mpi: the functions of sim/ranks.h by MPI, in a shared object of its own. An exchange is one
 * MPI_Alltoall() of fixed size, with the time of the next event and the number of bytes. A message
 * follows only from and to ranks with bytes. An error of MPI ends all ranks.
 */
#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/ranks.h"

#define TAG          1
#define SPIN_SECONDS 50e-6
#define PAUSE_NS     20000

struct head { /* from each rank to each rank */
	uint64_t next, bytes;
};

static unsigned rank, count;
static struct head *out_heads, *in_heads; /* [count] */
static MPI_Request *requests;             /* [2 * count] */
static double waited;

static void begin(unsigned *own, unsigned *ranks)
{
	int number, size;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &number);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*own = rank = (unsigned)number;
	*ranks = count = (unsigned)size;
	out_heads = calloc(count, sizeof(out_heads[0]));
	in_heads = calloc(count, sizeof(in_heads[0]));
	requests = calloc((size_t)2 * count, sizeof(MPI_Request));
	assert(out_heads && in_heads && requests);
}

static void end(void)
{
	MPI_Finalize();
	free(out_heads);
	free(in_heads);
	free(requests);
}

/* Waits as MPI_Waitall() does, but sleeps after SPIN_SECONDS. MPI would keep a processor busy, on
 * which another rank may have to run. */
static void wait_all(int number)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	double since = MPI_Wtime();
	int done = 0;

	for (;;) {
		MPI_Testall(number, requests, &done, MPI_STATUSES_IGNORE);
		if (done)
			return;
		if (MPI_Wtime() - since > SPIN_SECONDS)
			nanosleep(&pause, NULL);
	}
}

static uint64_t trade_heads(uint64_t next, const struct carry *out)
{
	for (unsigned i = 0; i < count; i++)
		out_heads[i] = (struct head){next, i == rank ? 0 : out[i].count};
	MPI_Ialltoall(out_heads, sizeof(struct head), MPI_BYTE, in_heads, sizeof(struct head),
		      MPI_BYTE, MPI_COMM_WORLD, requests);
	wait_all(1);
	for (unsigned i = 0; i < count; i++)
		if (in_heads[i].next < next)
			next = in_heads[i].next;
	return next;
}

static uint64_t exchange(uint64_t next, const struct carry *out, struct carry *in)
{
	double since = MPI_Wtime();
	int wait_for = 0;

	next = trade_heads(next, out);
	for (unsigned i = 0; i < count; i++) {
		assert(in_heads[i].bytes <= INT_MAX && out_heads[i].bytes <= INT_MAX);
		carry_read(&in[i], in_heads[i].bytes);
		if (in_heads[i].bytes)
			MPI_Irecv(in[i].bytes, (int)in_heads[i].bytes, MPI_BYTE, (int)i, TAG,
				  MPI_COMM_WORLD, &requests[wait_for++]);
	}
	for (unsigned i = 0; i < count; i++)
		if (out_heads[i].bytes)
			MPI_Isend(out[i].bytes, (int)out_heads[i].bytes, MPI_BYTE, (int)i, TAG,
				  MPI_COMM_WORLD, &requests[wait_for++]);
	wait_all(wait_for);
	waited += MPI_Wtime() - since;
	return next;
}

static void sum(uint64_t *values, size_t number)
{
	assert(number <= INT_MAX);
	MPI_Iallreduce(MPI_IN_PLACE, values, (int)number, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
		       requests);
	wait_all(1);
}

static double time_waited(void)
{
	return waited;
}

const struct ranks_ops ranks_mpi_ops = {begin, end, exchange, sum, time_waited};
