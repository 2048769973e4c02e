/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the numbers of a stream depend only on the run's seed, the block's name and the
 * purpose. They are those of xoshiro256**, and GSL draws from the same stream.
 */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                       \
	TEST(algorithm)                   \
	TEST(independent_of_other_blocks) \
	TEST(names_and_seeds_differ)      \
	TEST(gsl_draws_from_it)           \
	TEST(below_and_chance)
SUITE(TESTS)

static const struct block_type plain = {.name = "plain"};

/* The first numbers from the state 1, 2, 3, 4 are those of the authors' C code. */
static void test_algorithm(void)
{
	uint64_t state[4] = {1, 2, 3, 4};

	CU_ASSERT_EQUAL(random_step(state), 11520);
	CU_ASSERT_EQUAL(random_step(state), 0);
	CU_ASSERT_EQUAL(random_step(state), 1509978240);
	CU_ASSERT_EQUAL(random_step(state), UINT64_C(1215971899390074240));
}

static void test_independent_of_other_blocks(void)
{
	uint64_t expected[8];

	for (int extra = 0; extra < 2; extra++) {
		struct sim *sim = sim_create(SIM_ENGINE_native, 42);
		struct block other, link;
		struct random random, noise;

		if (extra != 0) {
			block_init(&other, sim, &plain, "other", NULL, NULL);
			random_init(&noise, &other, "loss");
			random_u64(&noise);
		}
		block_init(&link, sim, &plain, "link", NULL, NULL);
		random_init(&random, &link, "loss");
		for (int i = 0; i < 8; i++) {
			if (extra == 0)
				expected[i] = random_u64(&random);
			else
				CU_ASSERT_EQUAL(random_u64(&random), expected[i]);
		}
		block_fini(&link);
		if (extra != 0)
			block_fini(&other);
		sim_destroy(sim);
	}
}

static void test_names_and_seeds_differ(void)
{
	struct random streams[5];
	uint64_t first[5];

	random_init_named(&streams[0], 1, "a", "bc");
	random_init_named(&streams[1], 1, "ab", "c");
	random_init_named(&streams[2], 2, "a", "bc");
	random_init_named(&streams[3], 1, "a", "bd");
	random_init_named(&streams[4], 1, "", "abc");
	for (int i = 0; i < 5; i++) {
		first[i] = random_u64(&streams[i]);
		for (int j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(first[i], first[j]);
	}
}

static void test_gsl_draws_from_it(void)
{
	struct random one, other;
	double sum = 0;

	random_init_named(&one, 1, "x", "y");
	random_init_named(&other, 1, "x", "y");
	CU_ASSERT_EQUAL(gsl_rng_get(&one.gsl), random_u64(&other));
	CU_ASSERT_EQUAL(gsl_rng_uniform(&one.gsl), random_unit(&other));
	for (int i = 0; i < 100000; i++)
		sum += gsl_ran_exponential(&one.gsl, 5.0);
	CU_ASSERT_TRUE(fabs(sum / 100000 - 5.0) < 0.05); /* three standard deviations */
}

static void test_below_and_chance(void)
{
	struct random random;
	const uint64_t wide = UINT64_C(3) << 62;
	unsigned counts[7] = {0}, thirds[3] = {0}, hits = 0;

	random_init_named(&random, 3, "x", "y");
	for (int i = 0; i < 70000; i++)
		counts[random_below(&random, 7)]++;
	for (int i = 0; i < 7; i++)
		CU_ASSERT_TRUE(counts[i] > 9600 && counts[i] < 10400);
	/* four words of 64 bits for three numbers: one of the four is rejected, or a third of the
	 * numbers came twice as often */
	for (int i = 0; i < 30000; i++)
		thirds[random_below(&random, wide) % 3]++;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_TRUE(thirds[i] > 9700 && thirds[i] < 10300);
	for (int i = 0; i < 100000; i++)
		hits += random_chance(&random, 0.01);
	CU_ASSERT_TRUE(hits > 900 && hits < 1100);
	CU_ASSERT_FALSE(random_chance(&random, 0));
	CU_ASSERT_TRUE(random_chance(&random, 1));
}
