/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the order of writes, reads, and reads after writes of a PCIe function. Bytes move at the
 * right instant, and every request is carried out under any limits.
 */
#include <string.h>

#include "hca/host/pcie.h"
#include "hca/host/pcie_params.h"
#include "hca/host/tlp.h"
#include "sim/random.h"
#include "tests/hca/support/pcie_alone.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(read_pushes_write) \
	TEST(instant)           \
	TEST(read_ties)         \
	TEST(reads_keep_place)  \
	TEST(write_order)       \
	TEST(random)
SUITE(TESTS)

/* A read sees the write before it, and waits until it is visible. */
static void test_read_pushes_write(void)
{
	const uint8_t sent[64] = {1, 2, 3};
	uint8_t seen[64] = {0};
	struct pcie_write write;
	struct pcie_read read;

	params_round();
	begin();
	reads_done = writes_done = 0;
	write = write_of(4096, 64, sent);
	read = read_of(4096, 64, seen);
	pcie_write(pcie, &write);
	pcie_read(pcie, &read);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_at[0], (88 + 100 + 50) * NS);
	CU_ASSERT_EQUAL(read_at[0], (88 + 100 + 50 + 300 + 84 + 100) * NS);
	CU_ASSERT_EQUAL(memcmp(sent, seen, 64), 0);
	end();
}

static struct block cpu;
static struct event cpu_event;

static void cpu_store(struct event *event)
{
	(void)event;
	CU_ASSERT(memory_write(memory, 0, (const uint8_t[]){7}, 1));
}

/* A read returns the bytes at the instant at which the root complex completes it. A write changes
 * memory when it becomes visible. */
static void test_instant(void)
{
	static const struct block_type plain = {.name = "cpu"};

	for (int late = 0; late < 2; late++) {
		uint8_t seen = 0, kept = 0;
		const uint8_t nine = 9;
		struct pcie_read read;
		struct pcie_write write;

		params_round();
		begin();
		block_init(&cpu, sim, &plain, "cpu", NULL, NULL);
		event_init(&cpu_event, &cpu, cpu_store);
		sim_schedule(&cpu_event, 424 * NS - 1 + 2 * (sim_time)late);
		reads_done = writes_done = 0;
		read = read_of(0, 1, &seen);
		pcie_read(pcie, &read);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(seen, late ? 0 : 7);
		write = write_of(0, 1, &nine);
		pcie_write(pcie, &write);
		sim_run(sim, sim_now(sim) + 175 * NS); /* visible 175 ns from now */
		CU_ASSERT(memory_read(memory, 0, &kept, 1));
		CU_ASSERT_EQUAL(kept, 7);
		sim_run(sim, sim_now(sim) + 1);
		CU_ASSERT(memory_read(memory, 0, &kept, 1));
		CU_ASSERT_EQUAL(kept, 9);
		block_fini(&cpu);
		end();
	}
}

static struct pcie_read tied;

static void read_now(struct event *event)
{
	(void)event;
	pcie_read(pcie, &tied);
}

/* A read has two requests. The first reaches the host in the picosecond in which a write becomes
 * visible. It is ready with the read that the write delayed, and completes after it, independent of
 * the order of calls. */
static void test_read_ties(void)
{
	static const struct block_type plain = {.name = "cpu"};

	for (unsigned is_first = 0; is_first < 2; is_first++) {
		struct pcie_write write = {0};
		struct pcie_read read;

		params_round();
		sim = sim_create(SIM_ENGINE_native, 1);
		if (is_first)
			block_init(&cpu, sim, &plain, "cpu", NULL, NULL);
		pcie = pcie_create(sim, "pcie", &params);
		if (!is_first)
			block_init(&cpu, sim, &plain, "cpu", NULL, NULL);
		memory = memory_buffer_create(0, BUFFER_BYTES);
		event_init(&cpu_event, &cpu, read_now);
		sim_schedule(&cpu_event, 114 * NS); /* 24 B of a request, then 100 ns: 238 ns */
		reads_done = writes_done = 0;
		write = write_of(0, 64, bytes);
		read = read_of(0, 64, bytes);
		tied = read_of(0, 1024, bytes);
		pcie_write(pcie, &write);
		pcie_read(pcie, &read);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(write_at[0], 238 * NS);
		CU_ASSERT_EQUAL(read_at[0], (538 + 84 + 100) * NS);
		CU_ASSERT_EQUAL(read_at[1], (538 + 84 + 2 * (512 + 80) + 100) * NS);
		block_fini(&cpu);
		end();
	}
}

/* A write that waits for credits holds up no read that was called before it. */
static void test_reads_keep_place(void)
{
	struct pcie_write writes[3];
	struct pcie_read reads[2];

	params_round();
	params.posted_data_credits = 256;
	params.tags = 1;
	begin();
	reads_done = writes_done = 0;
	for (int i = 0; i < 2; i++) {
		reads[i] = read_of(0, 64, bytes);
		pcie_read(pcie, &reads[i]);
	}
	for (int i = 0; i < 3; i++) {
		writes[i] = write_of(0, 256, bytes);
		pcie_write(pcie, &writes[i]);
	}
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], 608 * NS);
	CU_ASSERT_EQUAL(write_at[0], (24 + 280 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[1], (454 + 280 + 150) * NS);
	CU_ASSERT_EQUAL(write_at[2], (884 + 280 + 150) * NS);
	/* it has its tag at 608 ns, while the third write waits, and is at the host before the
	 * second is visible */
	CU_ASSERT_EQUAL(read_at[1], (884 + 300 + 84 + 100) * NS);
	end();
}

static void test_write_order(void)
{
	enum { COUNT = 200 };
	struct pcie_write writes[COUNT];
	uint8_t values[COUNT];
	uint8_t last = 0;

	params_round();
	params.posted_data_credits = COUNT * 16;
	begin();
	writes_done = 0;
	for (int i = 0; i < COUNT; i++) {
		values[i] = (uint8_t)(i + 1);
		writes[i] = write_of(5, 1, &values[i]);
		pcie_write(pcie, &writes[i]);
	}
	for (int i = 0; i < COUNT;
	     i++) { /* at each instant the bytes of the write that is just done */
		sim_run(sim, sim_next(sim) + 1);
		CU_ASSERT(memory_read(memory, 5, &last, 1));
		CU_ASSERT_EQUAL(writes_done, i + 1);
		CU_ASSERT_EQUAL(last, (uint8_t)(i + 1));
		CU_ASSERT_EQUAL(write_at[i], ((sim_time)i * 25 + 25 + 150) * NS);
	}
	end();
}

/* A counter in memory that writes raise one by one, and reads of it at random times. */
enum { CELL = 64, RANDOM_OPS = 300, RANDOM_RUNS = 60 };

static struct {
	struct pcie_read read;
	struct pcie_write write;
	uint32_t bytes[1024];   /* the counter, then the related state */
	uint32_t called_before; /* writes, when the read was called */
} ops[RANDOM_OPS];
static uint32_t raised, visible;

static void note_seen(struct pcie_read *read)
{
	uint32_t seen = *(const uint32_t *)read->bytes;

	reads_done++;
	CU_ASSERT(seen >= ops[read->tag].called_before);
	CU_ASSERT(seen <= raised);
}

static void note_raised(struct pcie_write *write)
{
	uint32_t value = 0;

	writes_done++;
	CU_ASSERT(memory_read(memory, CELL, &value, 4));
	CU_ASSERT_EQUAL(value, *(const uint32_t *)write->bytes); /* its own: none has passed it */
	CU_ASSERT_EQUAL(value, ++visible);
}

/* With any limits, a read sees all writes called before it. Each write becomes visible once and in
 * order, and all transactions end. */
static void test_random(void)
{
	struct random random;

	random_init_named(&random, 7, "test", "pcie");
	for (int run = 0; run < RANDOM_RUNS; run++) {
		const struct pcie_counters *count;
		uint64_t completions = 0, requests = 0;

		params_round();
		params.tags = 1 + random_u64(&random) % 12;
		params.posted_data_credits = 256 + random_u64(&random) % 8192;
		params.posted_headers = 1 + random_u64(&random) % 40;
		params.nonposted_headers = 1 + random_u64(&random) % 10;
		params.credit_latency = random_u64(&random) % (1 * US);
		params.dllp = (uint32_t)(random_u64(&random) % 3);
		params.read_latency = 1 + random_u64(&random) % (2 * US);
		params.write_latency = 1 + random_u64(&random) % (2 * US);
		params.mrrs = UINT64_C(128) << random_u64(&random) % 5;
		params.completion_max = UINT64_C(64) << random_u64(&random) % 3;
		begin();
		reads_done = writes_done = 0;
		raised = visible = 0;
		for (uint32_t i = 0; i < RANDOM_OPS; i++) {
			uint32_t length = 4 + (uint32_t)(random_u64(&random) % 4092);

			if (random_u64(&random) % 2) {
				ops[i].bytes[0] = ++raised;
				ops[i].write = write_of(CELL, length, ops[i].bytes);
				ops[i].write.done = note_raised;
				pcie_write(pcie, &ops[i].write);
			} else {
				ops[i].called_before = raised;
				ops[i].read = read_of(CELL, length, ops[i].bytes);
				ops[i].read.tag = i;
				ops[i].read.done = note_seen;
				pcie_read(pcie, &ops[i].read);
				for (uint32_t at = 0; at < length; requests++) {
					uint32_t part = tlp_first_length(CELL + at, length - at,
									 params.mrrs);

					completions +=
						tlp_completion_count(&params, CELL + at, part);
					at += part;
				}
			}
			if (random_u64(&random) % 4 == 0)
				sim_run(sim, sim_now(sim) + random_u64(&random) % (4 * US));
		}
		sim_run(sim, SIM_NEVER);
		count = pcie_counters(pcie);
		CU_ASSERT_EQUAL(reads_done + writes_done, RANDOM_OPS);
		CU_ASSERT_EQUAL(visible, raised);
		CU_ASSERT_EQUAL(count->read_requests, requests);
		CU_ASSERT_EQUAL(count->completions, completions);
		CU_ASSERT_EQUAL(count->to_device_bytes, count->read_bytes + 20 * completions);
		CU_ASSERT_EQUAL(count->to_host_bytes,
				count->write_bytes + 24 * (count->write_packets + requests));
		end();
	}
}
