/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the law of order on random receives (docs/explanation/laws.md). CQEs of a receive queue
 * have the order of its WQEs: successful ones, at most one error, then flushed ones. The error
 * belongs to the first receive that is too short for its message or whose key has no region. Each
 * message is in the buffer of its own WQE. Covers RC, UC and UD, both link layers, any MTU, early
 * and late ACKs.
 *
 * HCASIM_LAWS_SEED is the seed (default 1), HCASIM_LAWS_CASES the number of cases.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/device/hca.h"
#include "hca/formats/cqe.h"
#include "sim/random.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST) TEST(order_of_random_receives)
SUITE(TESTS)

enum {
	RECEIVES_MAX = 12,
	PLACE = 32768, /* from one buffer to the next */
	BYTES_MAX = 20000,
	GRH = 40,
	QKEY = 0x11111111,
	TOO_LONG = 0x01,
	PROTECTION = 0x04,
	FLUSHED = 0x05
};

struct drawn {
	enum qp_type type;
	enum link_layer link_layer;
	uint32_t mtu;
	unsigned receives, messages;
	uint32_t room[RECEIVES_MAX], length[RECEIVES_MAX];
	bool bad_key[RECEIVES_MAX];
	enum ack_when ack_when;
};

static uint32_t below(struct random *random, uint32_t limit)
{
	return (uint32_t)gsl_rng_uniform_int(&random->gsl, limit);
}

static struct drawn draw(struct random *random)
{
	static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};
	struct drawn drawn = {
		.type = types[below(random, 3)],
		.link_layer = below(random, 2) ? LINK_ETHERNET : LINK_INFINIBAND,
		.mtu = 1024u << below(random, 3),
		.receives = 2 + below(random, RECEIVES_MAX - 1),
		.ack_when = below(random, 2) ? ACK_LATE : ACK_EARLY,
	};
	uint32_t most = drawn.type == QP_UD ? drawn.mtu : BYTES_MAX;
	uint32_t header = drawn.type == QP_UD ? GRH : 0;

	drawn.messages = 1 + below(random, drawn.receives);
	for (unsigned i = 0; i < drawn.receives; i++) {
		drawn.length[i] = 1 + below(random, below(random, 2) ? most : 64);
		drawn.room[i] = drawn.length[i] + header + below(random, 64);
		if (!below(random, 6)) /* too short, by a byte or more */
			drawn.room[i] =
				drawn.length[i] + header - 1 - below(random, drawn.length[i]);
		else
			drawn.bad_key[i] = !below(random, 8);
	}
	return drawn;
}

static void send(struct rig *rig, const struct drawn *drawn, unsigned number)
{
	uint8_t vector[48] = {0};

	be32_put(vector, QKEY);
	be32_put(vector + 8, rig->peer->number | UINT32_C(0x80000000));
	be16_put(vector + 14, 2);
	mini_fill(rig->one, rig->source + number * PLACE, drawn->length[number], number + 1);
	mini_post(rig->qp, &(struct mini_send){.opcode = WQE_SEND,
					       .address = rig->source + number * PLACE,
					       .length = drawn->length[number],
					       .vector = drawn->type == QP_UD ? vector : NULL});
}

static uint8_t expected(const struct drawn *drawn, unsigned number)
{
	uint32_t header = drawn->type == QP_UD ? GRH : 0;

	if (drawn->room[number] < drawn->length[number] + header)
		return TOO_LONG;
	return drawn->bad_key[number] ? PROTECTION : 0;
}

/* Returns the violated rule, or NULL. */
static const char *judge(struct rig *rig, const struct drawn *drawn)
{
	uint32_t header = drawn->type == QP_UD ? GRH : 0;
	bool over = false;
	struct mini_wc wc;
	unsigned i;

	for (i = 0; mini_poll(rig->peer->recv_cq, &wc); i++) {
		uint8_t status = wc.opcode == CQE_RECEIVE_ERROR ? (uint8_t)wc.syndrome : 0;
		uint8_t wanted = over || i >= drawn->messages ? FLUSHED : expected(drawn, i);

		if (wc.wqe_counter != i)
			return "a CQE before that of an earlier WQE";
		if (status != wanted)
			return "another status";
		if (!status && wc.byte_count != drawn->length[i] + header)
			return "another length";
		if (!status && !mini_matches(rig->other, rig->target + i * PLACE + header,
					     drawn->length[i], i + 1))
			return "another message's data";
		over |= status != 0;
	}
	return i == drawn->receives ? NULL : "fewer or more CQEs than WQEs";
}

static const char *play(const struct drawn *drawn)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	const char *wrong;
	struct rig rig;

	mini->params.transport.ack_when = drawn->ack_when;
	rig = rig_create_on(mini, drawn->type, drawn->link_layer, drawn->mtu);
	for (unsigned i = 0; i < drawn->receives; i++) {
		uint64_t target = rig.target + i * PLACE;

		if (drawn->bad_key[i])
			mini_receive_key(rig.peer, target, drawn->room[i], 0x12345600);
		else
			mini_receive(rig.peer, target, drawn->room[i]);
	}
	for (unsigned i = 0; i < drawn->messages; i++)
		send(&rig, drawn, i);
	mini_run(mini);
	mini_to(rig.peer, STATE_ERR); /* the remaining requests end, too */
	mini_run(mini);
	wrong = judge(&rig, drawn);
	rig_destroy(&rig);
	return wrong;
}

static void show(const struct drawn *drawn)
{
	printf("  type %d, link layer %d, MTU %" PRIu32 ", ACKs %d, %u messages\n", drawn->type,
	       drawn->link_layer, drawn->mtu, drawn->ack_when, drawn->messages);
	for (unsigned i = 0; i < drawn->receives; i++)
		printf("  receive %u: room %" PRIu32 " B%s, message of %" PRIu32 " B\n", i,
		       drawn->room[i], drawn->bad_key[i] ? ", key of no region" : "",
		       drawn->length[i]);
}

static uint64_t asked(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void test_order_of_random_receives(void)
{
	uint64_t seed = asked("HCASIM_LAWS_SEED", 1), cases = asked("HCASIM_LAWS_CASES", 300);
	struct random random;

	random_init_named(&random, seed, "receives", "laws");
	for (uint64_t i = 0; i < cases; i++) {
		struct drawn drawn = draw(&random);
		const char *wrong = play(&drawn);

		CU_ASSERT_PTR_NULL(wrong);
		if (!wrong)
			continue;
		while (drawn.receives > 1) { /* the case is reduced from its end */
			struct drawn smaller = drawn;

			smaller.receives--;
			if (smaller.messages > smaller.receives)
				smaller.messages--;
			if (!play(&smaller))
				break;
			drawn = smaller;
		}
		printf("seed %" PRIu64 ", case %" PRIu64 ": %s\n", seed, i, play(&drawn));
		show(&drawn);
		return;
	}
}
