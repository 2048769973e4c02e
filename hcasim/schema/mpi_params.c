/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_params: see mpi_params.h. */
#include "hcasim/schema/mpi_params.h"

/* clang-format off */
#define ROW(...) PARAM_ROW(struct mpi_params, __VA_ARGS__)
const struct param mpi_param_list[] = { MPI_PARAMS(ROW) { 0 } };
/* clang-format on */
