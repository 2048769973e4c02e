/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk: an ordinary MPI program for tests/cli/mpi.sh. Prints times measured with MPI_Wtime, and
 * fails if received data differ from the data sent.
 *
 *     talk pingpong   half a round trip between the ranks 0 and 1, by size
 *     talk ring       1 MiB round all ranks, five times, from each to the next
 *     talk allreduce  sums of 16 doubles and of 100,000, and a barrier
 *     talk wrong      rank 1 ends with exit code 3
 *     talk one BYTES  one message, from rank 1 to rank 0
 *     talk gather     one message from each other rank to rank 0
 *
 * With one more argument it does not read the clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS   10
#define MEBIBYTE (1 << 20)

static int rank, ranks, timed;

/* A trace has no calls of the clock: without them the replay takes the same time. */
static double now(void)
{
	return timed ? MPI_Wtime() : 0;
}

static void require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 4);
}

static void pingpong(void)
{
	unsigned char *buffer = calloc(1, MEBIBYTE);

	for (int bytes = 1; bytes <= MEBIBYTE; bytes *= 8) {
		double start = 0;

		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i <= ROUNDS && rank < 2; i++) {
			/* the first round waits for the rank that leaves the barrier last */
			if (i == 1)
				start = now();
			if (rank == 0) {
				buffer[bytes - 1] = (unsigned char)(i + 1);
				MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
			}
			memset(buffer, 0, (size_t)bytes);
			MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			require(buffer[bytes - 1] == i + 1, "the last byte is another");
			if (rank == 1)
				MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		}
		if (rank == 0)
			printf("pingpong %d %.6f\n", bytes, (now() - start) * 1e6 / ROUNDS / 2);
	}
	free(buffer);
}

static void ring(void)
{
	int *out = malloc(MEBIBYTE), *in = malloc(MEBIBYTE), last = MEBIBYTE / (int)sizeof(int) - 1;
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = now();
	for (int i = 0; i < 5; i++) {
		out[last] = 1000 * rank + i;
		MPI_Sendrecv(out, MEBIBYTE, MPI_BYTE, (rank + 1) % ranks, 1, in, MEBIBYTE, MPI_BYTE,
			     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		require(in[last] == 1000 * ((rank + ranks - 1) % ranks) + i, "not my neighbour's");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("ring %.6f\n", (now() - start) * 1e6);
	free(out);
	free(in);
}

static void allreduce(int count)
{
	double *out = malloc((size_t)count * sizeof(*out)),
	       *in = malloc((size_t)count * sizeof(*in));
	double start;

	for (int i = 0; i < count; i++)
		out[i] = rank + i;
	MPI_Barrier(MPI_COMM_WORLD);
	start = now();
	MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < count; i++)
		require(in[i] == ranks * (ranks - 1) / 2.0 + (double)ranks * i, "a wrong sum");
	if (rank == 0)
		printf("allreduce %d %.6f\n", count, (now() - start) * 1e6);
	free(out);
	free(in);
}

static void gather(int bytes, int senders)
{
	char *buffer = calloc(1, (size_t)bytes);

	if (rank > 0 && rank <= senders)
		MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	for (int i = 1; rank == 0 && i <= senders; i++)
		MPI_Recv(buffer, bytes, MPI_BYTE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(buffer);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	timed = argc < 3;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(what, "pingpong") == 0)
		pingpong();
	if (strcmp(what, "ring") == 0)
		ring();
	if (strcmp(what, "allreduce") == 0) {
		allreduce(16);
		allreduce(100000);
	}
	if (strcmp(what, "one") == 0)
		gather((int)strtol(argv[2], NULL, 10), 1);
	if (strcmp(what, "gather") == 0)
		gather(1, ranks - 1);
	MPI_Finalize();
	return strcmp(what, "wrong") == 0 && rank == 1 ? 3 : 0;
}
