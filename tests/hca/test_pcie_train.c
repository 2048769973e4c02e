/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that trains of packets have exactly the times of single packets, also with DLLPs and with
 * packets that pass. Splits of a train lose no packet, and the counts of TLPs agree with the
 * division of a transfer into TLPs.
 */
#include "hca/host/pcie_link.h"
#include "hca/host/tlp.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)     \
	TEST(times)     \
	TEST(gaps)      \
	TEST(splits)    \
	TEST(same_time) \
	TEST(counts)
SUITE(TESTS)

enum { RUNS = 2000 };

static struct random dice;

static uint64_t pick(uint64_t first, uint64_t last)
{
	return first + random_u64(&dice) % (last - first + 1);
}

/* Sends packets as trains on one link, and one by one on the other link. */
static void test_times(void)
{
	struct pcie_link trains, singles;
	sim_time ready = 0;

	random_init_named(&dice, 1, "test", "times");
	pcie_link_init_counted(&trains, 3, 8);
	pcie_link_init_counted(&singles, 3, 8);
	for (int run = 0; run < RUNS; run++) {
		uint32_t packets = (uint32_t)pick(1, 20);
		uint64_t bytes = pick(12, 600), dllps = pick(0, 2), times = 0;
		struct pcie_train train;

		ready += pick(0, 2 * US);
		if (pick(0, 9) == 0) {
			pcie_link_pass(&trains, ready, 0, 88);
			pcie_link_pass(&singles, ready, 0, 88);
		}
		pcie_link_owe(&trains, dllps);
		pcie_link_owe(&singles, dllps);
		pcie_link_send_train(&trains, &train, ready, 0, bytes, packets);
		CU_ASSERT(train.packets == packets || train.packets == 1);
		for (uint32_t i = 0; i < train.packets; i++)
			times += pcie_link_send(&singles, ready, bytes);
		CU_ASSERT_EQUAL(train.times, times);
		CU_ASSERT_EQUAL(train.last, singles.free_at);
		CU_ASSERT_EQUAL(trains.free_at, singles.free_at);
		CU_ASSERT_EQUAL(trains.remainder, singles.remainder);
	}
}

/* Packets that are ready later than the link is free do not form a train. 1 ns a byte. */
static void test_gaps(void)
{
	struct pcie_train train;
	struct pcie_link link;

	pcie_link_init(&link, 1, 4, 0);
	pcie_link_send_train(&link, &train, 0, 99999, 100, 5);
	CU_ASSERT_EQUAL(train.packets, 5);
	pcie_link_send_train(&link, &train, 500 * NS, 100 * NS, 100, 5);
	CU_ASSERT_EQUAL(train.packets, 1);
	CU_ASSERT_EQUAL(link.free_at, 600 * NS);
	pcie_link_pass(&link, 1000 * NS, 0, 88);
	pcie_link_send_train(&link, &train, 600 * NS, 0, 100, 5);
	CU_ASSERT_EQUAL(train.packets, 1);
	CU_ASSERT_EQUAL(link.free_at, 700 * NS);
}

static void test_splits(void)
{
	random_init_named(&dice, 1, "test", "splits");
	for (int run = 0; run < RUNS; run++) {
		uint32_t packets = (uint32_t)pick(1, 20), before = 0;
		struct pcie_link link;
		struct pcie_train train, head, all;
		sim_time until, times = 0, last = 0;

		pcie_link_init(&link, (uint32_t)pick(1, 6), 8, 0.03);
		pcie_link_send_train(&link, &train, pick(0, 100), 0, pick(12, 600), packets);
		pcie_train_delay(&train, 1000);
		until = pick(900, train.last + 100);
		for (all = train; all.packets && all.at <= until; pcie_train_next(&all)) {
			times += all.at;
			last = all.at;
			before++;
		}
		head = pcie_train_split(&train, until);
		CU_ASSERT_EQUAL(head.packets, before);
		CU_ASSERT_EQUAL(train.packets, packets - before);
		if (head.packets) {
			CU_ASSERT_EQUAL(head.times, times);
			CU_ASSERT_EQUAL(head.last, last);
		}
		if (train.packets) {
			CU_ASSERT_EQUAL(train.at, all.at);
			CU_ASSERT_EQUAL(train.times, all.times);
			pcie_train_skip(&train, train.packets - 1);
			CU_ASSERT_EQUAL(train.at, train.last);
			CU_ASSERT_EQUAL(train.times, train.last);
			pcie_train_skip(&train, 1);
			CU_ASSERT_EQUAL(train.packets, 0);
		}
	}
}

static void test_same_time(void)
{
	struct pcie_train train;

	pcie_train_init(&train, 70, 3);
	CU_ASSERT_EQUAL(train.times, 210);
	pcie_train_next(&train);
	CU_ASSERT_EQUAL(train.at, 70);
	CU_ASSERT_EQUAL(pcie_train_split(&train, 69).packets, 0);
	CU_ASSERT_EQUAL(pcie_train_split(&train, 70).packets, 2);
	CU_ASSERT_EQUAL(train.packets, 0);
}

static void test_counts(void)
{
	random_init_named(&dice, 1, "test", "counts");
	for (int run = 0; run < RUNS; run++) {
		uint64_t address = pick(0, 20000), most = UINT64_C(128) << pick(0, 5);
		uint32_t length = (uint32_t)pick(1, 20000), at = 0, first = 0;
		uint64_t count = 0, equal = 0;

		for (; at < length; count++) {
			uint32_t part = tlp_first_length(address + at, length - at, most);

			CU_ASSERT_EQUAL(tlp_span(address, length, most, count), at);
			first = first ? first : part;
			if (equal == count && part == first &&
			    (address + at) / TLP_PAGE_BYTES == address / TLP_PAGE_BYTES)
				equal++;
			at += part;
		}
		CU_ASSERT_EQUAL(tlp_count(address, length, most), count);
		CU_ASSERT_EQUAL(tlp_span(address, length, most, count), length);
		CU_ASSERT_EQUAL(tlp_first_count(address, length, most), equal);
	}
}
