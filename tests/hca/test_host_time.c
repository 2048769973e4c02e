/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that requests for the future delay none of now, behind the root complex: a read that has to wait for a write takes no
 * memory, link between sockets or page walker before its time, and a host that costs nothing changes no picosecond of
 * reads, writes and credits.
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

/* Writes of 64 B, each with a read of 64 B behind it, leave without gaps: 88 and 24 ns. A write is visible 500 ns after it is there,
 * so many reads wait at the root complex for times to come. The next writes do not wait for these. `more`: that the host takes
 * for a write, and for a read. */
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
	params.place.memory_node = 1;
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

/* A load whose completion is at the root complex behind a write that walks for its page: 24 ns of request and 20 + 8 of completion
 * are over long before. One that nobody waits for any more is not told of. */
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

/* The same random accesses, short of credits and tags. */
static void play_random(bool with_host, int rules, sim_time *times)
{
	struct random random;

	random_init_named(&random, 7, "test", "host_time");
	round_link(&link_params);
	link_params.posted_headers = 4096; /* when the first write that waits for one leaves
					    * depends on when its return was known */
	link_params.posted_data_credits = 1 << 20;
	link_params.nonposted_headers = 8;
	link_params.tags = 16;
	link_params.relaxed_ordering = rules & 1;
	link_params.dllp = rules & 2; /* counted, or a share */
	link_params.credit_latency = 60131;
	link_params.read_latency = 300717;
	link_params.write_latency = 50411;
	link_params.link_latency = 100003;
	begin(with_host);
	if (host && params.llc.enabled)
		llc_cpu_touch(host_llc(host), 0, WINDOW + 4096, false);
	for (uint32_t i = 0; i < OPS; i++) {
		uint64_t address = random_below(&random, WINDOW);
		uint32_t length = 1 + (uint32_t)random_below(&random, 3000);

		if (random_below(&random, 2))
			start_read(i, address, length, random_below(&random, 2));
		else
			start_write(i, address, length, random_below(&random, 2));
		if (random_below(&random, 4) == 0)
			sim_run(sim, sim_now(sim) + random_below(&random, 4 * US));
	}
	sim_run(sim, SIM_NEVER);
	for (uint32_t i = 0; i < OPS; i++)
		times[i] = ends[i] + write_ends[i];
	times[OPS] = pcie_counters(pcie)->order_stall_time;
	times[OPS + 1] = pcie_counters(pcie)->order_stalls;
	times[OPS + 2] = pcie_counters(pcie)->request_credit_stalls;
	end();
}

static void test_nothing_costs_nothing(void)
{
	static sim_time alone[OPS + 3], with[OPS + 3];

	for (int rules = 0; rules < 4; rules++) {
		play_random(false, rules, alone);
		CU_ASSERT(alone[OPS + 1] > 0 && alone[OPS + 2] > 0);
		host_params_default(&params);
		params.iommu.enabled = true;
		params.iommu.walk_latency = 0;
		play_random(true, rules, with);
		for (uint32_t i = 0; i < OPS + 3; i++)
			CU_ASSERT_EQUAL(with[i], alone[i]);
		params.llc.enabled = true; /* all hits */
		play_random(true, rules, with);
		for (uint32_t i = 0; i < OPS + 3; i++)
			CU_ASSERT_EQUAL(with[i], alone[i]);
	}
}
