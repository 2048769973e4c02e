/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests rules of the PCIe link beyond single transactions, to the picosecond: credits by kind, the
 * share of DLLPs and SKIP, flits of generation 6. Also a switch on the path, strict and relaxed
 * ordering, loads of a CPU, and stores that are never accepted.
 */
#include <string.h>

#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(posted_headers)    \
	TEST(posted_data)       \
	TEST(nonposted_headers) \
	TEST(guide)             \
	TEST(dllps_counted)     \
	TEST(flits)             \
	TEST(switch)            \
	TEST(read_ordering)     \
	TEST(load)              \
	TEST(refused_stores)
SUITE(TESTS)

enum { ENDS_MAX = 64 };

static struct sim *sim;
static struct pcie *pcie;
static struct pcie_params params;
static struct pcie_read reads[ENDS_MAX];
static struct pcie_write writes[ENDS_MAX];
static sim_time read_at[ENDS_MAX], write_at[ENDS_MAX];

static void params_round(void)
{
	round_link(&params);
	params.mmio_read_latency = 600 * NS;
	params.credit_latency = 0;
}

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	pcie = pcie_create(sim, "pcie", &params);
}

static void end(void)
{
	sim_run(sim, SIM_NEVER);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static void note_read(struct pcie_read *read)
{
	read_at[read - reads] = sim_now(sim);
}

static void note_write(struct pcie_write *write)
{
	write_at[write - writes] = sim_now(sim);
}

static void start_read(int i, uint64_t address, uint32_t length, bool relaxed)
{
	reads[i] = (struct pcie_read){.memory = memory_none(),
				      .address = address,
				      .length = length,
				      .relaxed = relaxed,
				      .done = note_read};
	pcie_read(pcie, &reads[i]);
}

static void start_write(int i, uint64_t address, uint32_t length, bool relaxed)
{
	writes[i] = (struct pcie_write){.memory = memory_none(),
					.address = address,
					.length = length,
					.relaxed = relaxed,
					.done = note_write};
	pcie_write(pcie, &writes[i]);
}

/* Two headers: the third small write leaves when the first is visible and its credit is back,
 * however much data fits. */
static void test_posted_headers(void)
{
	params_round();
	params.posted_headers = 2;
	params.credit_latency = 30 * NS;
	begin();
	for (int i = 0; i < 4; i++)
		start_write(i, 64 * (uint64_t)i, 16, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[0], (40 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[1], (80 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[2], (190 + 30 + 40 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[3], (190 + 30 + 80 + 150) * NS); /* the second's is back at 260 */
	CU_ASSERT_EQUAL(pcie_counters(pcie)->write_stalls, 2);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->posted_headers_returned, 4);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->posted_data_returned, 4);
	end();
}

/* Data is counted in 16 B: 17 B are two credits. */
static void test_posted_data(void)
{
	params_round();
	params.mps = 128;
	params.posted_data_credits = 128;
	begin();
	for (int i = 0; i < 5; i++)
		start_write(i, 64 * (uint64_t)i, 17, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[3], (4 * 41 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[4], (41 + 150 + 41 + 150) * NS);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->posted_data_taken, 10);
	end();
}

/* One header for read requests: it is back when the request is on its way to memory, before its
 * completion. */
static void test_nonposted_headers(void)
{
	params_round();
	params.nonposted_headers = 1;
	params.credit_latency = 30 * NS;
	begin();
	for (int i = 0; i < 3; i++)
		start_read(i, 0, 64, false);
	start_write(0, 0, 64, false); /* passes the reads that wait */
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], 608 * NS);
	CU_ASSERT_EQUAL(write_at[0], (24 + 88 + 150) * NS);
	/* its request leaves at 154 + 24, is at the host at 278, after the write is visible */
	CU_ASSERT_EQUAL(read_at[1], (154 + 24 + 100 + 300 + 84 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[2], (308 + 24 + 100 + 300 + 84 + 100) * NS);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->nonposted_headers_returned, 3);
	CU_ASSERT(pcie_counters(pcie)->request_credit_stalls >= 2);
	end();
}

/* The rates for TLPs and data are those of the guide tables of pciebench's published model.
 * Gb/s. */
static void test_guide(void)
{
	static const struct {
		uint32_t generation;
		uint64_t lanes, payload;
		double tlp, write, read, step;
	} rows[] = {
		{3, 8, 256, 57.88, 52.9, 53.7, 0.1}, {3, 8, 128, 56.67, 0, 0, 0.01},
		{3, 16, 256, 0, 104, 0, 0.5},        {4, 16, 256, 0, 208, 0, 0.5},
		{5, 16, 256, 0, 416, 0, 0.5},        {5, 16, 512, 0, 438, 0, 0.5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pcie_link link;
		double gbps, payload = (double)rows[i].payload;

		pcie_link_init_guide(&link, rows[i].generation, rows[i].lanes, rows[i].payload);
		gbps = (double)pcie_link_tlp_bps(&link) / 1e9;
		if (rows[i].tlp > 0)
			CU_ASSERT_DOUBLE_EQUAL(gbps, rows[i].tlp, 0.006);
		if (rows[i].write > 0)
			CU_ASSERT_DOUBLE_EQUAL(gbps * payload / (payload + 24), rows[i].write,
					       rows[i].step);
		if (rows[i].read > 0)
			CU_ASSERT_DOUBLE_EQUAL(gbps * payload / (payload + 20), rows[i].read,
					       rows[i].step);
	}
	CU_ASSERT_EQUAL(pcie_link_guide_symbols(1, 1, 128), 237);
	CU_ASSERT_EQUAL(pcie_link_guide_symbols(1, 8, 256), 107);
	CU_ASSERT_EQUAL(pcie_link_guide_symbols(1, 16, 512), 86);
	CU_ASSERT_EQUAL(pcie_link_guide_symbols(3, 8, 256), 203);
}

/* DLLPs are counted. They cost nothing on an idle link, and delay the next TLP on a busy link. SKIP
 * takes 4 symbols in 1538. */
static void test_dllps_counted(void)
{
	struct pcie_link link;

	pcie_link_init_counted(&link, 1, 4);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 0, 1534), 1538 * NS);
	pcie_link_owe(&link, 2); /* 16 B */
	CU_ASSERT_EQUAL(pcie_link_send(&link, 1538 * NS, 1534 - 16), 2 * 1538 * NS);
	pcie_link_owe(&link, 2);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 10000 * NS, 1534), 11538 * NS);

	params_round();
	params.dllp = 2;
	params.ack_every = 2;
	begin();
	for (int i = 0; i < 8; i++)
		start_write(i, 0, 256, false);
	for (int i = 0; i < 4; i++)
		start_read(i, 0, 512, false);
	sim_run(sim, SIM_NEVER);
	/* 8 writes and 4 requests: 6 ACKs and 12 updates; 16 completions: 8 ACKs */
	CU_ASSERT_EQUAL(pcie_counters(pcie)->dllps_to_device, 6 + 12);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->dllps_to_host, 8);
	end();
}

/* 256 B at 64 GT/s on 16 lanes take 2 ns. 236 of them carry TLPs. A TLP arrives with its flit. */
static void test_flits(void)
{
	struct pcie_link link;

	pcie_link_init(&link, 6, 16, 0.03);
	CU_ASSERT_EQUAL(link.flit_time, 2 * NS);
	CU_ASSERT_EQUAL(pcie_link_send(&link, 0, 236), 2 * NS); /* no share for DLLPs besides */
	CU_ASSERT_EQUAL(pcie_link_tlp_bps(&link), UINT64_C(944000000000));
	params_round();
	params.generation = 5;
	params.lanes = 16;
	begin();
	start_write(0, 0, 212, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[0], (2 + 100 + 2 + 50) * NS);
	end();
}

static void test_switch(void)
{
	params_round();
	params.switch_latency = 110 * NS;
	begin();
	start_write(0, 0, 64, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[0], (88 + 100 + 110 + 50) * NS);
	start_read(0, 0, 64, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], write_at[0] + (608 + 2 * 110) * NS);
	end();
}

/* Relaxed reads need not wait for a write that is not visible yet; strict ones do, and it is
 * counted. */
static void test_read_ordering(void)
{
	for (int relaxed = 0; relaxed < 2; relaxed++) {
		params_round();
		params.write_latency = 500 * NS;
		params.relaxed_ordering = relaxed;
		begin();
		start_write(0, 0, 64, false);
		start_read(0, 4096, 64, true);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(write_at[0], 688 * NS);
		CU_ASSERT_EQUAL(read_at[0], relaxed ? (88 + 608) * NS : (688 + 300 + 184) * NS);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->order_stalls, !relaxed);
		CU_ASSERT_EQUAL(pcie_counters(pcie)->order_stall_time,
				relaxed ? 0 : (688 - 212) * NS);
		end();
	}
}

static uint64_t load_register(uint64_t offset)
{
	return offset * 3;
}

static void complete_load(void *context, uint64_t offset, void *bytes, uint32_t length)
{
	uint64_t value = load_register(offset);

	CU_ASSERT_PTR_EQUAL(context, &params);
	memcpy(bytes, &value, length);
}

static sim_time load_at;

static void note_load(struct pcie_mmio_read *read)
{
	(void)read;
	load_at = sim_now(sim);
}

static bool ignore_store(void *context, uint64_t offset, const void *bytes, uint32_t length)
{
	(void)context, (void)offset, (void)bytes, (void)length;
	return true;
}

/* A load waits for the stores before it; its completion for the writes before that. */
static void test_load(void)
{
	struct pcie_mmio_read load = {.offset = 7, .length = 8, .done = note_load};
	uint64_t value;

	params_round();
	begin();
	pcie_mmio_attach(pcie, ignore_store, NULL);
	pcie_mmio_read_attach(pcie, complete_load, &params);
	pcie_mmio_read(pcie, &load);
	sim_run(sim, SIM_NEVER);
	memcpy(&value, load.bytes, sizeof(value));
	CU_ASSERT_EQUAL(value, 21);
	CU_ASSERT_EQUAL(load_at, (20 + 24 + 100 + 600 + 28 + 100) * NS);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->mmio_reads, 1);
	end();

	params_round();
	params.write_latency = 5 * US;
	begin();
	pcie_mmio_attach(pcie, ignore_store, NULL);
	pcie_mmio_read_attach(pcie, complete_load, &params);
	start_write(0, 0, 64, false);
	pcie_mmio_write(pcie, 0, &value, 8);
	pcie_mmio_read(pcie, &load);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(load_at, write_at[0]);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->to_device_bytes, 32 + 24);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->to_host_bytes, 88 + 28);
	end();
}

static uint64_t taken, room;
static sim_time taken_at[8];

static bool take_store(void *context, uint64_t offset, const void *bytes, uint32_t length)
{
	(void)context, (void)bytes, (void)length;
	if (taken == room)
		return false;
	CU_ASSERT_EQUAL(offset, taken); /* in order */
	taken_at[taken++] = sim_now(sim);
	return true;
}

/* Three credits, and an adapter with room for one store: it takes the others, and a load behind
 * them, when it says so. */
static void test_refused_stores(void)
{
	struct pcie_mmio_read load = {.length = 8, .done = note_load};
	uint64_t value = 0;
	sim_time ask_at = 0;

	params_round();
	params.store_credits = 3;
	begin();
	taken = load_at = 0;
	room = 1;
	pcie_mmio_attach(pcie, take_store, NULL);
	pcie_mmio_read_attach(pcie, complete_load, &params);
	for (uint64_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(pcie_mmio_room(pcie, &ask_at), 3 - i);
		pcie_mmio_write(pcie, i, &value, 8);
	}
	pcie_mmio_read(pcie, &load);
	CU_ASSERT_EQUAL(pcie_mmio_room(pcie, &ask_at), 0);
	CU_ASSERT_EQUAL(ask_at, (20 + 32 + 100) * NS); /* the first is there then, and taken */
	sim_run(sim, ask_at + 1);
	CU_ASSERT_EQUAL(pcie_mmio_room(pcie, &ask_at), 1);
	pcie_mmio_write(pcie, 3, &value, 8);
	sim_run(sim, 1 * US);
	CU_ASSERT_EQUAL(pcie_mmio_room(pcie, &ask_at), 0);
	CU_ASSERT_EQUAL(ask_at,
			SIM_NEVER); /* the adapter refuses the second: it knows when it has room */
	CU_ASSERT_EQUAL(taken, 1);
	CU_ASSERT_EQUAL(load_at, 0);
	room = 3;
	pcie_mmio_resume(pcie);
	pcie_mmio_resume(pcie);
	CU_ASSERT_EQUAL(taken, 1); /* in a later event */
	sim_run(sim, 2 * US);
	CU_ASSERT_EQUAL(taken, 3);
	CU_ASSERT_EQUAL(taken_at[2], 1 * US);
	CU_ASSERT_EQUAL(load_at, (1000 + 600 + 28 + 100) * NS); /* before the last store */
	room = 4;
	pcie_mmio_resume(pcie);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(taken_at[3], 2 * US);
	CU_ASSERT_EQUAL(pcie_mmio_room(pcie, &ask_at), 3);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->store_stalls, 2);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->store_refusals, 2);
	end();
}
