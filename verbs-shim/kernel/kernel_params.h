/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_params: parameters of the emulated kernel. The parameters define the reports of its port
 * and the virtual time of its calls. The time of a call includes the system call, the driver and
 * the adapter's command interface.
 */
#ifndef VERBS_SHIM_KERNEL_KERNEL_PARAMS_H
#define VERBS_SHIM_KERNEL_KERNEL_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define KERNEL_PARAMS(X) \
	X(link_width, CHOICE, "4x", "1x|2x|4x|8x|12x", \
	  "Number of lanes that the port reports to programs.", \
	  "IBTA vol.1 14.2.5.6") \
	X(link_speed, CHOICE, "edr", "sdr|ddr|qdr|fdr10|fdr|edr|hdr|ndr|xdr", \
	  "Speed of a lane that the port reports to programs.", \
	  "IBTA vol.1 14.2.5.6") \
	X(port_mtu, CHOICE, "4096", "256|512|1024|2048|4096", \
	  "Active MTU of the port, in bytes.", \
	  "choice") \
	X(numa_node, COUNT, "0", "0..63", \
	  "NUMA node of the adapter that programs read.", \
	  "choice") \
	X(call_latency, TIME, "300ns", "0ns..1ms", \
	  "Time of a call that the driver answers without the adapter.", \
	  "assumed: one system call") \
	X(query_latency, TIME, "2us", "0ns..1ms", \
	  "Time of a call that asks the adapter.", \
	  "assumed: one short firmware command") \
	X(open_latency, TIME, "300us", "0ns..10ms", \
	  "Time to open a context.", \
	  "assumed: tens of firmware commands") \
	X(create_qp_latency, TIME, "30us", "0ns..10ms", \
	  "Time to create a QP.", \
	  "SocksDirect, SIGCOMM 2019 (row A1-09)") \
	X(modify_qp_latency, TIME, "15us", "0ns..10ms", \
	  "Time of one QP state transition.", \
	  "assumed: half of creating one") \
	X(create_latency, TIME, "20us", "0ns..10ms", \
	  "Time to create or resize a CQ or SRQ.", \
	  "assumed: below a QP's") \
	X(destroy_latency, TIME, "10us", "0ns..10ms", \
	  "Time to destroy a QP, CQ or SRQ.", \
	  "assumed: half of creating") \
	X(register_latency, TIME, "5us", "0ns..10ms", \
	  "Time to register or deregister a memory region, without its pages.", \
	  "assumed") \
	X(register_page_latency, TIME, "60ns", "0ns..1ms", \
	  "Time to pin and map one page of 4 KiB.", \
	  "assumed: 4 GB take 60 ms") \
	X(cm_resolve_latency, TIME, "10us", "0ns..1s", \
	  "Time to resolve an address or a route for rdma_cm.", \
	  "assumed: both cached") \
	X(cm_message_latency, TIME, "50us", "1ns..1s", \
	  "Latency of a message between two connection managers, until the program's event.", \
	  "assumed: a MAD each way through two kernel threads")
/* clang-format on */

struct kernel_params {
	KERNEL_PARAMS(PARAM_FIELD)
};

extern const struct param kernel_param_list[];

#endif
