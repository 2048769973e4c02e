/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that future requests delay no current ones behind the root complex. A read that waits for a
 * write occupies no memory, socket link or page walker before its time. A host without costs
 * changes no picosecond of reads, writes and credits.
 */
#include "hca/host/host.h"
#include "hca/host/pcie.h"
#include "hca/host/pcie_params.h"
#include "sim/random.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(memory)               \
	TEST(link_of_sockets)      \
	TEST(walker)               \
	TEST(a_load_pushes_writes) \
	TEST(nothing_costs_nothing)
SUITE(TESTS)

enum { PAIRS = 40, OPS = 400, WINDOW = 1 << 20 };

static struct sim *sim;
static struct pcie *pcie;
static struct host *host;
static struct pcie_params link_params;
static struct host_params params;
static struct pcie_read reads[OPS];
static struct pcie_write writes[OPS];
static sim_time ends[OPS], write_ends[OPS];

static void begin(bool with_host)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	pcie = pcie_create(sim, "pcie", &link_params);
	host = NULL;
	if (!with_host)
		return;
	host = host_create(sim, "host", &params);
	pcie_host_attach(pcie, host);
}

static void end(void)
{
	const struct pcie_counters *count = pcie_counters(pcie);

	CU_ASSERT_EQUAL(count->reads, count->reads_done);
	CU_ASSERT_EQUAL(count->writes, count->writes_done);
	CU_ASSERT_EQUAL(blocks_check(sim, stderr), 0);
	pcie_destroy(pcie);
	host_destroy(host);
	sim_destroy(sim);
}

static void note_read(struct pcie_read *read)
{
	ends[read->tag] = sim_now(sim);
}

static void note_write(struct pcie_write *write)
{
	write_ends[write->tag] = sim_now(sim);
}

static void start_read(uint32_t number, uint64_t address, uint32_t length, bool relaxed)
{
	reads[number] = (struct pcie_read){.memory = memory_none(),
					   .address = address,
					   .length = length,
					   .tag = number,
					   .relaxed = relaxed,
					   .done = note_read};
	pcie_read(pcie, &reads[number]);
}

static void start_write(uint32_t number, uint64_t address, uint32_t length, bool relaxed)
{
	writes[number] = (struct pcie_write){.memory = memory_none(),
					     .address = address,
					     .length = length,
					     .tag = number,
					     .relaxed = relaxed,
					     .done = note_write};
	pcie_write(pcie, &writes[number]);
}

/* Writes of 64 B, each with a read of 64 B behind it, leave without gaps: 88 and 24 ns. A write is
 * visible 500 ns after it is there, so many reads wait at the root complex for times to come. The
 * next writes do not wait for these. more_write and more_read are the times of the host for a write
 * and a read. */
static void play_pairs(sim_time more_write, sim_time more_read)
{
	round_link(&link_params);
	link_params.write_latency = 500 * NS;
	begin(true);
	for (uint32_t i = 0; i < PAIRS; i++) {
		sim_run(sim, i * 112 * NS);
		start_write(i, i * 64, 64, false);
		start_read(i, i * 64, 64, false);
	}
	sim_run(sim, SIM_NEVER);
	for (uint32_t i = 0; i < PAIRS; i++) {
		sim_time visible = (i * 112 + 88 + 100 + 500) * NS + more_write;

		CU_ASSERT_EQUAL(write_ends[i], visible);
		CU_ASSERT_EQUAL(ends[i], visible + more_read + (300 + 84 + 100) * NS);
	}
	CU_ASSERT_EQUAL(pcie_counters(pcie)->order_stalls, PAIRS);
	end();
}

/* Without DDIO both are at memory, which takes 1 ns a line. */
static void test_memory(void)
{
	host_params_default(&params);
	params.llc.enabled = true;
	params.llc.ddio = false;
	params.dram.rate = UINT64_C(512000000000);
	play_pairs(0, 50 * NS);
}

static void test_link_of_sockets(void)
{
	host_params_default(&params);
	params.numa.memory_node = 1;
	play_pairs(0, (50 + 65) * NS);
}

/* The only walker: it walks for the first page, and for none that is in the IO-TLB. */
static void test_walker(void)
{
	host_params_default(&params);
	params.iommu.enabled = true;
	params.iommu.walkers = 1;
	params.iommu.walk_latency = 0;
	play_pairs(0, 0);
}

static bool ignore_store(void *context, uint64_t offset, const void *bytes, uint32_t length)
{
	(void)context;
	(void)offset;
	(void)bytes;
	(void)length;
	return true;
}

static void no_bytes(void *context, uint64_t offset, void *bytes, uint32_t length)
{
	(void)context;
	(void)offset;
	(void)bytes;
	(void)length;
}

static sim_time loaded_at;

static void note_load(struct pcie_mmio_read *load)
{
	(void)load;
	loaded_at = sim_now(sim);
}

/* The completion of a load follows a write that walks for its page at the root complex. The 24 ns
 * of request and 20 + 8 of completion are over long before. A load that was cancelled is not
 * reported. */
static void test_a_load_pushes_writes(void)
{
	struct pcie_mmio_read load = {.length = 8, .done = note_load}, other = load;

	host_params_default(&params);
	params.iommu.enabled = true;
	params.iommu.walk_latency = 5 * US;
	round_link(&link_params);
	link_params.mmio_read_latency = 0;
	begin(true);
	pcie_mmio_attach(pcie, ignore_store, NULL);
	pcie_mmio_read_attach(pcie, no_bytes, NULL);
	start_write(0, 0, 64, false);
	pcie_mmio_read(pcie, &load);
	pcie_mmio_read(pcie, &other);
	sim_run(sim, 3 * US);
	CU_ASSERT_EQUAL(loaded_at, 0);
	pcie_mmio_read_cancel(&other);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(write_ends[0], (88 + 100 + 5000 + 50) * NS);
	CU_ASSERT_EQUAL(loaded_at, write_ends[0]);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->mmio_reads, 1);
	end();
}

/* ---- a host that costs nothing ---- */

enum { ENDS_MAX = 2 * OPS };

struct ending {
	sim_time at;
	char what;
	uint64_t number;
};

struct course { /* ended transactions in order, and number of waits */
	struct ending endings[ENDS_MAX];
	uint32_t count;
	uint64_t order_stalls, order_stall_time, request_stalls, write_stalls;
};

static struct course *course;
static struct pcie_mmio_read loads[OPS];

static void note_end(char what, uint64_t number)
{
	CU_ASSERT_FATAL(course->count < ENDS_MAX);
	course->endings[course->count++] = (struct ending){sim_now(sim), what, number};
}

static void end_read(struct pcie_read *read)
{
	note_end('r', read->tag);
}

static void end_write(struct pcie_write *write)
{
	note_end('w', write->tag);
}

static void end_load(struct pcie_mmio_read *load)
{
	note_end('l', (uint64_t)(load - loads));
}

static bool end_store(void *context, uint64_t offset, const void *bytes, uint32_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
	note_end('s', offset);
	return true;
}

static void start_any(struct random *random, uint32_t number)
{
	uint64_t address = random_below(random, WINDOW) & ~UINT64_C(63);
	uint32_t length = 64 * (1 + (uint32_t)random_below(random, 40));
	uint64_t bytes[8] = {0};

	switch (random_below(random, 8)) {
	case 0:
		pcie_mmio_write(pcie, number, bytes, sizeof(bytes));
		return;
	case 1:
		loads[number] = (struct pcie_mmio_read){.length = 8, .done = end_load};
		pcie_mmio_read(pcie, &loads[number]);
		return;
	case 2:
	case 3:
	case 4:
		start_read(number, address, length, random_below(random, 2));
		reads[number].done = end_read;
		return;
	default:
		start_write(number, address, length, random_below(random, 2));
		writes[number].done = end_write;
	}
}

enum { RELAXED = 1, COUNTED = 2, ROUND = 4, RULES = 8 };

/* The same random accesses, stores and loads, short of credits and tags. ROUND: times at which much
 * happens at one picosecond. */
static void play_random(bool with_host, unsigned seed, unsigned rules, struct course *into)
{
	struct random random;

	course = into;
	*course = (struct course){0};
	random_init_named(&random, seed, "test", "host_time");
	round_link(&link_params);
	link_params.posted_headers = 12;
	link_params.posted_data_credits = 4096;
	link_params.nonposted_headers = 8;
	link_params.tags = 16;
	link_params.relaxed_ordering = rules & RELAXED;
	link_params.dllp = rules & COUNTED ? 2 : 0;
	link_params.credit_latency = rules & ROUND ? 60 * NS : 60131;
	link_params.read_latency = rules & ROUND ? 300 * NS : 300717;
	link_params.write_latency = rules & ROUND ? 50 * NS : 50411;
	link_params.link_latency = rules & ROUND ? 100 * NS : 100003;
	begin(with_host);
	pcie_mmio_attach(pcie, end_store, NULL);
	pcie_mmio_read_attach(pcie, no_bytes, NULL);
	if (host && params.llc.enabled)
		llc_cpu_touch(host_llc(host), 0, WINDOW + 4096, false);
	for (uint32_t i = 0; i < OPS; i++) {
		start_any(&random, i);
		if (random_below(&random, 4) == 0)
			sim_run(sim, sim_now(sim) + random_below(&random, 4000) * NS);
	}
	sim_run(sim, SIM_NEVER);
	course->order_stalls = pcie_counters(pcie)->order_stalls;
	course->order_stall_time = pcie_counters(pcie)->order_stall_time;
	course->request_stalls = pcie_counters(pcie)->request_credit_stalls;
	course->write_stalls = pcie_counters(pcie)->write_stalls;
	end();
}

static void same_course(const struct course *one, const struct course *other)
{
	CU_ASSERT_EQUAL(one->count, OPS);
	CU_ASSERT_EQUAL(one->count, other->count);
	for (uint32_t i = 0; i < one->count; i++) {
		const struct ending *a = &one->endings[i], *b = &other->endings[i];

		if (a->at == b->at && a->what == b->what && a->number == b->number)
			continue;
		fprintf(stderr, "%u: %c%lu at %lu, %c%lu at %lu\n", i, a->what,
			(unsigned long)a->number, (unsigned long)a->at, b->what,
			(unsigned long)b->number, (unsigned long)b->at);
		CU_FAIL("another course");
		return;
	}
	CU_ASSERT_EQUAL(one->order_stalls, other->order_stalls);
	CU_ASSERT_EQUAL(one->order_stall_time, other->order_stall_time);
	CU_ASSERT_EQUAL(one->request_stalls, other->request_stalls);
	CU_ASSERT_EQUAL(one->write_stalls, other->write_stalls);
}

static void test_nothing_costs_nothing(void)
{
	static struct course alone, with;

	for (unsigned seed = 0; seed < 10 * RULES; seed++) {
		unsigned rules = seed % RULES;

		play_random(false, seed, rules, &alone);
		CU_ASSERT(alone.order_stalls > 0 && alone.request_stalls > 0 &&
			  alone.write_stalls > 0);
		host_params_default(&params);
		params.iommu.enabled = true;
		params.iommu.walk_latency = 0;
		play_random(true, seed, rules, &with);
		same_course(&alone, &with);
		params.llc.enabled = true; /* all hits */
		play_random(true, seed, rules, &with);
		same_course(&alone, &with);
	}
}
