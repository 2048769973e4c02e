/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a PCIe transaction takes exactly the time of its parts: requests and completions on a
 * link of 1 ns per byte, both latencies, tags, posted credits. The limits by tags and by TLP
 * overhead are right. MMIO writes keep their order and pass completions. The order of reads and
 * writes is in test_pcie_order.c.
 */
#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "tests/hca/support/pcie_alone.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(read_composition)  \
	TEST(one_tag)           \
	TEST(tag_returns_alone) \
	TEST(rate_by_tags)      \
	TEST(rate_of_writes)    \
	TEST(write_packets)     \
	TEST(credits)           \
	TEST(fault)             \
	TEST(mmio)              \
	TEST(mmio_passes)       \
	TEST(mmio_delays_a_tag) \
	TEST(mmio_books)        \
	TEST(raw_rates)         \
	TEST(link_exact)
SUITE(TESTS)

/* One read alone takes request, link, host, completions, and link. */
static void test_read_composition(void)
{
	static const struct {
		uint64_t address;
		uint32_t length;
		uint32_t requests, completions;
		sim_time takes_ns;
	} rows[] = {
		{0, 0, 0, 0, 0},
		{0, 1, 1, 1, 24 + 100 + 300 + 21 + 100},
		{0, 64, 1, 1, 24 + 100 + 300 + 84 + 100},
		{0, 128, 1, 1, 24 + 100 + 300 + 148 + 100},
		{0, 129, 1, 2, 24 + 100 + 300 + 169 + 100},
		{64, 128, 1, 1, 24 + 100 + 300 + 148 + 100},
		{33, 128, 1, 2, 24 + 100 + 300 + 168 + 100},
		{0, 512, 1, 4, 24 + 100 + 300 + 592 + 100},
		{0, 513, 2, 5, 24 + 100 + 300 + 613 + 100},
		{0, 1024, 2, 8, 24 + 100 + 300 + 1184 + 100},
		{4000, 200, 2, 2, 24 + 100 + 300 + 240 + 100}, /* over a page's border */
		{4095, 1, 1, 1, 24 + 100 + 300 + 21 + 100},
		{4095, 2, 2, 2, 24 + 24 + 100 + 300 + 21 + 100}, /* the second request delays it */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pcie_read read;

		params_round();
		begin();
		reads_done = 0;
		read = read_of(rows[i].address, rows[i].length, bytes);
		pcie_read(pcie, &read);
		CU_ASSERT_EQUAL(reads_done, 0);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(reads_done, 1);
		CU_ASSERT_EQUAL(read_at[0], rows[i].takes_ns * NS);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->read_requests, rows[i].requests);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->completions, rows[i].completions);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->to_host_bytes, rows[i].requests * 24);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->to_device_bytes,
				rows[i].completions * 20 + rows[i].length);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->read_stalls, 0);
		CU_ASSERT_FALSE(read.failed);
		end();
	}
}

/* With one tag, requests go out one round trip apart; a read of several requests as well. */
static void test_one_tag(void)
{
	struct pcie_read reads[4], big;

	params_round();
	params.tags = 1;
	begin();
	reads_done = 0;
	for (int i = 0; i < 4; i++) {
		reads[i] = read_of(0, 512, bytes);
		pcie_read(pcie, &reads[i]);
	}
	big = read_of(0, 1024, bytes);
	pcie_read(pcie, &big);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(reads_done, 5);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(read_at[i], (sim_time)(i + 1) * 1116 * NS);
	CU_ASSERT_EQUAL(read_at[4], UINT64_C(6) * 1116 * NS);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_stalls, 4);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->tags_used_max, 1);
	end();
}

/* A tag is free at its own last byte, not when the whole read is done. */
static void test_tag_returns_alone(void)
{
	struct pcie_read first, second;

	params_round();
	params.tags = 2;
	begin();
	reads_done = 0;
	first = read_of(0, 1024, bytes);
	second = read_of(0, 64, bytes);
	pcie_read(pcie, &first);
	pcie_read(pcie, &second);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], (24 + 400 + 1184 + 100) * NS);
	/* the first of two tags is free at 1116 ns; the round trip of 64 B takes 608 ns from there;
	 * its completion at 1540 ns finds the link busy until 1608 ns */
	CU_ASSERT_EQUAL(read_at[1], (1608 + 84 + 100) * NS);
	end();
}

static struct pcie_read many[READS];

/* Rate = tags x MRRS / round trip: 32 tags of 512 B in 1 us are 131 Gb/s. */
static void test_rate_by_tags(void)
{
	sim_time alone, span;
	double bits;

	params_default(pcie_param_list, &params);
	params.generation = 4;
	params.tags = 32;
	for (int round = 0; round < 2; round++) {
		begin();
		reads_done = 0;
		many[0] = read_of(0, 512, NULL);
		pcie_read(pcie, &many[0]);
		sim_run(sim, SIM_NEVER);
		alone = read_at[0];
		if (round == 0)
			params.read_latency += 1 * US - alone;
		end();
	}
	CU_ASSERT_EQUAL(alone, 1 * US);
	begin();
	reads_done = 0;
	for (int i = 0; i < READS; i++) {
		many[i] = read_of(0, 512, NULL);
		pcie_read(pcie, &many[i]);
	}
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->tags_used_max, 32);
	span = read_at[READS - 1] - read_at[READS - 1 - 3168];
	CU_ASSERT_EQUAL(span, 99 * US); /* 3168 = 99 rounds of 32 */
	bits = 3168.0 * 512 * 8 / ((double)span * 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bits, 131.072e9, 1e3);
	end();
}

/* Rate of writes = MPS / (MPS + overhead) x raw x (1 - DLLP share), and each is visible at its
 * exact instant. */
static void test_rate_of_writes(void)
{
	enum { COUNT = 1000 };
	static struct pcie_write writes[COUNT];
	double law, rate;

	params_default(pcie_param_list, &params);
	params.lanes = 8;
	params.posted_data_credits = 16 << 20;
	begin();
	writes_done = 0;
	for (int i = 0; i < COUNT; i++) {
		writes[i] = write_of(0, 4096, NULL);
		pcie_write(pcie, &writes[i]);
	}
	sim_run(sim, SIM_NEVER);
	/* a byte takes 8 / (8e9 x 8 x 128/130 x 0.97) s = 203125/1552 ps */
	for (int i = 0; i < COUNT; i++) {
		sim_time left = (sim_time)(i + 1) * 4480 * 203125 / 1552;

		CU_ASSERT_EQUAL(write_at[i], left + params.link_latency + params.write_latency);
	}
	law = 256.0 / 280 * 8e9 * 8 * 128 / 130 * 0.97;
	rate = (COUNT - 1) * 4096 * 8.0 / ((double)(write_at[COUNT - 1] - write_at[0]) * 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(rate / law, 1, 1e-9);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->write_packets, COUNT * 16);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->write_bytes, COUNT * 4096);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->to_host_bytes, COUNT * 4480);
	end();
}

static void test_write_packets(void)
{
	static const struct {
		uint64_t address;
		uint32_t length, packets;
	} rows[] = {{0, 0, 0},   {0, 1, 1},      {0, 256, 1},
		    {0, 257, 2}, {4000, 256, 2}, {4096, 1024, 4}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pcie_write write;

		params_round();
		begin();
		writes_done = 0;
		write = write_of(rows[i].address, rows[i].length, bytes);
		pcie_write(pcie, &write);
		CU_ASSERT_EQUAL(writes_done, 0);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(writes_done, 1);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->write_packets, rows[i].packets);
		CU_ASSERT_EQUAL(write_at[0],
				rows[i].length ? (rows[i].packets * 24 + rows[i].length + 150) * NS
					       : 0);
		end();
	}
}

/* Writes beyond the posted credits wait, and reads do not pass them. */
static void test_credits(void)
{
	struct pcie_write writes[3];
	struct pcie_read read;

	params_round();
	params.posted_data_credits = 256;
	begin();
	reads_done = writes_done = 0;
	for (int i = 0; i < 3; i++) {
		writes[i] = write_of(0, i < 2 ? 256 : 512,
				     bytes); /* more than all credits: packet by packet */
		pcie_write(pcie, &writes[i]);
	}
	read = read_of(0, 64, bytes);
	pcie_read(pcie, &read);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[0], 430 * NS);
	CU_ASSERT_EQUAL(write_at[1], 860 * NS);
	CU_ASSERT_EQUAL(write_at[2], (860 + 430 + 430) * NS);
	CU_ASSERT_EQUAL(read_at[0], (860 + 430 + 430 + 300 + 84 + 100) * NS);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->write_stalls, 2);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_stalls, 1);
	end();
}

static void test_fault(void)
{
	struct pcie_read read;
	struct pcie_write write;

	params_round();
	begin();
	reads_done = writes_done = 0;
	read = read_of(BUFFER_BYTES - 10, 64, bytes);
	pcie_read(pcie, &read);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT(read.failed);
	CU_ASSERT_EQUAL(read_at[0],
			2 * 24 * NS + (100 + 300 + 20 + 100) * NS); /* two empty completions */
	write = write_of(UINT64_MAX - 64, 64, bytes);
	pcie_write(pcie, &write);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT(write.failed);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->faults, 2);
	end();
}

static struct {
	sim_time at;
	uint64_t offset;
	uint32_t length;
	uint8_t first;
} stores[200];
static int stores_seen;

static bool note_store(void *context, uint64_t offset, const void *data, uint32_t length)
{
	CU_ASSERT_PTR_EQUAL(context, &stores_seen);
	stores[stores_seen].at = sim_now(sim);
	stores[stores_seen].offset = offset;
	stores[stores_seen].length = length;
	stores[stores_seen++].first = *(const uint8_t *)data;
	return true;
}

/* Stores arrive in order, each as a TLP, and more at once than the first ring holds. */
static void test_mmio(void)
{
	uint8_t line[64] = {0};

	params_round();
	begin();
	pcie_mmio_attach(pcie, note_store, &stores_seen);
	stores_seen = 0;
	for (int i = 0; i < 200; i++) {
		line[0] = (uint8_t)i;
		pcie_mmio_write(pcie, 0x800 + (uint64_t)i, line, i == 0 ? 8 : 64);
	}
	CU_ASSERT_EQUAL(stores_seen, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(stores_seen, 200);
	for (int i = 0; i < 200; i++) {
		CU_ASSERT_EQUAL(stores[i].at, (20 + 32 + (sim_time)i * 88 + 100) * NS);
		CU_ASSERT_EQUAL(stores[i].offset, 0x800 + (uint64_t)i);
		CU_ASSERT_EQUAL(stores[i].length, i == 0 ? 8 : 64);
		CU_ASSERT_EQUAL(stores[i].first, i);
	}
	CU_ASSERT_EQUAL(pcie_counters(pcie)->mmio_writes, 200);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->mmio_bytes, 8 + 199 * 64);
	end();
}

/* An MMIO write passes completions that are not ready, and delays them by its time. These are the
 * last four of eight requests, ready at intervals of 24 ns from 424 ns on. */
static void test_mmio_passes(void)
{
	struct pcie_read big, small;

	params_round();
	begin();
	pcie_mmio_attach(pcie, note_store, &stores_seen);
	stores_seen = reads_done = 0;
	big = read_of(0, 4096, bytes);
	small = read_of(0, 512, bytes);
	pcie_read(pcie, &big);
	pcie_read(pcie, &small);
	sim_run(sim, 500 * NS);
	pcie_mmio_write(pcie, 0, bytes, 8);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(stores[0].at, (500 + 20 + 32 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[0], (24 + 400 + 4736 + 32 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[1], (24 + 400 + 4736 + 32 + 592 + 100) * NS);
	end();
}

/* The tag of a request whose completion leaves later returns later, and so does the read that waits
 * for it. The second of three tags; the latency is longer than all completions. */
static void test_mmio_delays_a_tag(void)
{
	struct pcie_read first, second;

	params_round();
	params.tags = 3;
	params.read_latency = 2000 * NS;
	begin();
	pcie_mmio_attach(pcie, note_store, &stores_seen);
	stores_seen = reads_done = 0;
	first = read_of(0, 1536, bytes);
	second = read_of(0, 1024, bytes);
	pcie_read(pcie, &first);
	pcie_read(pcie, &second);
	sim_run(sim, 2130 * NS); /* the first request is ready, the others are not */
	pcie_mmio_write(pcie, 0, bytes, 8);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], (24 + 2100 + 3 * 592 + 32 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[1], read_at[0] - 592 * NS + (24 + 2100 + 592 + 100) * NS);
	end();
}

/* Stores and completions together never exceed the link's rate, also if the link is idle when a
 * later store is booked. Packets that are ready later leave later. Packets that are ready earlier
 * are not delayed. 1 ns a byte. */
static void test_mmio_books(void)
{
	struct pcie_link link;
	sim_time left = 0, gap = 0;

	pcie_link_init(&link, 1, 4, 0);
	CU_ASSERT_EQUAL(pcie_link_pass(&link, 1000 * NS, 0, 88), 1088 * NS);
	CU_ASSERT_EQUAL(pcie_link_pass(&link, 1000 * NS, 1088 * NS, 88), 1176 * NS);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 890 * NS, 100), 990 * NS);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 950 * NS, 100), 1090 * NS); /* it has begun */
	CU_ASSERT_EQUAL(pcie_link_send(&link, 960 * NS, 100), (1190 + 2 * 88) * NS);
	CU_ASSERT_EQUAL(pcie_link_pass(&link, 5000 * NS, 0, 88), 5088 * NS);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 5010 * NS, 100), 5188 * NS);
	/* more stores apart from each other than there are places for bookings */
	for (unsigned i = 0; i < 3 * PCIE_LINK_BOOKINGS; i++)
		left = pcie_link_pass(&link, 10000 * NS, left + gap, 88), gap = 10 * NS;
	CU_ASSERT_EQUAL(left, 10000 * NS + 3 * PCIE_LINK_BOOKINGS * 98 * NS - 10 * NS);
	for (unsigned i = 0; i < 100; i++)
		left = pcie_link_send(&link, 10000 * NS, 100);
	CU_ASSERT_EQUAL(left, 10000 * NS + (100 * 100 + 3 * PCIE_LINK_BOOKINGS * 88) * NS);
}

static void test_raw_rates(void)
{
	CU_ASSERT_EQUAL(pcie_link_raw_bps(1, 8), UINT64_C(16000000000));
	CU_ASSERT_EQUAL(pcie_link_raw_bps(2, 8), UINT64_C(32000000000));
	CU_ASSERT_EQUAL(pcie_link_raw_bps(3, 8), UINT64_C(63015384615));   /* 63.02 Gb/s */
	CU_ASSERT_EQUAL(pcie_link_raw_bps(3, 16), UINT64_C(126030769230)); /* 126.0 */
	CU_ASSERT_EQUAL(pcie_link_raw_bps(4, 16), UINT64_C(252061538461)); /* 252.1 */
	CU_ASSERT_EQUAL(pcie_link_raw_bps(5, 16), UINT64_C(504123076923)); /* 504.1 */
	CU_ASSERT_EQUAL(pcie_link_raw_bps(6, 16), UINT64_C(968000000000)); /* flits of 242 in 256 */
}

/* A train without gaps takes the exact time of its bytes, however it is cut. */
static void test_link_exact(void)
{
	struct pcie_link whole, cut;
	sim_time left = 0;

	pcie_link_init(&whole, 3, 8, 0);
	pcie_link_init(&cut, 3, 8, 0);
	for (int i = 0; i < 1000; i++)
		left = pcie_link_send(&cut, 0, 7);
	CU_ASSERT_EQUAL(left, pcie_link_send(&whole, 0, 7000));
	CU_ASSERT_EQUAL(left, UINT64_C(7000) * 130 * 1000 / 1024); /* 8 x 130/128 bits at 64 Gb/s */
	pcie_link_init(&whole, 1, 4, 0.5);
	CU_ASSERT_EQUAL(pcie_link_send(&whole, 10 * NS, 3), 16 * NS); /* half of the rate */
}
