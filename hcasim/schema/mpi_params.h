/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_params: costs and settings of the MPI library of a simulated program, in addition to the
 * HCA's, for users who describe a scenario.
 */
#ifndef HCASIM_SCHEMA_MPI_PARAMS_H
#define HCASIM_SCHEMA_MPI_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define MPI_PARAMS(X) \
	X(eager, BYTES, "64KiB", "0B..2GB", \
	  "Eager limit. Messages below it are sent without waiting. The sender of a longer " \
	  "message waits until the receiver has posted a receive.", \
	  "choice: as in SMPI") \
	X(send_overhead, TIME, "0ps", "0ps..1s", \
	  "Host time of a call that sends, in addition to the HCA's latency.", \
	  "choice: none; the HCA's send_latency is the total") \
	X(receive_overhead, TIME, "0ps", "0ps..1s", \
	  "Host time of a call that receives.", \
	  "choice") \
	X(poll, TIME, "100ns", "1ns..1s", \
	  "Time of a call of MPI_Test or MPI_Iprobe that finds nothing.", \
	  "assumed: a poll of a completion queue and the call around it") \
	X(clock, TIME, "10ns", "1ns..1s", \
	  "Time of a call of MPI_Wtime, gettimeofday or clock_gettime.", \
	  "choice: as in SMPI; at 0 a program that polls the clock would never end") \
	X(service_level, COUNT, "0", "0..15", \
	  "Service level of all messages, which selects the VL or priority.", \
	  "choice") \
	X(collectives, CHOICE, "default", \
	  "default|mpich|ompi|mvapich2|impi", \
	  "SimGrid's table that selects the algorithms of collectives. The tables have the " \
	  "names of libraries but were not validated against them.", \
	  "choice")
/* clang-format on */

struct mpi_params {
	MPI_PARAMS(PARAM_FIELD)
};

extern const struct param mpi_param_list[];

#endif
