/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_params: what the MPI library of a simulated program takes beyond the HCA, for those who describe a scenario.
 */
#ifndef HCASIM_SCHEMA_MPI_PARAMS_H
#define HCASIM_SCHEMA_MPI_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define MPI_PARAMS(X)                                                                                      \
	X(eager,            BYTES, "64KiB", "0B..2GB",   "shorter messages leave when they are sent; longer ones when the receiver has asked as well, and the sender waits", "choice: as SMPI has it") \
	X(send_overhead,    TIME,  "0ps",   "0ps..1s",   "host: of a call that sends, before the HCA's own", "choice: none, the HCA's send_latency is the whole") \
	X(receive_overhead, TIME,  "0ps",   "0ps..1s",   "host: of a call that receives",                    "choice") \
	X(poll,             TIME,  "100ns", "1ns..1s",   "MPI_Test, MPI_Iprobe: of a call that finds nothing", "assumed: a look at a completion queue and the call around it") \
	X(clock,            TIME,  "10ns",  "1ns..1s",   "MPI_Wtime, gettimeofday, clock_gettime: of a call", "choice: as SMPI has it; with none a program that waits for a time would wait for ever") \
	X(service_level,    COUNT, "0",     "0..15",     "of all messages: VL or priority",                "choice") \
	X(collectives,      CHOICE, "default", "default|mpich|ompi|mvapich2|impi", "which of SimGrid's tables chooses the algorithms of collectives; named after libraries, not measured against them", "choice")
/* clang-format on */

struct mpi_params {
	MPI_PARAMS(PARAM_FIELD)
};

extern const struct param mpi_param_list[];

#endif
