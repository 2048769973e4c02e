/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue_params: how events reach the driver, and how many completions one event stands for. List:
 * event_queue_param_list.
 */
#ifndef HCA_WORK_EVENT_QUEUE_PARAMS_H
#define HCA_WORK_EVENT_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define EVENT_QUEUE_PARAMS(X) \
	X(latency,  TIME, "300ns", "1ps..1ms", "of an interrupt, from its MSI-X write at the root complex to the driver's handler", "assumed: no published figure of this part alone") \
	X(interval, TIME, "20ns",  "0ps..1ms", "of the handler, for each event",                                          "assumed: one cache line and a look-up") \
	X(moderation_count,  COUNT,  "0",     "0..65535",    "completions that one event stands for, unless ibv_modify_cq() says; 0: no moderation", "ConnectX: cq_max_count, 16 bits; 0 for CQs of programs until they ask") \
	X(moderation_period, TIME,   "0us",   "0us..4095us", "after which fewer are enough; 0: no moderation",        "ConnectX: cq_period, 12 bits of 1 us; 0 for CQs of programs until they ask") \
	X(moderation_from,   CHOICE, "event", "event|cqe",   "what the period begins with: the CQ's last event, or each completion anew", "ConnectX: cq_period_mode, START_FROM_EQE or START_FROM_CQE")
/* clang-format on */

enum moderation_from { MODERATION_FROM_EVENT, MODERATION_FROM_CQE }; /* as the choices above */

struct event_queue_params {
	EVENT_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param event_queue_param_list[];

#endif
