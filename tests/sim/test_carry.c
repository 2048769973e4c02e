/* SPDX-License-Identifier: Apache-2.0 */
/* Tests carry.h: what one side writes, the other side reads, with the same function. */
#include <string.h>

#include "sim/carry.h"
#include "tests/support/suite.h"

#define TESTS(TEST)           \
	TEST(round_trip)      \
	TEST(zeros_are_short) \
	TEST(empty)
SUITE(TESTS)

#define WORDS 37

struct object {
	uint64_t words[WORDS];
	uint32_t number;
	bool flag;
};

static void carry_object(struct object *object, struct carry *carry)
{
	CARRY(carry, object->flag);
	carry_words(carry, object->words, WORDS);
	CARRY(carry, object->number);
}

static struct object make(unsigned seed)
{
	struct object object = {.number = 7 * seed, .flag = seed % 2};

	for (unsigned i = 0; i < WORDS; i++)
		object.words[i] = (i + seed) % 3 ? 0 : UINT64_MAX / (i + 1);
	return object;
}

/* Moves the bytes as a message does. */
static void deliver(const struct carry *from, struct carry *to)
{
	carry_read(to, from->count);
	memcpy(to->bytes, from->bytes, from->count);
}

static void test_round_trip(void)
{
	struct carry out = {0}, in = {0};

	for (unsigned round = 0; round < 3; round++) {
		carry_write(&out);
		for (unsigned i = 0; i < 50; i++) {
			struct object object = make(round + i);

			carry_object(&object, &out);
		}
		deliver(&out, &in);
		for (unsigned i = 0; i < 50; i++) {
			struct object expected = make(round + i), found;

			memset(&found, 0xff, sizeof(found));
			CU_ASSERT_FALSE(carry_ends(&in));
			carry_object(&found, &in);
			CU_ASSERT_EQUAL(memcmp(found.words, expected.words, sizeof(found.words)),
					0);
			CU_ASSERT_EQUAL(found.number, expected.number);
			CU_ASSERT_EQUAL(found.flag, expected.flag);
		}
		CU_ASSERT_TRUE(carry_ends(&in));
	}
	carry_fini(&out);
	carry_fini(&in);
}

static void test_zeros_are_short(void)
{
	uint64_t words[64] = {[5] = 1, [63] = 2};
	struct carry out = {0}, in = {0};

	carry_words(&out, words, 64);
	CU_ASSERT_EQUAL(out.count, 3 * sizeof(uint64_t));
	deliver(&out, &in);
	memset(words, 0xff, sizeof(words));
	carry_words(&in, words, 64);
	for (unsigned i = 0; i < 64; i++)
		CU_ASSERT_EQUAL(words[i], i == 5 ? 1 : i == 63 ? 2 : 0);
	carry_fini(&out);
	carry_fini(&in);
}

static void test_empty(void)
{
	struct carry out = {0}, in = {0};

	carry_write(&out);
	carry_read(&in, out.count);
	CU_ASSERT_TRUE(carry_ends(&in));
	carry_fini(&in);
}
