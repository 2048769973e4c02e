/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_host_params: parameters of hosts whose detailed adapters carry a workload
 * (detailed_backend.h), and the cost of each action on their cores.
 */
#ifndef TRAFFIC_LOAD_LOAD_HOST_PARAMS_H
#define TRAFFIC_LOAD_LOAD_HOST_PARAMS_H

#include "traffic/load/load_params.h"

/* clang-format off */
#define LOAD_HOST_PARAMS(X) \
	X(cores, COUNT, "1", "1..64", \
	  "Processor cores of a host that post and poll. Queue pairs are assigned to the cores " \
	  "in turn; each core has its own CQ.", \
	  "choice") \
	X(posting, CHOICE, "blueflame", "blueflame|doorbell", \
	  "Method of posting a work request.", \
	  "choice") \
	X(tx_depth, COUNT, "128", "1..4096", \
	  "Maximum number of incomplete work requests of a queue pair. Further messages wait " \
	  "in the host.", \
	  "choice: the send queue that programs often ask for") \
	X(rx_depth, COUNT, "256", "32..32768", \
	  "Receive work requests of a queue pair, a power of two.", \
	  "as load.rx_depth") \
	X(max_rd_atomic, COUNT, "16", "1..128", \
	  "Maximum number of reads and atomics in flight per queue pair.", \
	  "HERD, SIGCOMM 2014 (row F-03)") \
	X(timeout, COUNT, "14", "0..31", \
	  "Local ACK timeout of queue pairs, 4.096 us * 2^timeout. 0: no timeout.", \
	  "rdma-core, rdma_set_option(3) (row C-26)") \
	X(retry_count, COUNT, "7", "0..7", \
	  "Consecutive timeouts after which a queue pair fails.", \
	  "rdma-core, rdma_set_option(3) (row C-26)") \
	X(page, BYTES, "2MiB", "4KiB..1GiB", \
	  "Page size of the memory that holds the data.", \
	  "choice")
/* clang-format on */

struct load_host_params {
	LOAD_HOST_PARAMS(PARAM_FIELD)
	struct load_cpu_params cpu;
};

extern const struct param load_host_param_list[];
/* host, cpu; ends with an entry whose name is NULL */
extern const struct param_section load_host_sections[];

#endif
