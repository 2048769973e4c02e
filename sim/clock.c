/* clock: see clock.h. */
#include "sim/clock.h"

#include <assert.h>

/* floor(value * multiplier / divisor), and whether something was left over */
static uint64_t scale(uint64_t value, uint64_t multiplier, uint64_t divisor, bool *inexact)
{
	unsigned __int128 product = (unsigned __int128)value * multiplier;
	unsigned __int128 quotient;

	if (product >> 64 == 0) { /* the usual case: one division of 64 bits */
		*inexact = (uint64_t)product % divisor != 0;
		return (uint64_t)product / divisor;
	}
	quotient = product / divisor;
	assert(quotient >> 64 == 0);
	*inexact = product % divisor != 0;
	return (uint64_t)quotient;
}

sim_time clock_edge(const struct clock *clock, uint64_t n)
{
	bool inexact;

	return scale(n, clock->numerator, clock->denominator, &inexact);
}

/* floor(n * period) >= time for a whole time means n * period >= time, so n is the ceiling of time / period. */
uint64_t clock_edge_number(const struct clock *clock, sim_time time)
{
	bool inexact;
	uint64_t n = scale(time, clock->denominator, clock->numerator, &inexact);

	return n + inexact;
}

sim_time clock_align(const struct clock *clock, sim_time time)
{
	return clock_edge(clock, clock_edge_number(clock, time));
}

sim_time clock_after(const struct clock *clock, sim_time time, uint64_t cycles)
{
	return clock_edge(clock, clock_edge_number(clock, time) + cycles);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void clock_init_period(struct clock *clock, uint64_t numerator, uint64_t denominator)
{
	uint64_t divisor = common_divisor(numerator, denominator);

	assert(numerator > 0 && denominator > 0);
	*clock = (struct clock){numerator / divisor, denominator / divisor};
}

void clock_init_hertz(struct clock *clock, uint64_t hertz)
{
	clock_init_period(clock, SEC, hertz);
}
