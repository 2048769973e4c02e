/*
 * Proves that a PCIe transaction takes exactly the time of its parts: requests and completions on a link of 1 ns a byte,
 * both latencies, waiting for tags and posted credits; that the limits by tags and by TLP overhead come out; that writes,
 * reads behind writes and MMIO writes keep their order; that bytes move at the instant they should; that what was asked
 * is what was done, whatever the limits.
 */
#include <CUnit/Basic.h>
#include <string.h>

#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "hca/host/tlp.h"
#include "sim/random.h"

enum { BUFFER_BYTES = 1 << 20, READS = 3200 };

static struct sim *sim;
static struct pcie *pcie;
static struct memory *memory;
static struct pcie_params params;
static uint8_t bytes[BUFFER_BYTES];

/* 1 ns a byte; 100 ns of link, 300 ns to read, 50 ns to be visible, 20 ns for a CPU's store. */
static void params_round(void)
{
	params_default(pcie_param_list, &params);
	params.generation = 0;
	params.lanes = 4;
	params.dllp_share = 0;
	params.link_latency = 100 * NS;
	params.read_latency = 300 * NS;
	params.write_latency = 50 * NS;
	params.mmio_latency = 20 * NS;
	params.credit_latency = 0;
}

static void begin(void)
{
	sim = sim_create(SIM_KERNEL_native, 1);
	pcie = pcie_create(sim, "pcie", &params);
	memory = memory_buffer_create(0, BUFFER_BYTES);
}

static void end(void)
{
	const struct pcie_counters *count = pcie_counters(pcie);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(count->reads, count->reads_done);
	CU_ASSERT_EQUAL(count->writes, count->writes_done);
	CU_ASSERT(count->tags_used_max <= params.tags);
	CU_ASSERT_EQUAL(count->posted_headers_taken, count->write_packets);
	CU_ASSERT_EQUAL(count->posted_headers_taken, count->posted_headers_returned);
	CU_ASSERT_EQUAL(count->posted_data_taken, count->posted_data_returned);
	CU_ASSERT_EQUAL(count->nonposted_headers_taken, count->read_requests);
	CU_ASSERT_EQUAL(count->nonposted_headers_taken, count->nonposted_headers_returned);
	memory_buffer_destroy(memory);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static sim_time read_at[READS], write_at[READS];
static int reads_done, writes_done;

static void note_read(struct pcie_read *read)
{
	(void)read;
	read_at[reads_done++] = sim_now(sim);
}

static void note_write(struct pcie_write *write)
{
	(void)write;
	write_at[writes_done++] = sim_now(sim);
}

static struct pcie_read read_of(uint64_t address, uint32_t length, void *into)
{
	return (struct pcie_read){.memory = memory,
				  .address = address,
				  .length = length,
				  .bytes = into,
				  .done = note_read};
}

static struct pcie_write write_of(uint64_t address, uint32_t length, const void *from)
{
	return (struct pcie_write){.memory = memory,
				   .address = address,
				   .length = length,
				   .bytes = from,
				   .done = note_write};
}

/* One read alone: request, link, host, completions, link. */
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
		{4095, 2, 2, 2,
		 24 + 24 + 100 + 300 + 21 + 100}, /* the second request is what it waits for */
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
	/* the first of two tags is back at 1116 ns; round trip of 64 B from there: 608 ns, its answer at 1540 ns finds
	 * the link busy until 1608 ns */
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

/* Rate of writes = MPS / (MPS + overhead) x raw x (1 - DLLP share), and each is visible at its exact instant. */
static void test_rate_of_writes(void)
{
	enum { COUNT = 1000 };
	static struct pcie_write writes[COUNT];
	double law, rate;

	params_default(pcie_param_list, &params);
	params.lanes = 8;
	params.write_credits = 16 << 20;
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

/* The bytes are those of the instant at which the root complex answers, and of a write when it is visible. */
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

/* Writes beyond the posted credits wait, and reads do not pass them. */
static void test_credits(void)
{
	struct pcie_write writes[3];
	struct pcie_read read;

	params_round();
	params.write_credits = 256;
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

/* A write that waits for credits holds up no read that was called before it. */
static void test_reads_keep_place(void)
{
	struct pcie_write writes[3];
	struct pcie_read reads[2];

	params_round();
	params.write_credits = 256;
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
	/* it has its tag at 608 ns, while the third write waits, and is at the host before the second is visible */
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
	params.write_credits = COUNT * 16;
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

static void note_store(void *context, uint64_t offset, const void *data, uint32_t length)
{
	CU_ASSERT_PTR_EQUAL(context, &stores_seen);
	stores[stores_seen].at = sim_now(sim);
	stores[stores_seen].offset = offset;
	stores[stores_seen].length = length;
	stores[stores_seen++].first = *(const uint8_t *)data;
}

/* In order, each a TLP; more at once than the first ring holds. */
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

/* An MMIO write passes completions that wait, and they leave the later by its time. */
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
	CU_ASSERT_EQUAL(read_at[0], (24 + 400 + 4736 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[1], (24 + 400 + 4736 + 32 + 592 + 100) * NS);
	end();
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

/* A counter in memory that writes raise one by one, and reads of it at random times. */
enum { CELL = 64, RANDOM_OPS = 300, RANDOM_RUNS = 60 };

static struct {
	struct pcie_read read;
	struct pcie_write write;
	uint32_t bytes[1024];   /* the counter, then what else is moved */
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

/* Whatever the limits: a read sees all writes that were called before it, each write is visible once and in order, and
 * everything ends. */
static void test_random(void)
{
	struct random random;

	random_init_named(&random, 7, "test", "pcie");
	for (int run = 0; run < RANDOM_RUNS; run++) {
		const struct pcie_counters *count;
		uint64_t completions = 0, requests = 0;

		params_round();
		params.tags = 1 + random_u64(&random) % 12;
		params.write_credits = 256 + random_u64(&random) % 8192;
		params.posted_headers = 1 + random_u64(&random) % 40;
		params.nonposted_headers = 1 + random_u64(&random) % 10;
		params.credit_latency = random_u64(&random) % (1 * US);
		params.dllp = (uint32_t)(random_u64(&random) % 3);
		params.read_latency = 1 + random_u64(&random) % (2 * US);
		params.write_latency = 1 + random_u64(&random) % (2 * US);
		params.request_max = UINT64_C(128) << random_u64(&random) % 5;
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
									 params.request_max);

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

int main(void)
{
	CU_pSuite suite;
	unsigned failures;

	CU_initialize_registry();
	suite = CU_add_suite("pcie", NULL, NULL);
	CU_ADD_TEST(suite, test_read_composition);
	CU_ADD_TEST(suite, test_one_tag);
	CU_ADD_TEST(suite, test_tag_returns_alone);
	CU_ADD_TEST(suite, test_rate_by_tags);
	CU_ADD_TEST(suite, test_rate_of_writes);
	CU_ADD_TEST(suite, test_write_packets);
	CU_ADD_TEST(suite, test_read_pushes_write);
	CU_ADD_TEST(suite, test_instant);
	CU_ADD_TEST(suite, test_credits);
	CU_ADD_TEST(suite, test_reads_keep_place);
	CU_ADD_TEST(suite, test_write_order);
	CU_ADD_TEST(suite, test_fault);
	CU_ADD_TEST(suite, test_mmio);
	CU_ADD_TEST(suite, test_mmio_passes);
	CU_ADD_TEST(suite, test_random);
	CU_ADD_TEST(suite, test_raw_rates);
	CU_ADD_TEST(suite, test_link_exact);
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures ? 1 : 0;
}
