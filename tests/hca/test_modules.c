/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a SystemC module in place of a block gives the results of the built-in block with the
 * same configuration. Counters, trace and packet times are equal, with hits, misses, merges, stalls
 * and invalidations, on both engines that support modules. An object that is not a module is
 * detected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_modules.h"
#include "sim/counters.h"
#include "sim/random.h"
#include "sim/trace.h"
#include "tests/hca/support/mini_driver.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                   \
	TEST(the_traffic_does_it_all) \
	TEST(tlm_cache)               \
	TEST(verilog_cache)           \
	TEST(tlm_engine)              \
	TEST(tlm_round_robin)         \
	TEST(all_three)               \
	TEST(builtin_blocks)          \
	TEST(tlm_flat)                \
	TEST(refused)
SUITE(TESTS)

#define PAIRS    6
#define MESSAGES 600
#define AREA     (UINT64_C(1) << 20)

struct outcome {
	char *counters;
	size_t counters_bytes;
	char *trace;
	size_t trace_bytes;
	uint64_t packets, hash; /* hash of packets and departure times at a port */
	sim_time end;
};

struct packet_log {
	struct sim *sim;
	uint64_t count, hash;
};

static const char trace_path[] = "trace";

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	*hash ^= *hash >> 29;
}

static void log_packet(void *context, struct port *port, const struct packet *packet, sim_time at)
{
	struct packet_log *log = context;

	(void)port;
	log->count++;
	mix(&log->hash, at);
	mix(&log->hash, packet->wire_bytes);
	mix(&log->hash, packet->psn);
	mix(&log->hash, packet->opcode);
}

/* Sets caches so small that every kind of event occurs. */
static void make_tight(struct hca_params *params)
{
	params->translation.mpt.entries = 8;
	params->translation.mpt.mshrs = 1;
	params->translation.mtt.entries = 32;
	params->translation.mtt.line_entries = 2;
	params->translation.mtt.mshrs = 3;
	params->translation.mtt.reads = 2;
	params->translation.mtt.interval = 1 * NS;
	params->dma.inflight = 4;
	params->dma.pieces = 3;
	params->dma.write_interval = 20 * NS;
	params->scheduler.inflight_bytes = 8192;
	params->doorbell.queue = 1;
	params->doorbell.interval = 60 * NS;
	params->wqe_fetch.interval = 3 * NS;
	params->wqe_fetch.queue_interval = 25 * NS;
	params->completion.interval = 150 * NS;
	params->contexts.requester.entries = 4;
	params->contexts.responder.entries = 4;
	params->contexts.responder.replacement = ICM_REPLACE_RANDOM;
}

static void read_whole(const char *path, char **bytes, size_t *count)
{
	FILE *file = fopen(path, "rb");
	long length;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fseek(file, 0, SEEK_END);
	length = ftell(file);
	rewind(file);
	*bytes = malloc((size_t)length + 1);
	*count = fread(*bytes, 1, (size_t)length, file);
	CU_ASSERT_EQUAL(*count, (size_t)length);
	fclose(file);
}

static void post_one(struct random *random, struct mini_qp *qp, uint64_t source, uint64_t target,
		     uint32_t key)
{
	static const uint8_t opcodes[] = {WQE_WRITE, WQE_WRITE, WQE_READ};
	uint32_t length = 1 + (uint32_t)(random_u64(random) % 20000);

	mini_post(qp, &(struct mini_send){
			      .opcode = opcodes[random_u64(random) % ARRAY_SIZE(opcodes)],
			      .address = source + random_u64(random) % (AREA - length),
			      .remote = target + random_u64(random) % (AREA - length),
			      .length = length,
			      .key = key,
		      });
}

/* Regions of its own for each pair; some go while the others are in use. */
static void play(struct mini *mini)
{
	struct mini_host *one = &mini->hosts[0], *other = &mini->hosts[1];
	uint64_t source = mini_alloc(one, AREA), target = mini_alloc(other, AREA);
	struct mini_qp *qps[PAIRS], *peers[PAIRS];
	uint32_t keys[PAIRS];
	struct block block;
	struct random random;
	struct mini_wc wc;

	block_init(&block, mini->sim, &(struct block_type){.name = "test"}, "test", NULL, NULL);
	random_init(&random, &block, "traffic");
	for (unsigned i = 0; i < PAIRS; i++) {
		struct mr mr = *hca_mr_find(one->adapter, one->key);

		CU_ASSERT_EQUAL(hca_mr_create(one->adapter, &mr, &keys[i]), 0);
		qps[i] = mini_qp_create(one, QP_RC);
		peers[i] = mini_qp_create(other, QP_RC);
		mini_connect(qps[i], peers[i], 1024);
	}
	for (unsigned n = 0; n < MESSAGES; n++) {
		unsigned i = (unsigned)(random_u64(&random) % PAIRS);

		post_one(&random, qps[i], source, target, n % 5 ? keys[i] : 0);
		sim_run(mini->sim, sim_now(mini->sim) + random_u64(&random) % (1 * US));
		while (mini_poll(qps[i]->send_cq, &wc))
			CU_ASSERT_EQUAL(wc.syndrome, 0);
		if (n % 50 == 49) {
			struct mr mr = *hca_mr_find(one->adapter, keys[i]);

			mini_run(mini);
			CU_ASSERT_EQUAL(hca_mr_destroy(one->adapter, keys[i]), 0);
			CU_ASSERT_EQUAL(hca_mr_create(one->adapter, &mr, &keys[i]), 0);
		}
	}
	mini_run(mini);
	for (unsigned i = 0; i < PAIRS; i++)
		while (mini_poll(qps[i]->send_cq, &wc))
			CU_ASSERT_EQUAL(wc.syndrome, 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		mini_qp_destroy(qps[i]);
		mini_qp_destroy(peers[i]);
	}
	mini_run(mini);
	block_fini(&block);
}

static struct outcome run(enum sim_engine engine, bool tight, const struct hca_params *modules)
{
	struct mini *mini = mini_create(engine);
	struct packet_log log = {mini->sim, 0, 1};
	struct outcome outcome;
	struct trace_file *trace;
	FILE *out = open_memstream(&outcome.counters, &outcome.counters_bytes);

	if (modules)
		mini->params = *modules;
	mini->params.device.regions = 4096;
	if (tight)
		make_tight(&mini->params);
	trace = trace_open(mini->sim, trace_path, "*");
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	mini_start(mini, LINK_INFINIBAND);
	for (unsigned i = 0; i < 2; i++)
		port_tap(hca_port(mini->hosts[i].adapter), log_packet, &log);
	play(mini);
	counters_print_text(mini->sim, NULL, out);
	counters_print_json(mini->sim, NULL, out); /* with gauges */
	fclose(out);
	CU_ASSERT_TRUE(trace_close(trace));
	read_whole(trace_path, &outcome.trace, &outcome.trace_bytes);
	outcome.packets = log.count;
	outcome.hash = log.hash;
	outcome.end = sim_now(mini->sim);
	mini_destroy(mini);
	return outcome;
}

static void drop(struct outcome *outcome)
{
	free(outcome->counters);
	free(outcome->trace);
}

static bool differ(const struct outcome *one, const struct outcome *other)
{
	return one->end != other->end || one->packets != other->packets ||
	       one->hash != other->hash || one->counters_bytes != other->counters_bytes ||
	       memcmp(one->counters, other->counters, one->counters_bytes) != 0 ||
	       one->trace_bytes != other->trace_bytes ||
	       memcmp(one->trace, other->trace, one->trace_bytes) != 0;
}

static struct hca_params with_translation(const char *name)
{
	struct hca_params params;

	hca_params_default(&params);
	snprintf(params.translation.module.text, sizeof(params.translation.module.text),
		 MODULES "/%s.so", name);
	return params;
}

static void check_alike(const struct hca_params *modules)
{
	for (int tight = 0; tight < 2; tight++) {
		struct outcome expected = run(SIM_ENGINE_native, tight, NULL);

		for (unsigned engine = SIM_ENGINE_systemc; engine <= SIM_ENGINE_systemc_reference;
		     engine++) {
			struct outcome found = run((enum sim_engine)engine, tight, modules);

			CU_ASSERT_FALSE(differ(&expected, &found));
			drop(&found);
		}
		drop(&expected);
	}
}

static uint64_t counter_of(const struct outcome *outcome, const char *name)
{
	const char *line = strstr(outcome->counters, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	return strtoull(line + strlen(name), NULL, 10);
}

/* Checks that the traffic raises every counter of a cache, so that the comparison covers all of
 * them. */
static void test_the_traffic_does_it_all(void)
{
	static const char *const names[] = {
		"host0.hca.translation.mpt.misses=",
		"host0.hca.translation.mpt.evictions=",
		"host0.hca.translation.mpt.stalls=",
		"host0.hca.translation.mpt.invalidations=",
		"host0.hca.translation.mtt.hits=",
		"host0.hca.translation.mtt.merges=",
		"host0.hca.translation.mtt.stalls=",
		"host0.hca.translation.mtt.evictions=",
		"host1.hca.translation.mtt.evictions=",
		"host0.hca.context.requester.write_backs=",
		"host1.hca.context.responder.evictions=",
		"host0.hca.dma.transfer_stalls=",
		"host0.hca.dma.piece_stalls=",
		"host0.hca.scheduler.throttled=",
		"host0.hca.scheduler.idle=",
		"host0.hca.dma.write_waits=",
		"host0.hca.doorbell.stalls=",
		"host0.hca.wqe_fetch.reads=",
	};
	struct outcome tight = run(SIM_ENGINE_native, true, NULL);
	struct outcome wide = run(SIM_ENGINE_native, false, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CU_ASSERT_TRUE(counter_of(&tight, names[i]) > 0);
	CU_ASSERT_TRUE(differ(&tight, &wide));
	CU_ASSERT_EQUAL(tight.packets, 7091);
	drop(&tight);
	drop(&wide);
}

static void test_tlm_cache(void)
{
	struct hca_params params = with_translation("tlm_cache");

	check_alike(&params);
}

static void test_verilog_cache(void)
{
#ifdef WITH_VERILOG
	struct hca_params params = with_translation("verilog_cache");

	check_alike(&params);
#else
	printf("not built: no Verilator ... ");
#endif
}

static void use(struct param_text *module, const char *name)
{
	snprintf(module->text, sizeof(module->text), MODULES "/%s.so", name);
}

static void test_tlm_engine(void)
{
	struct hca_params params;

	hca_params_default(&params);
	use(&params.dma.module, "tlm_engine");
	check_alike(&params);
}

static void test_tlm_round_robin(void)
{
	struct hca_params params;

	hca_params_default(&params);
	use(&params.scheduler.module, "tlm_round_robin");
	check_alike(&params);
}

static void test_all_three(void)
{
	struct hca_params params = with_translation("tlm_cache");

	use(&params.scheduler.module, "tlm_round_robin");
	use(&params.dma.module, "tlm_engine");
	check_alike(&params);
}

/* Tests each built-in block compiled as a module, alone and together with the others. */
static void test_builtin_blocks(void)
{
	struct hca_params params;

	hca_params_default(&params);
	use(&params.doorbell.module, "builtin_doorbell");
	check_alike(&params);
	hca_params_default(&params);
	use(&params.wqe_fetch.module, "builtin_wqe_fetch");
	check_alike(&params);
	hca_params_default(&params);
	use(&params.contexts.module, "builtin_contexts");
	check_alike(&params);
	use(&params.completion.module, "builtin_completion");
	check_alike(&params);
	use(&params.doorbell.module, "builtin_doorbell");
	use(&params.wqe_fetch.module, "builtin_wqe_fetch");
	check_alike(&params);
}

/* Each request takes 30 ns, by the module's own process. Both engines give the same result, which
 * differs from the built-in block's. */
static void test_tlm_flat(void)
{
	struct hca_params params = with_translation("tlm_flat");
	struct outcome expected = run(SIM_ENGINE_native, false, NULL);
	struct outcome systemc = run(SIM_ENGINE_systemc, false, &params);
	struct outcome reference = run(SIM_ENGINE_systemc_reference, false, &params);

	CU_ASSERT_FALSE(differ(&systemc, &reference));
	CU_ASSERT_TRUE(differ(&systemc, &expected));
	CU_ASSERT_EQUAL(counter_of(&systemc, "host0.hca.translation.mpt.lookups="), 0);
	CU_ASSERT_TRUE(counter_of(&systemc, "host0.hca.translation.granted=") > 1000);
	drop(&expected);
	drop(&systemc);
	drop(&reference);
}

static void test_refused(void)
{
	struct hca_params params = with_translation("tlm_cache");
	char error[512] = "";

	CU_ASSERT_TRUE(hca_modules_accept(&params, error, sizeof(error)));
	params.translation.mtt.replacement = ICM_REPLACE_RANDOM;
	CU_ASSERT_FALSE(hca_modules_accept(&params, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "replacement: lru"));
	CU_ASSERT_PTR_NULL(
		hca_module_find(MODULE_TRANSLATION, MODULES "/none.so", error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "none.so"));
	CU_ASSERT_PTR_NULL(hca_module_find(MODULE_TRANSLATION, "libm.so.6", error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "exports no hca_translation_module"));
}
