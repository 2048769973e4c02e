/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random: one stream of random numbers for each (block, purpose). A new block or a new purpose
 * therefore does not change the numbers of other streams. The generator is xoshiro256**, seeded
 * from the run's seed and the names. Each stream is also a gsl_rng, so all gsl_ran_*()
 * functions accept it:
 *
 *     random_init(&link->loss, &link->block, "loss");
 *     if (random_chance(&link->loss, params->loss)) ...
 *     bytes = gsl_ran_lognormal(&link->sizes.gsl, zeta, sigma);
 *
 * Source: Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4),
 * 2021.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <gsl/gsl_rng.h>

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream. It must not move after its initialisation, because gsl.state points into it. */
struct random {
	gsl_rng gsl;
	uint64_t state[4];
};

extern const gsl_rng_type random_gsl_type;

void random_init(struct random *random, const struct block *block, const char *purpose);

/* Initialises a stream for an owner that is not a block, such as a workload or a test. */
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

/* Returns a number that is uniform in [0, 1). */
static inline double random_unit(struct random *random)
{
	return (double)(random_u64(random) >> 11) * 0x1p-53;
}

/* Returns a number that is uniform in [0, bound), without bias. `bound` must be above 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Returns true with the given probability. A probability of 0 or less draws no number. */
static inline bool random_chance(struct random *random, double probability)
{
	return probability > 0 && random_unit(random) < probability;
}

#ifdef __cplusplus
}
#endif
#endif
