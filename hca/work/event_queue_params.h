/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue_params: parameters of event delivery to the driver and of completion event
 * moderation. event_queue_param_list lists the parameters.
 */
#ifndef HCA_WORK_EVENT_QUEUE_PARAMS_H
#define HCA_WORK_EVENT_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define EVENT_QUEUE_PARAMS(X) \
	X(latency, TIME, "300ns", "1ps..1ms", \
	  "Time from the arrival of the MSI-X write at the root complex to the start of the " \
	  "driver's interrupt handler.", \
	  "assumed: no published figure of this part alone") \
	X(interval, TIME, "20ns", "0ps..1ms", \
	  "Time of the interrupt handler for each event.", \
	  "assumed: one cache line and a look-up") \
	X(moderation_count, COUNT, "0", "0..65535", \
	  "Completions per event, unless ibv_modify_cq() sets another number. `0`: no " \
	  "moderation.", \
	  "ConnectX: cq_max_count, 16 bits; 0 for CQs of programs until they ask") \
	X(moderation_period, TIME, "0us", "0us..4095us", \
	  "Time after which fewer completions than moderation_count raise an event. `0`: no " \
	  "moderation.", \
	  "ConnectX: cq_period, 12 bits of 1 us; 0 for CQs of programs until they ask") \
	X(moderation_from, CHOICE, "event", "event|cqe", \
	  "Start of moderation_period: the last event of the completion queue, or each new " \
	  "completion.", \
	  "ConnectX: cq_period_mode, START_FROM_EQE or START_FROM_CQE")
/* clang-format on */

enum moderation_from { MODERATION_FROM_EVENT, MODERATION_FROM_CQE }; /* in the order of the list */

struct event_queue_params {
	EVENT_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param event_queue_param_list[];

#endif
