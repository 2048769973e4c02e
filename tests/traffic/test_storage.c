/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves the messages of an operation of each protocol on each transport, in their order, with
 * their sizes; the times of cores; that operations follow one another; that joined workloads keep
 * their servers; and that servers take visits in order.
 *
 * A message is a sign and a size: `>` and `<` are SENDs of the initiator and of the target, `w` is
 * a WRITE of the target, `r` a READ of the target, `R` a READ of the initiator.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"
#include "traffic/workload/servers.h"
#include "traffic/workload/storage.h"

#define TESTS(TEST)                       \
	TEST(messages_are_those_of_specs) \
	TEST(fragments_wait_for_credits)  \
	TEST(cores_take_their_times)      \
	TEST(operations_follow)           \
	TEST(joined_servers_are_apart)    \
	TEST(servers_take_turns)          \
	TEST(mistakes_are_named)
SUITE(TESTS)

#define KB(n) ((n)*UINT64_C(1024))

struct setting {
	struct workload_params params;
	struct storage_params storage_params;
	struct storage_device_params device;
	struct storage_cpu_params cpu;
	struct storage storage;
};

static void set(struct setting *setting)
{
	params_default(workload_param_list, &setting->params);
	params_default(storage_param_list, &setting->storage_params);
	params_default(storage_device_param_list, &setting->device);
	params_default(storage_cpu_param_list, &setting->cpu);
	setting->params.pattern = PATTERN_storage;
	snprintf(setting->params.target.text, sizeof(setting->params.target.text), "1");
	setting->storage_params.operations = 1;
	setting->storage = (struct storage){.params = &setting->storage_params,
					    .device = &setting->device,
					    .cpu = &setting->cpu};
}

static struct workload *make(const struct setting *setting, uint32_t hosts, char *error,
			     size_t error_bytes)
{
	const struct workload_files files = {.storage = &setting->storage};

	return workload_create(&setting->params, hosts, 100000000000, 1, &files, error,
			       error_bytes);
}

static char sign_of(const struct workload_flow *flow)
{
	if (flow->operation == WORKLOAD_WRITE)
		return 'w';
	if (flow->operation == WORKLOAD_READ)
		return flow->source == 0 ? 'r' : 'R';
	return flow->source == 0 ? '>' : '<';
}

static void list(const struct workload *workload, char *text, size_t text_bytes)
{
	size_t used = 0;

	for (uint32_t i = 0; i < workload->count; i++)
		if (!workload_is_barrier(&workload->flows[i]))
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%c%lu",
						 used ? " " : "", sign_of(&workload->flows[i]),
						 workload->flows[i].bytes);
}

static void expect(const struct setting *setting, const char *expected)
{
	char text[1024] = "", error[256] = "";
	struct workload *workload = make(setting, 2, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	list(workload, text, sizeof(text));
	if (strcmp(text, expected) != 0)
		printf("\n    %s, expected %s\n", text, expected);
	CU_ASSERT_STRING_EQUAL(text, expected);
	workload_destroy(workload);
}

static void test_messages_are_those_of_specs(void)
{
	static const struct {
		enum storage_protocol protocol;
		bool tcp, write;
		uint64_t bytes;
		const char *messages;
	} cases[] = {
		{STORAGE_NVME_OF, false, false, KB(4), ">64 w4096 <16"},
		{STORAGE_NVME_OF, false, true, KB(4), ">4160 <16"}, /* in the capsule */
		{STORAGE_NVME_OF, false, true, KB(8), ">64 r8192 <16"},
		{STORAGE_NVME_OF, true, false, KB(4), ">72 <4120 <24"},
		{STORAGE_NVME_OF, true, true, KB(16), ">16456 <24"},
		{STORAGE_NVME_OF, true, true, KB(32), ">72 <24 >32792 <24"}, /* R2T */
		/* 28 + 108, 28 + 128 */
		{STORAGE_NFS, false, false, 512, ">136 <668"},
		{STORAGE_NFS, false, false, 509, ">136 <668"}, /* padded to words */
		{STORAGE_NFS, false, false, KB(8), ">160 w8192 <180"},
		/* 28 + 116, 28 + 160 */
		{STORAGE_NFS, false, true, 512, ">656 <188"},
		{STORAGE_NFS, false, true, KB(8), ">168 r8192 <188"},
		{STORAGE_NFS, true, false, KB(8), ">112 <8324"},
		{STORAGE_NFS, true, true, KB(8), ">8312 <164"},
		/* 24 + 64 + 48 + 16 */
		{STORAGE_SMB, false, false, KB(4), ">152 w4096 <104"},
		{STORAGE_SMB, false, true, KB(4), ">152 r4096 <105"},
		/* 64 + 16 + 2048 bytes in fragments of 1340 */
		{STORAGE_SMB, false, false, KB(2), ">137 <1364 <812"},
		{STORAGE_SMB, false, true, KB(2), ">1364 >844 <105"},
		{STORAGE_SMB, true, false, KB(4), ">117 <4180"},
		{STORAGE_SMB, true, true, KB(4), ">4212 <85"},
		{STORAGE_KV_ONE_SIDED, false, false, KB(1), "R64 R1024"},
		{STORAGE_KV_ONE_SIDED, false, true, KB(1), ">1056 <16"},
		{STORAGE_KV_RPC, false, false, KB(1), ">32 <1040"},
		{STORAGE_KV_RPC, false, true, KB(1), ">1056 <16"},
		{STORAGE_KV_RPC, true, false, KB(1), ">32 <1040"},
		{STORAGE_KV_RPC, true, true, KB(1), ">1056 <16"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting setting;

		set(&setting);
		setting.storage_params.protocol = cases[i].protocol;
		setting.storage_params.read_fraction = !cases[i].write;
		setting.storage_params.block_sizes.bytes[0] = cases[i].bytes;
		setting.storage.tcp = cases[i].tcp;
		expect(&setting, cases[i].messages);
	}
}

static void test_fragments_wait_for_credits(void)
{
	struct setting setting;

	set(&setting);
	setting.storage_params.protocol = STORAGE_SMB;
	setting.storage_params.block_sizes.bytes[0] = 4000; /* 80 + 4000 = 3 * 1340 + 60 */
	setting.storage_params.credits = 2;
	expect(&setting, ">137 <1364 <1364 >20 <1364 <84");
	/* the share of an operation is one */
	setting.storage_params.queue_depth = 4;
	setting.storage_params.operations = 4;
	setting.storage_params.block_sizes.bytes[0] = 2000;
	expect(&setting, ">137 <1364 >20 <764 >137 <1364 >20 <764 >137 <1364 >20 <764 "
			 ">137 <1364 >20 <764");
	/* C2HData in PDUs, the last of which is the response */
	set(&setting);
	setting.storage.tcp = true;
	setting.storage_params.block_sizes.bytes[0] = 10000;
	setting.storage_params.data_pdu = 4096;
	setting.storage_params.c2h_success = 1;
	expect(&setting, ">72 <4120 <4120 <1832");
}

static struct storage_use use_of(const struct setting *setting)
{
	char error[256];
	struct workload *workload = make(setting, 2, error, sizeof(error));

	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL_FATAL(workload->io_count, 1);
	struct storage_use use = storage_use_of(workload, &workload->ios[0]);

	workload_destroy(workload);
	return use;
}

static void test_cores_take_their_times(void)
{
	struct setting setting;
	struct storage_use use;

	set(&setting);
	setting.storage_params.block_sizes.bytes[0] = 8560;
	use = use_of(&setting); /* SEND, WRITE, SEND */
	CU_ASSERT_EQUAL(use.messages, 3);
	CU_ASSERT_EQUAL(use.message_bytes, 64 + 8560 + 16);
	CU_ASSERT_EQUAL(use.initiator_cpu, (1000 + 1000 + 2 * 150) * NS);
	CU_ASSERT_EQUAL(use.target_cpu, (1500 + 3 * 150) * NS);
	setting.storage_params.read_fraction = 0;
	use = use_of(&setting); /* SEND, READ, SEND */
	CU_ASSERT_EQUAL(use.initiator_cpu, (1000 + 1000 + 2 * 150) * NS);
	CU_ASSERT_EQUAL(use.target_cpu, (1500 + 3 * 150) * NS);
	setting.storage_params.protocol = STORAGE_KV_ONE_SIDED;
	setting.storage_params.read_fraction = 1;
	use = use_of(&setting);
	CU_ASSERT_EQUAL(use.initiator_cpu, (100 + 2 * 150) * NS);
	CU_ASSERT_EQUAL(use.target_cpu, 0);
	setting.storage_params.protocol = STORAGE_NVME_OF;
	setting.storage.tcp = true;
	setting.storage_params.block_sizes.bytes[0] = 10700; /* with headers, 1 us and 2.2 ns */
	use = use_of(&setting);
	CU_ASSERT_EQUAL(use.initiator_cpu / NS,
			1000 + 1000 + 1050 + 2 * 1260 + (10700 + 24 + 24) * 80 / 856);
	CU_ASSERT_EQUAL(use.target_cpu / NS, 1500 + 1260 + 2 * 1050 + 72 * 80 / 856);
}

/* Each operation of a chain waits for the one before it. Its first flow alone may be stopped. */
static void test_operations_follow(void)
{
	struct setting setting;
	char error[256];
	uint32_t begins = 0;

	set(&setting);
	setting.storage_params.operations = 6;
	setting.storage_params.queue_depth = 2;
	setting.storage_params.duration = 5 * US;
	setting.params.start = 2 * US;
	struct workload *workload = make(&setting, 3, error, sizeof(error));

	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL_FATAL(workload->io_count, 12); /* of hosts 0 and 2 */
	CU_ASSERT_EQUAL(workload->server_count, 4);
	CU_ASSERT(workload->parts[0].whole && workload->parts[0].stop == 7 * US);
	for (uint32_t i = 0; i < workload->io_count; i++) {
		const struct workload_flow *first = &workload->flows[workload->ios[i].first];

		CU_ASSERT_EQUAL(first->dependency_count, i % 6 < 2 ? 0 : 1);
		CU_ASSERT_EQUAL(first->start, i % 6 < 2 ? 2 * US : 0);
		CU_ASSERT_EQUAL(first->source, i < 6 ? 0 : 2);
		CU_ASSERT_EQUAL(workload->ios[i].target, 1);
	}
	for (uint32_t i = 0; i < workload->visit_count; i++)
		begins += workload->visits[i].begins;
	CU_ASSERT_EQUAL(begins, 12);
	workload_destroy(workload);
}

static void test_joined_servers_are_apart(void)
{
	static const uint32_t left[] = {4, 5}, right[] = {1, 5};
	struct setting setting;
	char error[256];

	set(&setting);
	setting.storage_params.operations = 3;
	struct workload_member members[2] = {{make(&setting, 2, error, sizeof(error)), left},
					     {make(&setting, 2, error, sizeof(error)), right}};

	CU_ASSERT_FATAL(members[0].workload && members[1].workload);
	struct workload *whole = workload_join(members, 2, 6);

	CU_ASSERT_EQUAL_FATAL(whole->io_count, 6);
	CU_ASSERT_EQUAL_FATAL(whole->server_count, 6);
	CU_ASSERT(whole->parts[0].whole && whole->parts[1].whole);
	for (uint32_t i = 0; i < whole->io_count; i++) {
		const struct workload_io *io = &whole->ios[i];
		const struct workload_flow *last = &whole->flows[io->last];

		CU_ASSERT_EQUAL(io->part, i / 3);
		CU_ASSERT_EQUAL(io->target, 5);
		CU_ASSERT_EQUAL(last->source, i < 3 ? 4 : 1);
		CU_ASSERT_EQUAL_FATAL(last->visit != 0, true);
		CU_ASSERT_EQUAL(whole->servers[whole->visits[last->visit - 1].server].host,
				last->source);
	}
	workload_destroy(whole);
}

static void test_servers_take_turns(void)
{
	struct workload_server list[] = {{.units = 2}, {.units = 1, .device = true}};
	struct workload workload = {.servers = list, .server_count = 2};
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct servers *servers = servers_create(&workload, &sim);
	const struct workload_visit core = {.server = 0, .busy = 10, .latency = 10};
	const struct workload_visit device = {.server = 1, .busy = 10, .latency = 25};

	CU_ASSERT_EQUAL(servers_visit(servers, &core, 100), 110);
	CU_ASSERT_EQUAL(servers_visit(servers, &core, 101), 111);
	CU_ASSERT_EQUAL(servers_visit(servers, &core, 102), 120); /* the first one is free first */
	CU_ASSERT_EQUAL(servers_visit(servers, &core, 200), 210);
	CU_ASSERT_EQUAL(servers_visit(servers, &device, 100), 125);
	CU_ASSERT_EQUAL(servers_visit(servers, &device, 100), 135);
	CU_ASSERT_EQUAL(servers_visit(servers, &device, 119), 145);
	servers_destroy(servers);
	workload.server_count = 0;
	CU_ASSERT_PTR_NULL(servers_create(&workload, &sim));
	servers_destroy(NULL);
	sim_destroy(sim);
}

static void refuse(const struct setting *setting, const char *expected)
{
	char error[256] = "";
	struct workload *workload = make(setting, 3, error, sizeof(error));

	CU_ASSERT_PTR_NULL(workload);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, expected));
	if (!strstr(error, expected))
		printf("\n    %s\n", error);
}

static void test_mistakes_are_named(void)
{
	static const uint32_t hosts[] = {0, 1, 2};
	struct setting setting;

	set(&setting);
	setting.storage_params.protocol = STORAGE_KV_ONE_SIDED;
	setting.storage.tcp = true;
	refuse(&setting, "expected protocol: kv_rpc");
	set(&setting);
	setting.storage_params.queue_depth = 2;
	refuse(&setting, "queue_depth: 2 of 1 operations");
	set(&setting);
	setting.storage_params.block_sizes.count = 0;
	refuse(&setting, "block_sizes: no size");
	set(&setting);
	setting.params.phases = 2;
	refuse(&setting, "phases: 2");
	set(&setting);
	setting.storage.targets = hosts;
	setting.storage.target_count = 3;
	refuse(&setting, "initiators: no host is left");
	setting.storage.initiators = hosts + 1;
	setting.storage.initiator_count = 1;
	refuse(&setting, "targets: host 1 is an initiator, too");
	set(&setting);
	setting.storage_params.operations = 10000000;
	refuse(&setting, "expected fewer operations");
}
