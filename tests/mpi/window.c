/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: one-sided communication, which hcasim carries but a trace cannot replay. Each rank puts
 * its number into the next one's window between two fences.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, ranks, got = -1;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Win_create(&got, sizeof(got), sizeof(got), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_fence(0, window);
	MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
	MPI_Win_fence(0, window);
	printf("rank %d got %d\n", rank, got);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
