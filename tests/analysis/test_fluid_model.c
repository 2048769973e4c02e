/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the fluid models reach the equilibria of their equations. DCQCN settles at the queues
 * of D-01 with equal rates. It oscillates where the paper's figure does, and with marks at egress
 * where packets do. Patched TIMELY settles at N delta q' / (beta C) + q' (D-04) from any initial
 * rate. TIMELY as first published does not settle: its queue rises to the 70 KB of D-04 and empties
 * again.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/fluid_model.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                  \
	TEST(dcqcn_settles)          \
	TEST(dcqcn_with_many_flows)  \
	TEST(dcqcn_from_afar)        \
	TEST(dcqcn_marks_at_egress)  \
	TEST(patched_timely_settles) \
	TEST(timely_does_not_settle)
SUITE(TESTS)

static struct fluid_dcqcn dcqcn_of(unsigned flows)
{
	return (struct fluid_dcqcn){
		.port = {flows, 40e9, 1000, 4e-6, 40e9},
		.marks = FLUID_MARKS_SENT,
		.kmin_bytes = 5e3,
		.kmax_bytes = 200e3,
		.pmax = 0.01,
		.cnp_interval = 50e-6,
		.gain = 1.0 / 256,
		.alpha_interval = 55e-6,
		.timer = 55e-6,
		.byte_counter_bytes = 10e6,
		.stages = 5,
		.increase_bps = 40e6,
	};
}

static void test_dcqcn_settles(void)
{
	static const struct {
		unsigned flows;
		double queue_bytes; /* D-01, rounded to 1 KB there */
	} rows[] = {{2, 20e3}, {4, 42e3}, {8, 94e3}, {10, 123e3}};
	struct fluid_point *points;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct fluid_dcqcn model = dcqcn_of(rows[i].flows);
		size_t count = fluid_model_dcqcn(&model, 10e-6, 0.1, &points);

		CU_ASSERT_EQUAL(count, 10001);
		CU_ASSERT_DOUBLE_EQUAL(fluid_model_queue_mean(points, count, 0.05),
				       rows[i].queue_bytes, 1100);
		CU_ASSERT_DOUBLE_EQUAL(points[count - 1].rate_bps, 40e9 / rows[i].flows, 40e6);
		CU_ASSERT_EQUAL(points[0].queue_bytes, 0);
		CU_ASSERT_DOUBLE_EQUAL(points[0].rate_bps, 40e9, 1);
		CU_ASSERT_DOUBLE_EQUAL(points[count - 1].time, 0.1, 1e-9);
		free(points);
	}
}

/* D-01: beyond 16 flows all of RED's slope is used up: the queue is at Kmax. */
static void test_dcqcn_with_many_flows(void)
{
	const struct fluid_dcqcn model = dcqcn_of(20);
	struct fluid_point *points;
	size_t count = fluid_model_dcqcn(&model, 10e-6, 0.1, &points);

	CU_ASSERT_DOUBLE_EQUAL(fluid_model_queue_mean(points, count, 0.05), 200e3, 20e3);
	free(points);
}

/* Minimum and maximum of the queue in the second half of half a second, in KB. */
struct swing {
	double least, most;
};

/* RED has the slope of C-17 for any number of flows. */
static struct swing swing_of(unsigned flows, double delay, enum fluid_marks marks)
{
	struct fluid_dcqcn model = dcqcn_of(flows);
	struct swing swing = {INFINITY, 0};
	struct fluid_point *points;
	size_t count;

	model.port.delay = delay;
	model.marks = marks;
	if (flows > 10) {
		model.kmax_bytes = 2000e3;
		model.pmax = 0.1;
	}
	count = fluid_model_dcqcn(&model, 10e-6, 0.5, &points);
	for (size_t i = count / 2; i < count; i++) {
		swing.least = fmin(swing.least, points[i].queue_bytes / 1e3);
		swing.most = fmax(swing.most, points[i].queue_bytes / 1e3);
	}
	free(points);
	return swing;
}

/* EOD, figure 5, read in the paper's sources: with 85 us, 2 flows settle at 20.6 KB and 64 at 1182
 * KB. 10 flows swing between 0 and 276 KB. */
static void test_dcqcn_from_afar(void)
{
	struct swing two = swing_of(2, 85e-6, FLUID_MARKS_SENT);
	struct swing ten = swing_of(10, 85e-6, FLUID_MARKS_SENT);
	struct swing many = swing_of(64, 85e-6, FLUID_MARKS_SENT);

	CU_ASSERT_DOUBLE_EQUAL(two.least, 20.6, 1);
	CU_ASSERT_DOUBLE_EQUAL(two.most, 20.6, 1);
	CU_ASSERT(ten.least < 1);
	CU_ASSERT_DOUBLE_EQUAL(ten.most, 276, 0.2 * 276);
	CU_ASSERT_DOUBLE_EQUAL(many.least, 1182, 12);
	CU_ASSERT_DOUBLE_EQUAL(many.most, 1182, 12);
}

/* A standing queue sends at the port's rate. A higher input rate does not increase the marks at
 * once. With a short path all numbers of flows are stable. With 85 us, 64 flows are not. */
static void test_dcqcn_marks_at_egress(void)
{
	struct swing near = swing_of(64, 4e-6, FLUID_MARKS_LEAVING);
	struct swing far = swing_of(64, 85e-6, FLUID_MARKS_LEAVING);

	CU_ASSERT_DOUBLE_EQUAL(near.least, 1182, 12);
	CU_ASSERT_DOUBLE_EQUAL(near.most, 1182, 12);
	CU_ASSERT(far.least < 1);
	CU_ASSERT_DOUBLE_EQUAL(far.most, 2320, 23);
}

static size_t solve_timely(unsigned flows, bool patched, double share, struct fluid_point **points)
{
	const struct fluid_timely model = {
		.port = {flows, 10e9, 1000, 4e-6, 10e9 / flows * share},
		.patched = patched,
		.rtt_low = 50e-6,
		.rtt_high = 500e-6,
		.rtt_min = 20e-6,
		.beta = patched ? 0.008 : 0.8,
		.alpha = 0.875,
		.increase_bps = 10e6,
		.segment_bytes = 16e3,
	};
	return fluid_model_timely(&model, 10e-6, 0.3, points);
}

static void test_patched_timely_settles(void)
{
	static const double shares[] = {1, 0.5, 1.5};
	double low = 10e9 / 8 * 50e-6;
	struct fluid_point *points;

	for (unsigned flows = 2; flows <= 10; flows += 4) {
		for (unsigned i = 0; i < 3; i++) {
			size_t count = solve_timely(flows, true, shares[i], &points);
			double expected = flows * 10e6 * low / (0.008 * 10e9) + low;

			CU_ASSERT_DOUBLE_EQUAL(points[count - 1].queue_bytes, expected,
					       expected / 1000);
			CU_ASSERT_DOUBLE_EQUAL(points[count - 1].rate_bps, 10e9 / flows, 1e6);
			free(points);
		}
	}
}

static void test_timely_does_not_settle(void)
{
	struct fluid_point *points;
	size_t count = solve_timely(2, false, 1, &points);
	double least = INFINITY, most = 0;

	for (size_t i = count / 2; i < count; i++) {
		least = fmin(least, points[i].queue_bytes);
		most = fmax(most, points[i].queue_bytes);
	}
	CU_ASSERT(least < 1000);
	CU_ASSERT_DOUBLE_EQUAL(most, 70e3, 3.5e3);
	free(points);
}
