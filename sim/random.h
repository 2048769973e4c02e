/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random: streams of random numbers, one for each (block, purpose), so that a new block or a new
 * use of chance shifts nobody else's numbers. xoshiro256** seeded from the run's seed and the
 * names; each stream is a gsl_rng as well, so all of gsl_ran_*() draws from it:
 *
 *     random_init(&link->loss, &link->block, "loss");
 *     if (random_chance(&link->loss, params->loss)) ...
 *     bytes = gsl_ran_lognormal(&link->sizes.gsl, zeta, sigma);
 *
 * Source: Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <gsl/gsl_rng.h>

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stays where it was initialised: gsl.state points into it. */
struct random {
	gsl_rng gsl;
	uint64_t state[4];
};

extern const gsl_rng_type random_gsl_type;

void random_init(struct random *random, const struct block *block, const char *purpose);

/* For what is not a block: a workload, a test. */
void random_init_named(struct random *random, uint64_t seed, const char *name, const char *purpose);

static inline uint64_t random_rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static inline uint64_t random_step(uint64_t state[4])
{
	uint64_t result = random_rotate(state[1] * 5, 7) * 9;
	uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = random_rotate(state[3], 45);
	return result;
}

static inline uint64_t random_u64(struct random *random)
{
	return random_step(random->state);
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random *random)
{
	return (double)(random_u64(random) >> 11) * 0x1p-53;
}

/* Uniform in [0, bound), without bias; bound > 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* True with the given probability; 0 and below draw nothing. */
static inline bool random_chance(struct random *random, double probability)
{
	return probability > 0 && random_unit(random) < probability;
}

#ifdef __cplusplus
}
#endif
#endif
