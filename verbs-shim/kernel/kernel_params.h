/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_params: what a user may say about the emulated kernel: how its port reports itself, and what its calls
 * cost in virtual time (system call, driver and the adapter's command interface together).
 */
#ifndef VERBS_SHIM_KERNEL_KERNEL_PARAMS_H
#define VERBS_SHIM_KERNEL_KERNEL_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define KERNEL_PARAMS(X)                                                                                                      \
	X(link_width, CHOICE, "4x", "1x|2x|4x|8x|12x", "lanes of the port, as programs read them", "IBTA vol.1 14.2.5.6")     \
	X(link_speed, CHOICE, "edr", "sdr|ddr|qdr|fdr10|fdr|edr|hdr|ndr|xdr", "speed of a lane, as programs read it",         \
	  "IBTA vol.1 14.2.5.6")                                                                                              \
	X(port_mtu, CHOICE, "4096", "256|512|1024|2048|4096", "active MTU of the port", "choice")                             \
	X(numa_node, COUNT, "0", "0..63", "NUMA node of the adapter, as programs read it", "choice")                          \
	X(call_latency, TIME, "300ns", "0ns..1ms", "a call that the driver answers alone", "assumed: one system call")        \
	X(query_latency, TIME, "2us", "0ns..1ms", "a call that asks the adapter", "assumed: one short firmware command")      \
	X(open_latency, TIME, "300us", "0ns..10ms", "a new context", "assumed: tens of firmware commands")                    \
	X(create_qp_latency, TIME, "30us", "0ns..10ms", "create a QP", "ground truth A1-09")                                  \
	X(modify_qp_latency, TIME, "15us", "0ns..10ms", "one QP transition", "assumed: half of creating one")                 \
	X(create_latency, TIME, "20us", "0ns..10ms", "create or resize a CQ or SRQ", "assumed: below a QP's")                 \
	X(destroy_latency, TIME, "10us", "0ns..10ms", "destroy any of them", "assumed: half of creating")                     \
	X(register_latency, TIME, "5us", "0ns..10ms", "register or deregister memory, without its pages", "assumed")          \
	X(register_page_latency, TIME, "60ns", "0ns..1ms", "pin and map one page of 4 KiB", "assumed: 4 GB take 60 ms")       \
	X(cm_resolve_latency, TIME, "10us", "0ns..1s", "resolve an address, or a route, for rdma_cm", "assumed: both cached") \
	X(cm_message_latency, TIME, "50us", "1ns..1s", "a message between two connection managers, until the program's event", \
	  "assumed: a MAD each way through two kernel threads")
/* clang-format on */

struct kernel_params {
	KERNEL_PARAMS(PARAM_FIELD)
};

extern const struct param kernel_param_list[];

#endif
