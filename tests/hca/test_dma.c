/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests DMA transfers. A transfer takes exactly the time of its parts (translation cold and warm,
 * PCIe, the engine's own). It moves exactly the bytes of its list across segments and pages, and
 * ends with the right status. Transfers of one direction end, and become visible, in the order of
 * their start, within the engine's limits.
 */
#include <string.h>

#include "hca/context/translation_params.h"
#include "hca/host/pcie_params.h"
#include "hca/work/dma.h"
#include "hca/work/dma_params.h"
#include "tests/hca/support/module_env.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)    \
	TEST(time)     \
	TEST(bytes)    \
	TEST(status)   \
	TEST(empty)    \
	TEST(order)    \
	TEST(limits)   \
	TEST(no_bytes) \
	TEST(engines)
SUITE(TESTS)

enum { MEMORY_BASE = 0x10000, MEMORY_BYTES = 1 << 18, PD = 3, TRANSFERS = 64 };

static struct sim *sim;
static struct pcie_params pcie_param;
static struct translation_params translation_param;
static struct dma_params dma_param;
static struct pcie *pcie;
static struct mr_table *regions;
static struct translation_unit *unit;
static struct dma_engine *engine;
static struct memory *memory;
static uint32_t key, key_physical, key_read_only, key_unmapped;

static struct dma *done_order[TRANSFERS], *posted_order[TRANSFERS];
static sim_time done_at[TRANSFERS], posted_at[TRANSFERS];
static int done_count, posted_count;

static uint32_t add_region(uint32_t access, bool physical, uint64_t address, uint64_t host_address,
			   uint64_t length)
{
	const struct mr mr = {
		.key = 0x5a,
		.pd = PD,
		.access = access,
		.page_shift = 12,
		.memory = memory,
		.address = address,
		.host_address = host_address,
		.length = length,
		.physical = physical,
		.valid = true,
	};

	return mr_table_add(regions, &mr)->key;
}

/* Sets a link of 1 ns per byte and 100 ns. A read takes 300 ns, a write is visible after 50 ns, and
 * each step on the HCA takes 4 ns. */
static void params_round(void)
{
	round_link(&pcie_param);
	params_default(translation_param_list, &translation_param);
	params_default(icm_cache_mpt_param_list, &translation_param.mpt);
	params_default(icm_cache_mtt_param_list, &translation_param.mtt);
	translation_param.interval = 0;
	translation_param.latency = 4 * NS;
	translation_param.mpt.hit_latency = 4 * NS;
	translation_param.mtt.hit_latency = 4 * NS;
	params_default(dma_param_list, &dma_param);
	dma_param.latency = 4 * NS;
}

static void begin(enum sim_engine event_engine)
{
	sim = sim_create(module_env(event_engine, &dma_param.module), 1);
	pcie = pcie_create(sim, "pcie", &pcie_param);
	regions = mr_table_create(16);
	unit = translation_unit_create(sim, "translation", &translation_param, pcie, regions);
	engine = dma_engine_create(sim, "dma", &dma_param, unit, pcie);
	memory = memory_buffer_create(MEMORY_BASE, MEMORY_BYTES);
	for (uint32_t i = 0; i < MEMORY_BYTES; i++)
		memory_write(memory, MEMORY_BASE + i,
			     (const uint8_t[]){(uint8_t)(i * 7 + (i >> 8))}, 1);
	key = add_region(MR_LOCAL_WRITE, false, 0x7000000, MEMORY_BASE, 0x20000);
	key_physical = add_region(MR_LOCAL_WRITE, true, 0, MEMORY_BASE + 0x20000, 0x10000);
	key_read_only = add_region(0, true, 0, MEMORY_BASE, 0x1000);
	key_unmapped = add_region(MR_LOCAL_WRITE, true, 0, 0x1000, 0x1000);
	done_count = posted_count = 0;
}

static void end(void)
{
	const struct dma_counters *count = dma_counters(engine);
	const struct icm_cache_counters *mpt = translation_mpt_counters(unit);
	const struct icm_cache_counters *mtt = translation_mtt_counters(unit);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(count->gathers, count->gathers_done);
	CU_ASSERT_EQUAL(count->scatters, count->scatters_done);
	CU_ASSERT_EQUAL(mpt->lookups, mpt->hits + mpt->misses + mpt->merges);
	CU_ASSERT_EQUAL(mtt->lookups, mtt->hits + mtt->misses + mtt->merges);
	CU_ASSERT_EQUAL(count->pieces, translation_counters(unit)->translations);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, pcie_counters(pcie)->reads_done);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->writes, pcie_counters(pcie)->writes_done);
	memory_buffer_destroy(memory);
	dma_engine_destroy(engine);
	translation_unit_destroy(unit);
	mr_table_destroy(regions);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static void note_done(struct dma *dma)
{
	done_order[done_count] = dma;
	done_at[done_count++] = sim_now(sim);
}

static void note_posted(struct dma *dma)
{
	posted_order[posted_count] = dma;
	posted_at[posted_count++] = sim_now(sim);
}

static struct dma dma_of(enum dma_direction direction, const struct data_segment *segments,
			 uint32_t segment_count, uint32_t offset, uint32_t length, void *bytes)
{
	return (struct dma){
		.segments = segments,
		.segment_count = segment_count,
		.offset = offset,
		.length = length,
		.direction = direction,
		.access = direction == DMA_SCATTER ? MR_LOCAL_WRITE : 0,
		.pd = PD,
		.bytes = bytes,
		.done = note_done,
		.posted = note_posted,
	};
}

static void run(struct dma *dma)
{
	int before = done_count;

	dma_start(engine, dma);
	CU_ASSERT_EQUAL(done_count, before); /* never from the call */
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_count, before + 1);
}

/* A cold transfer takes the MPT read (608 ns), the MTT read (552 ns), then the bytes. A warm
 * transfer takes only the bytes. */
static void test_time(void)
{
	struct data_segment paged, physical;
	uint8_t bytes[64];
	struct dma dma;
	sim_time start;

	params_round();
	begin(SIM_ENGINE_native);
	paged = (struct data_segment){0x7000000, 64, key};
	dma = dma_of(DMA_GATHER, &paged, 1, 0, 64, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_OK);
	CU_ASSERT_EQUAL(done_at[0], (608 + 4 + 552 + 4 + 4 + 608 + 4) * NS);
	start = sim_now(sim);
	run(&dma);
	CU_ASSERT_EQUAL(done_at[1] - start, (4 + 4 + 4 + 608 + 4) * NS);
	physical = (struct data_segment){0, 64, key_physical};
	dma = dma_of(DMA_GATHER, &physical, 1, 0, 64, bytes);
	run(&dma);
	start = sim_now(sim);
	run(&dma); /* warm, and no MTT */
	CU_ASSERT_EQUAL(done_at[3] - start, (4 + 4 + 608 + 4) * NS);
	start = sim_now(sim);
	dma = dma_of(DMA_SCATTER, &physical, 1, 0, 64, bytes);
	run(&dma); /* 88 B on the link */
	CU_ASSERT_EQUAL(done_at[4] - start, (4 + 4 + 88 + 150 + 4) * NS);
	CU_ASSERT_EQUAL(posted_at[0] - start, (4 + 4) * NS);
	end();
}

/* Transfers over 5 segments and 3 page borders, from each offset, move all bytes in both
 * directions, and no other byte. */
static void test_bytes(void)
{
	static uint8_t bytes[20000], before[MEMORY_BYTES], after[MEMORY_BYTES], flat[20000];
	const uint32_t offsets[] = {0, 1, 99, 100, 101, 4999, 5100, 10000};

	params_round();
	begin(SIM_ENGINE_native);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		const struct data_segment list[] = {
			{0x7000000 + 4090, 100, key},      {17, 5000, key_physical},
			{0x7000000 + 9000, 0, 0xdead0000}, {0x7000000 + 12288, 4096, key},
			{0x7000000 + 20479, 1000, key},
		};
		uint32_t length = 100 + 5000 + 4096 + 1000 - offsets[i];
		uint32_t place = 0;
		struct dma dma;

		if (offsets[i] >= 10000)
			length = 100;
		CU_ASSERT(memory_read(memory, MEMORY_BASE, before, MEMORY_BYTES));
		for (size_t s = 0; s < ARRAY_SIZE(list); s++) {
			uint64_t from = list[s].key == key ? list[s].address - 0x7000000
							   : list[s].address + 0x20000;

			if (list[s].length == 0)
				continue;
			memcpy(flat + place, before + from, list[s].length);
			place += list[s].length;
		}
		memset(bytes, 0, sizeof(bytes));
		dma = dma_of(DMA_GATHER, list, ARRAY_SIZE(list), offsets[i], length, bytes);
		run(&dma);
		CU_ASSERT_EQUAL(dma.status, DMA_OK);
		CU_ASSERT_EQUAL(memcmp(bytes, flat + offsets[i], length), 0);
		CU_ASSERT_EQUAL(bytes[length], 0);

		for (uint32_t b = 0; b < length; b++)
			bytes[b] = (uint8_t)(bytes[b] ^ 0xff);
		dma = dma_of(DMA_SCATTER, list, ARRAY_SIZE(list), offsets[i], length, bytes);
		run(&dma);
		CU_ASSERT_EQUAL(dma.status, DMA_OK);
		CU_ASSERT(memory_read(memory, MEMORY_BASE, after, MEMORY_BYTES));
		place = 0;
		for (size_t s = 0; s < ARRAY_SIZE(list); s++) {
			uint64_t to = list[s].key == key ? list[s].address - 0x7000000
							 : list[s].address + 0x20000;

			for (uint32_t b = 0; b < list[s].length; b++, place++)
				if (place >= offsets[i] && place < offsets[i] + length)
					before[to + b] = (uint8_t)(before[to + b] ^ 0xff);
		}
		CU_ASSERT_EQUAL(memcmp(before, after, MEMORY_BYTES), 0);
	}
	end();
}

static void test_status(void)
{
	struct data_segment list[3];
	uint8_t bytes[300], seen[300];
	struct dma dma;
	uint64_t writes;

	params_round();
	begin(SIM_ENGINE_native);
	memset(bytes, 0xee, sizeof(bytes));
	list[0] = (struct data_segment){0, 100, key_physical};
	list[1] = (struct data_segment){4096, 100, key_physical};
	list[2] = (struct data_segment){8192, 100, key_physical};

	dma = dma_of(DMA_SCATTER, list, 3, 0, 301, bytes); /* one byte more than the list has */
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_TOO_SHORT);
	dma = dma_of(DMA_SCATTER, list, 3, 201, 100, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_TOO_SHORT);
	dma = dma_of(DMA_GATHER, list, 0, 0, 1, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_TOO_SHORT);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->writes, 0);
	CU_ASSERT_EQUAL(dma_counters(engine)->pieces, 0);

	/* the middle entry has no such key: the data before it is written, the data after it is
	 * not */
	list[1].key = key_physical ^ 1;
	dma = dma_of(DMA_SCATTER, list, 3, 0, 300, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_PROTECTION);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->writes, 1);
	CU_ASSERT(memory_read(memory, MEMORY_BASE + 0x20000, seen, 101));
	CU_ASSERT_EQUAL(memcmp(seen, bytes, 100), 0);
	CU_ASSERT_NOT_EQUAL(seen[100], 0xee);
	CU_ASSERT(memory_read(memory, MEMORY_BASE + 0x20000 + 8192, seen, 100));
	CU_ASSERT_NOT_EQUAL(memcmp(seen, bytes, 100), 0);
	dma = dma_of(DMA_GATHER, list, 3, 0, 300, seen);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_PROTECTION);

	list[1].key = key_read_only;
	list[1].address = 0;
	writes = pcie_counters(pcie)->writes;
	dma = dma_of(DMA_SCATTER, list + 1, 1, 0, 100, bytes); /* no right to write */
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_PROTECTION);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->writes, writes);
	dma = dma_of(DMA_GATHER, list + 1, 1, 0, 100, bytes); /* but to read */
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_OK);
	dma = dma_of(DMA_GATHER, list + 1, 1, 0, 100, bytes);
	dma.pd = PD + 1;
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_PROTECTION);

	list[1].key = key_unmapped; /* the first failure in the list's order counts, whichever comes
				       first in time */
	list[2].key = 0;
	dma = dma_of(DMA_GATHER, list, 3, 0, 300, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_FAULT);
	dma = dma_of(DMA_SCATTER, list + 1, 1, 0, 100, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_FAULT);
	list[0].key = 0;
	list[1].key = key_unmapped;
	dma = dma_of(DMA_GATHER, list, 2, 0, 200, bytes);
	run(&dma);
	CU_ASSERT_EQUAL(dma.status, DMA_PROTECTION);
	CU_ASSERT_EQUAL(dma_counters(engine)->too_short, 3);
	CU_ASSERT_EQUAL(dma_counters(engine)->protection, 5);
	CU_ASSERT_EQUAL(dma_counters(engine)->faults, 2);
	end();
}

/* No bytes: no key is looked at, but it keeps its place. */
static void test_empty(void)
{
	const struct data_segment list[] = {{0, 64, 0}};
	struct data_segment good;
	uint8_t bytes[64];
	struct dma empty, full, behind;

	params_round();
	begin(SIM_ENGINE_native);
	good = (struct data_segment){0, 64, key_physical};
	full = dma_of(DMA_SCATTER, &good, 1, 0, 64, bytes);
	memset(bytes, 1, sizeof(bytes));
	empty = dma_of(DMA_SCATTER, list, 1, 0, 0, NULL);
	behind = dma_of(DMA_SCATTER, NULL, 0, 0, 0, NULL);
	dma_start(engine, &full);
	dma_start(engine, &empty);
	dma_start(engine, &behind);
	CU_ASSERT_EQUAL(done_count, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_PTR_EQUAL(done_order[0], &full);
	CU_ASSERT_PTR_EQUAL(done_order[1], &empty);
	CU_ASSERT_PTR_EQUAL(done_order[2], &behind);
	CU_ASSERT_EQUAL(done_at[2], done_at[0]);
	CU_ASSERT_EQUAL(posted_count, 3);
	CU_ASSERT_EQUAL(empty.status, DMA_OK);
	done_count = 0;
	dma_start(engine, &empty);
	CU_ASSERT_EQUAL(done_count, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[0], done_at[2] + 4 * NS);
	CU_ASSERT_EQUAL(dma_counters(engine)->pieces, 1);
	end();
}

/* The first misses both caches, the second hits: it is read at once but ends second; written, it
 * waits. */
static void test_order(void)
{
	struct data_segment cold, warm;
	uint8_t first_bytes[64], second_bytes[64];
	struct dma first, second;
	sim_time start;

	for (int direction = DMA_GATHER; direction <= DMA_SCATTER; direction++) {
		params_round();
		begin(SIM_ENGINE_native);
		memset(first_bytes, 1, 64);
		memset(second_bytes, 2, 64);
		warm = (struct data_segment){0, 64, key_physical};
		cold = (struct data_segment){0x7000000, 64, key};
		second = dma_of((enum dma_direction)direction, &warm, 1, 0, 64, second_bytes);
		run(&second);
		start = sim_now(sim);
		done_count = posted_count = 0;
		first = dma_of((enum dma_direction)direction, &cold, 1, 0, 64, first_bytes);
		dma_start(engine, &first);
		dma_start(engine, &second);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_PTR_EQUAL(done_order[0], &first);
		CU_ASSERT_PTR_EQUAL(done_order[1], &second);
		if (direction == DMA_GATHER) {
			CU_ASSERT_EQUAL(done_at[0] - start, (608 + 4 + 552 + 4 + 4 + 608 + 4) * NS);
			CU_ASSERT_EQUAL(done_at[1], done_at[0]);
		} else {
			CU_ASSERT_EQUAL(posted_at[0] - start, (608 + 4 + 552 + 4 + 4) * NS);
			CU_ASSERT_EQUAL(posted_at[1], posted_at[0]);
			CU_ASSERT_EQUAL(done_at[0], posted_at[0] + (88 + 150 + 4) * NS);
			CU_ASSERT_EQUAL(done_at[1], done_at[0] + 88 * NS);
		}
		end();
	}
}

/* With one transfer, or one piece, at a time they follow each other; with more they overlap. */
static void test_limits(void)
{
	enum { ONE_NS = 4 + 4 + 608, COUNT = 4 };
	static const struct {
		uint64_t inflight, pieces;
		sim_time last_ns;
		uint64_t transfer_stalls, inflight_max;
	} rows[] = {
		{64, 64, ONE_NS + 4 + 3 * 84, 0, COUNT},
		{1, 64, COUNT * (ONE_NS + 4), 3, 1},
		{64, 1, COUNT * ONE_NS + 4, 0,
		 3}, /* one ends, one has the only piece, one waits for it */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct data_segment segment;
		struct dma dmas[COUNT];
		uint8_t bytes[64];
		sim_time start;

		params_round();
		dma_param.inflight = rows[i].inflight;
		dma_param.pieces = rows[i].pieces;
		begin(SIM_ENGINE_native);
		segment = (struct data_segment){0, 64, key_physical};
		for (int d = 0; d < COUNT; d++)
			dmas[d] = dma_of(DMA_GATHER, &segment, 1, 0, 64, bytes);
		run(&dmas[0]); /* warms the MPT cache */
		start = sim_now(sim);
		done_count = 0;
		for (int d = 0; d < COUNT; d++)
			dma_start(engine, &dmas[d]);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(done_count, COUNT);
		CU_ASSERT_EQUAL(done_at[COUNT - 1] - start, rows[i].last_ns * NS);
		CU_ASSERT_EQUAL(dma_counters(engine)->transfer_stalls, rows[i].transfer_stalls);
		CU_ASSERT_EQUAL(dma_counters(engine)->inflight_max, rows[i].inflight_max);
		end();
	}
}

/* Transfers of lengths alone take the same times as with bytes. */
static void test_no_bytes(void)
{
	sim_time with = 0;

	for (int round = 0; round < 2; round++) {
		struct data_segment list[2];
		uint8_t bytes[3000];
		struct dma dma;

		params_round();
		begin(SIM_ENGINE_native);
		if (round) {
			mr_table_find(regions, key)->memory = memory_none();
			mr_table_find(regions, key_physical)->memory = memory_none();
		}
		list[0] = (struct data_segment){0x7000000 + 4000, 2000, key};
		list[1] = (struct data_segment){0, 1000, key_physical};
		dma = dma_of(DMA_GATHER, list, 2, 0, 3000, round ? NULL : bytes);
		run(&dma);
		CU_ASSERT_EQUAL(dma.status, DMA_OK);
		if (round)
			CU_ASSERT_EQUAL(done_at[0], with);
		with = done_at[0];
		end();
	}
}

/* A busy mixture in both directions gives the same run on each engine, event by event. */
static uint64_t mixture(enum sim_engine event_engine)
{
	static struct dma dmas[TRANSFERS];
	static struct data_segment lists[TRANSFERS][3];
	static uint8_t bytes[TRANSFERS][8192];
	uint64_t digest = 14695981039346656037u;

	params_round();
	pcie_param.tags = 8;
	pcie_param.posted_data_credits = 8192;
	translation_param.mtt.entries = 8;
	translation_param.mtt.ways = 2;
	translation_param.mtt.mshrs = 2;
	translation_param.mtt.replacement = ICM_REPLACE_RANDOM;
	translation_param.interval = 3 * NS;
	dma_param.inflight = 12;
	dma_param.pieces = 16;
	begin(event_engine);
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		lists[i][0] = (struct data_segment){0x7000000 + i * 1777, 1500, key};
		lists[i][1] = (struct data_segment){i * 100, 600, i % 9 == 4 ? 77 : key_physical};
		lists[i][2] = (struct data_segment){0x7000000 + 0x1ffff - i * 1900, 1 + i, key};
		dmas[i] = dma_of(i % 3 ? DMA_SCATTER : DMA_GATHER, lists[i], 3, i, 1000 + i * 12,
				 bytes[i]);
		dma_start(engine, &dmas[i]);
		sim_run(sim, sim_now(sim) + i * 10 * NS);
	}
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_count, TRANSFERS);
	for (int i = 0; i < done_count; i++) {
		const uint64_t facts[] = {(uint64_t)(done_order[i] - dmas), done_at[i],
					  done_order[i]->status};

		for (size_t f = 0; f < ARRAY_SIZE(facts); f++)
			digest = (digest ^ facts[f]) * 1099511628211u;
	}
	/* seen: all that is tight was met */
	CU_ASSERT_EQUAL(translation_mtt_counters(unit)->stalls, 53);
	CU_ASSERT_EQUAL(translation_mtt_counters(unit)->evictions, 30);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_stalls, 31);
	CU_ASSERT_EQUAL(dma_counters(engine)->transfer_stalls, 37);
	end();
	return digest;
}

static void test_engines(void)
{
	uint64_t native = mixture(SIM_ENGINE_native);

	CU_ASSERT_EQUAL(mixture(SIM_ENGINE_native), native);
	CU_ASSERT_EQUAL(mixture(SIM_ENGINE_systemc), native);
	CU_ASSERT_EQUAL(mixture(SIM_ENGINE_systemc_reference), native);
}
