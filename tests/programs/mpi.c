/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi: an ordinary MPI program, compiled by mpicc when its test runs. Rank 0 exchanges messages of
 * several lengths with its neighbour and with the last rank, checks every byte, and prints half a
 * round trip. Then all ranks run allreduces and check every element.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, ROUNDS = 30, ELEMENTS_MAX = 4096 };

static unsigned char buffer[BYTES_MAX];

static void fill(int length, int round)
{
	for (int i = 0; i < length; i++)
		buffer[i] = (unsigned char)(i * 7 + round);
}

static void check(int rank, int length, int round)
{
	for (int i = 0; i < length; i++)
		if (buffer[i] != (unsigned char)(i * 7 + round)) {
			printf("rank %d: byte %d of %d is wrong in round %d\n", rank, i, length,
			       round);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

/* Messages, of which only the first and the last are checked. */
static void exchange(int rank, int last, int length)
{
	double begun = 0;
	int other = rank == 0 ? last : 0;

	for (int round = 0; round <= ROUNDS; round++) {
		if (round == 1)
			begun = MPI_Wtime();
		if (rank == 0) {
			if (round == 0 || round == ROUNDS)
				fill(length, round);
			MPI_Send(buffer, length, MPI_BYTE, other, round, MPI_COMM_WORLD);
		}
		MPI_Recv(buffer, length, MPI_BYTE, other, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 0)
			MPI_Send(buffer, length, MPI_BYTE, other, round, MPI_COMM_WORLD);
		if (round == 0)
			check(rank, length, round);
	}
	begun = MPI_Wtime() - begun;
	check(rank, length, ROUNDS);
	if (rank == 0)
		printf("with rank %d %7d bytes %8.2f us\n", last, length,
		       begun / (2 * ROUNDS) * 1e6);
}

static void reduce(int rank, int size, int elements)
{
	static double in[ELEMENTS_MAX], out[ELEMENTS_MAX];
	double begun;

	for (int i = 0; i < elements; i++)
		in[i] = rank + i;
	MPI_Barrier(MPI_COMM_WORLD);
	begun = MPI_Wtime();
	MPI_Allreduce(in, out, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	begun = MPI_Wtime() - begun;
	for (int i = 0; i < elements; i++)
		if (out[i] != (double)size * i + (double)(size * (size - 1)) / 2) {
			printf("rank %d: element %d of %d is wrong\n", rank, i, elements);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	if (rank == 0)
		printf("allreduce of %4d %8.2f us\n", elements, begun * 1e6);
}

int main(int count, char **arguments)
{
	static const int lengths[] = {8, 1024, 16384, BYTES_MAX};
	char name[MPI_MAX_PROCESSOR_NAME];
	int rank, size, length, sum;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(name, &length);
	MPI_Allreduce(&(int){rank + 1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d is on %s, the sum is %d\n", rank, size, name, sum);
	fflush(stdout);
	for (int elements = 1; elements <= ELEMENTS_MAX; elements *= 16)
		reduce(rank, size, elements);
	for (int last = 1; last<size; last += size> 2 ? size - 2 : 1) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
			if (rank == 0 || rank == last)
				exchange(rank, last, lengths[i]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return size < 2;
}
