/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_model: what the fluid models of congestion control say of N flows that begin together and share one port: the
 * rate of each and the queue, over time. Delay-differential equations, solved by GSL's Runge-Kutta steps over a history
 * of what the feedback saw.
 *
 * Zhu, Ghobadi, Misra, Padhye: ECN or delay: lessons learnt from analysis of DCQCN and TIMELY, CoNEXT'16.
 */
#ifndef ANALYSIS_FLUID_MODEL_H
#define ANALYSIS_FLUID_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Times are seconds, rates bits a second. */
struct fluid_port {
	unsigned flows;
	double rate_bps;
	double packet_bytes; /* on the line */
	double delay;        /* of the whole loop, queue to sender to queue, without the queue */
	double start_bps;    /* of each flow */
};

/* Which packets bear marks: those that are sent, as published, at the flow's rate; or those that leave, as a switch marks them: at
 * the flow's share of the port's rate while a queue stands, whatever is sent. */
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
	double time, queue_bytes, rate_bps; /* of each flow: they are alike */
};

/* Every `step` until `until` a point, the first at 0. Returns how many; the caller frees *points. */
size_t fluid_dcqcn_solve(const struct fluid_dcqcn *model, double step, double until,
			 struct fluid_point **points);
size_t fluid_timely_solve(const struct fluid_timely *model, double step, double until,
			  struct fluid_point **points);

/* The mean of the queue of those points from `from` on. */
double fluid_queue_mean(const struct fluid_point *points, size_t count, double from);

#endif
