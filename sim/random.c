/* SPDX-License-Identifier: Apache-2.0 */
/* random: see random.h. */
#include "sim/random.h"

#include <assert.h>

/* SplitMix64: expands one word to the state, and hashes words into one. */
static uint64_t split_mix(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static void fill_state(uint64_t state[4], uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		state[i] = split_mix(&seed);
}

/* Hashes a text with its terminating zero, so that ("a", "bc") differs from ("ab", "c"). */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	do {
		hash ^= (unsigned char)*text;
		hash = split_mix(&hash);
	} while (*text++ != '\0');
	return hash;
}

void random_init_named(struct random *random, uint64_t seed, const char *name, const char *purpose)
{
	uint64_t hash = split_mix(&seed);

	fill_state(random->state, hash_text(hash_text(hash, name), purpose));
	random->gsl = (gsl_rng){.type = &random_gsl_type, .state = random->state};
}

void random_init(struct random *random, const struct block *block, const char *purpose)
{
	random_init_named(random, sim_seed(block->sim), block->name, purpose);
}

/* Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019. */
uint64_t random_below(struct random *random, uint64_t bound)
{
	unsigned __int128 product = (unsigned __int128)random_u64(random) * bound;

	assert(bound > 0);
	if ((uint64_t)product < bound) {
		uint64_t reject_below = (0 - bound) % bound;

		while ((uint64_t)product < reject_below)
			product = (unsigned __int128)random_u64(random) * bound;
	}
	return (uint64_t)(product >> 64);
}

static void gsl_set(void *state, unsigned long seed)
{
	fill_state(state, seed);
}

static unsigned long gsl_get(void *state)
{
	return random_step(state);
}

static double gsl_get_double(void *state)
{
	return (double)(random_step(state) >> 11) * 0x1p-53;
}

_Static_assert(sizeof(unsigned long) == 8, "gsl_rng_get() hands out all 64 bits");
const gsl_rng_type random_gsl_type = {
	.name = "xoshiro256**",
	.max = UINT64_MAX,
	.min = 0,
	.size = 4 * sizeof(uint64_t),
	.set = gsl_set,
	.get = gsl_get,
	.get_double = gsl_get_double,
};
