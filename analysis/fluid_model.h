/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_model: the fluid models of congestion control for N flows that begin together and share one
 * port. The models give the rate of each flow and the queue over time. They are delay-differential
 * equations, which GSL's Runge-Kutta steps solve over a history of the feedback.
 *
 * Zhu, Ghobadi, Misra, Padhye: ECN or delay: lessons learnt from analysis of DCQCN and TIMELY,
 * CoNEXT'16.
 */
#ifndef ANALYSIS_FLUID_MODEL_H
#define ANALYSIS_FLUID_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Times are in seconds, rates in bits per second. */
struct fluid_port {
	unsigned flows;
	double rate_bps;
	double packet_bytes; /* on the line */
	double delay;     /* of the feedback loop from queue to sender to queue, without queueing */
	double start_bps; /* of each flow */
};

/* Rate of packets that may be marked. The published model marks sent packets, at the rate of the
 * flow. A switch marks departing packets, at the flow's share of the port while there is a
 * queue. */
enum fluid_marks { FLUID_MARKS_SENT, FLUID_MARKS_LEAVING };

struct fluid_dcqcn {
	struct fluid_port port;
	enum fluid_marks marks;
	double kmin_bytes, kmax_bytes, pmax; /* marks at the port */
	double cnp_interval;
	double gain, alpha_interval, timer, byte_counter_bytes, stages, increase_bps;
};

struct fluid_timely {
	struct fluid_port port;
	bool patched;
	double rtt_low, rtt_high, rtt_min, beta, alpha, increase_bps, segment_bytes;
};

struct fluid_point {
	double time, queue_bytes, rate_bps; /* of each flow; all flows are alike */
};

/* Calculates one point each `step` from 0 until `until`. Returns the number of points. The caller
 * frees *points. */
size_t fluid_model_dcqcn(const struct fluid_dcqcn *model, double step, double until,
			 struct fluid_point **points);
size_t fluid_model_timely(const struct fluid_timely *model, double step, double until,
			  struct fluid_point **points);

/* Returns the mean queue of the points from `from` on. */
double fluid_model_queue_mean(const struct fluid_point *points, size_t count, double from);

#endif
