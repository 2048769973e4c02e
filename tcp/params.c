/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: the list of params.h as a table.
 */
#include "tcp/params.h"

/* clang-format off */
#define ROW(...) PARAM_ROW(struct tcp_params, __VA_ARGS__)
const struct param tcp_param_list[] = { TCP_PARAMS(ROW) { 0 } };
/* clang-format on */
