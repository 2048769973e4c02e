/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_host_params: what hosts of detailed adapters ask of them to carry a workload (detailed_backend.h), and what that costs their cores.
 */
#ifndef TRAFFIC_LOAD_LOAD_HOST_PARAMS_H
#define TRAFFIC_LOAD_LOAD_HOST_PARAMS_H

#include "traffic/load/load_params.h"

/* clang-format off */
#define LOAD_HOST_PARAMS(X) \
	X(cores,       COUNT,  "1",         "1..64",          "processor cores of a host that post and poll, each for queue pairs and a CQ of its own; these are dealt out in turn", "choice") \
	X(posting,     CHOICE, "blueflame", "blueflame|doorbell", "how a work request is posted",                     "choice") \
	X(tx_depth,      COUNT,  "128",       "1..4096",        "work requests of a queue pair that are posted and not complete; others wait in the host", "choice: the send queue that programs often ask for") \
	X(rx_depth,    COUNT,  "256",       "32..32768",      "receive work requests of a queue pair, in powers of two", "as load.rx_depth") \
	X(max_rd_atomic,       COUNT,  "16",        "1..128",         "reads and atomics under way of a queue pair",          "ground truth F-03") \
	X(timeout,     COUNT,  "14",        "0..31",          "local ACK timeout of queue pairs, 4.096 us * 2^timeout, 0: never", "ground truth C-26") \
	X(retry_count, COUNT,  "7",         "0..7",           "timeouts in a row before a queue pair fails",          "ground truth C-26") \
	X(page,        BYTES,  "2MiB",      "4KiB..1GiB",     "of the memory that data are in",                       "choice")
/* clang-format on */

struct load_host_params {
	LOAD_HOST_PARAMS(PARAM_FIELD)
	struct load_cpu_params cpu;
};

extern const struct param load_host_param_list[];
extern const struct param_section load_host_sections[]; /* host, cpu; ends with a NULL name */

#endif
