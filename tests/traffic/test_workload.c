/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a workload depends only on its parameters and seed. Each pattern has the right flows
 * and bytes. A waiting flow begins when its dependencies allow it and not before. A single flow
 * takes exactly its ideal time. Published sizes and offered loads are right.
 */
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"
#include "traffic/workload/distribution.h"
#include "traffic/workload/endpoint_backend.h"
#include "traffic/workload/flow_driver.h"

#define TESTS(TEST)                        \
	TEST(seed_decides)                 \
	TEST(patterns_have_their_flows)    \
	TEST(permutation_is_one)           \
	TEST(poisson_offers_its_load)      \
	TEST(sizes_have_their_means)       \
	TEST(target_is_a_name_or_a_number) \
	TEST(what_does_not_fit_is_refused) \
	TEST(joined_workloads_keep_apart)  \
	TEST(alone_takes_the_ideal_time)   \
	TEST(all_patterns_play)            \
	TEST(incast_shares_the_link)       \
	TEST(nothing_begins_after_stop)    \
	TEST(table_is_written)             \
	TEST(incasts_beside)
SUITE(TESTS)

#define HOSTS 8

static const uint64_t rate_bps = 100000000000;

static struct workload_params defaults(enum workload_pattern pattern)
{
	struct workload_params params;

	params_default(workload_param_list, &params);
	params.pattern = pattern;
	params.bytes = 100000;
	return params;
}

static struct workload *make(const struct workload_params *params, uint32_t hosts, uint64_t seed)
{
	char error[256] = "";
	struct workload *workload = workload_create(
		params, hosts, rate_bps, seed, &(struct workload_files){0}, error, sizeof(error));

	if (!workload)
		printf("%s\n", error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	return workload;
}

static uint64_t total_bytes(const struct workload *workload)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < workload->count; i++)
		bytes += workload->flows[i].bytes;
	return bytes;
}

static bool same(const struct workload *one, const struct workload *other)
{
	if (one->count != other->count)
		return false;
	for (uint32_t i = 0; i < one->count; i++) {
		const struct workload_flow *a = &one->flows[i], *b = &other->flows[i];

		if (a->source != b->source || a->destination != b->destination ||
		    a->bytes != b->bytes || a->start != b->start || a->operation != b->operation)
			return false;
	}
	return true;
}

static void test_seed_decides(void)
{
	static const enum workload_pattern patterns[] = {PATTERN_permutation, PATTERN_random,
							 PATTERN_hotspot, PATTERN_shuffle,
							 PATTERN_poisson};

	for (unsigned i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct workload_params params = defaults(patterns[i]);

		params.count = 3;
		params.sizes = DISTRIBUTION_hadoop;
		struct workload *one = make(&params, 32, 1), *again = make(&params, 32, 1);
		struct workload *other = make(&params, 32, 2);

		CU_ASSERT_TRUE(same(one, again));
		CU_ASSERT_FALSE(same(one, other));
		workload_destroy(one);
		workload_destroy(again);
		workload_destroy(other);
	}
}

static void test_patterns_have_their_flows(void)
{
	/* flows among 8 hosts, and bytes of all of them; count is 2 */
	static const struct {
		enum workload_pattern pattern;
		uint32_t flows;
		uint64_t bytes;
	} rows[] = {
		{PATTERN_incast, 14, 1400000},
		{PATTERN_permutation, 16, 1600000},
		{PATTERN_shift, 16, 1600000},
		{PATTERN_all_to_all, 112, 11200000},
		{PATTERN_random, 16, 1600000},
		{PATTERN_hotspot, 16, 1600000},
		{PATTERN_shuffle, 56, 5600000},
		{PATTERN_request_response, 28, 14 * (64 + 100000)},
		{PATTERN_ring_allreduce, 8 * 14, 8 * 14 * 12500},
		{PATTERN_tree_allreduce, 14, 1400000},
		{PATTERN_halving_doubling_allreduce, 8 * 6, 8 * 2 * (50000 + 25000 + 12500)},
		{PATTERN_ring_allgather, 8 * 7, 8 * 7 * 100000},
		{PATTERN_collective_all_to_all, 8 * 7, 8 * 7 * 100000},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct workload_params params = defaults(rows[i].pattern);

		params.count = 2;
		struct workload *workload = make(&params, HOSTS, 1);

		CU_ASSERT_EQUAL(workload->count, rows[i].flows);
		CU_ASSERT_EQUAL(total_bytes(workload), rows[i].bytes);
		for (uint32_t j = 0; j < workload->count; j++)
			CU_ASSERT_NOT_EQUAL(workload->flows[j].source,
					    workload->flows[j].destination);
		workload_destroy(workload);
	}
}

static void test_permutation_is_one(void)
{
	struct workload_params params = defaults(PATTERN_permutation);
	struct workload *workload = make(&params, 100, 7);
	unsigned received[100] = {0};

	for (uint32_t i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(workload->flows[i].source, i);
		received[workload->flows[i].destination]++;
	}
	for (uint32_t i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(received[i], 1);
	workload_destroy(workload);
}

static void test_poisson_offers_its_load(void)
{
	struct workload_params params = defaults(PATTERN_poisson);
	double offered;

	params.offered_load = 0.3;
	params.sizes = DISTRIBUTION_storage;
	params.arrivals_until = 100 * MS;
	struct workload *workload = make(&params, 16, 1);

	offered = (double)total_bytes(workload) * 8 / (16 * 0.1 * 100e9);
	CU_ASSERT_DOUBLE_EQUAL(offered, 0.3, 0.01);
	for (uint32_t i = 0; i < workload->count; i++)
		CU_ASSERT(workload->flows[i].start < 100 * MS);
	workload_destroy(workload);
}

/* The expected values are calculated by hand, as trapezoids under the published points. */
static void test_sizes_have_their_means(void)
{
	static const struct {
		enum distribution which;
		double mean, median;
	} rows[] = {
		{DISTRIBUTION_web_search, 1711250, 73076.923},
		{DISTRIBUTION_web_search_1k, 1140980, 48384.615},
		{DISTRIBUTION_hadoop, 120420.75, 700},
		{DISTRIBUTION_storage, 40869.8, 6339.671},
		{DISTRIBUTION_irn, 275433, 1000},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct size_distribution *sizes = distribution_create(rows[i].which);
		struct random random;
		double sum = 0;

		random_init_named(&random, 1, "test", "sizes");
		for (unsigned j = 0; j < 200000; j++)
			sum += (double)distribution_draw(sizes, &random);
		CU_ASSERT_DOUBLE_EQUAL(distribution_mean(sizes), rows[i].mean, 0.01);
		CU_ASSERT_DOUBLE_EQUAL(distribution_quantile(sizes, 0.5), rows[i].median, 0.01);
		CU_ASSERT_DOUBLE_EQUAL(sum / 200000 / rows[i].mean, 1, 0.02);
		distribution_destroy(sizes);
	}
}

/* A target by name is the same as by number. Digits are a number, even if a host has this name. */
static void test_target_is_a_name_or_a_number(void)
{
	static const char *const names[] = {"alpha", "beta", "0", "delta"};
	const struct workload_files files = {.names = names};
	static const struct {
		const char *target;
		uint32_t host;
		const char *error;
	} rows[] = {
		{"delta", 3, ""},
		{"alpha", 0, ""},
		{"0", 0, ""},
		{"2", 2, ""},
		{"betta", 0, "target: no host \"betta\"; did you mean \"beta\"?"},
		{"somewhere", 0, "target: no host \"somewhere\"; expected a number or a name"},
		{"", 0, "target: no host \"\"; expected a number or a name"},
		{"4", 0, "target: no host 4; expected 0..3"},
		{"18446744073709551616", 0, "target: no host 18446744073709551616; expected 0..3"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct workload_params params = defaults(PATTERN_incast);
		char error[256] = "";
		struct workload *workload;

		snprintf(params.target.text, sizeof(params.target.text), "%s", rows[i].target);
		workload = workload_create(&params, ARRAY_SIZE(names), rate_bps, 1, &files, error,
					   sizeof(error));
		CU_ASSERT_STRING_EQUAL(error, rows[i].error);
		CU_ASSERT_EQUAL(workload != NULL, *rows[i].error == '\0');
		for (uint32_t j = 0; workload && j < workload->count; j++)
			CU_ASSERT_EQUAL(workload->flows[j].destination, rows[i].host);
		if (workload)
			workload_destroy(workload);
	}
}

static void test_what_does_not_fit_is_refused(void)
{
	struct workload_params params = defaults(PATTERN_incast);
	char error[256];

	params.target = (struct param_text){"8"};
	CU_ASSERT_PTR_NULL(workload_create(&params, 8, rate_bps, 1, &(struct workload_files){0},
					   error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "target: no host 8; expected 0..7");
	params = defaults(PATTERN_halving_doubling_allreduce);
	CU_ASSERT_PTR_NULL(workload_create(&params, 12, rate_bps, 1, &(struct workload_files){0},
					   error, sizeof(error)));
	CU_ASSERT(strstr(error, "12 hosts") != NULL);
	params = defaults(PATTERN_shift);
	params.stride = 16;
	CU_ASSERT_PTR_NULL(workload_create(&params, 8, rate_bps, 1, &(struct workload_files){0},
					   error, sizeof(error)));
}

/* A combined workload has the flows of its members on their hosts, in order. Each member keeps its
 * own queue pairs and dependencies. */
static void test_joined_workloads_keep_apart(void)
{
	static const uint32_t even[] = {0, 2, 4, 6}, odd[] = {7, 1};
	struct workload_params shuffle = defaults(PATTERN_shuffle), pair = defaults(PATTERN_shift);
	struct workload *whole;

	shuffle.phases = 2;
	pair.post_until = 5 * US;
	pair.queue_pairs = 1;
	pair.count = 2;
	struct workload *alone = make(&shuffle, 4, 1);
	const struct workload_member members[] = {{make(&shuffle, 4, 1), even},
						  {make(&pair, 2, 1), odd}};

	whole = workload_join(members, 2, HOSTS);
	CU_ASSERT_EQUAL(whole->part_count, 2);
	CU_ASSERT_EQUAL(whole->count, alone->count + 4);
	CU_ASSERT_EQUAL(whole->parts[0].stop, SIM_NEVER);
	CU_ASSERT_EQUAL(whole->parts[1].stop, 5 * US);
	CU_ASSERT_EQUAL(whole->parts[1].first_queue_pair, alone->count);
	for (uint32_t i = 0; i < alone->count; i++) {
		const struct workload_flow *one = &alone->flows[i], *other = &whole->flows[i];

		CU_ASSERT(other->source == even[one->source] &&
			  other->destination == even[one->destination]);
		CU_ASSERT(other->part == 0 && other->queue_pair == one->queue_pair);
		CU_ASSERT_EQUAL(other->next_count, one->next_count);
		for (uint32_t k = 0; k < one->next_count; k++)
			CU_ASSERT_EQUAL(whole->next[other->first_next + k],
					alone->next[one->first_next + k]);
	}
	for (uint32_t i = alone->count; i < whole->count; i++) {
		const struct workload_flow *flow = &whole->flows[i];

		CU_ASSERT(flow->part == 1 && flow->queue_pair == alone->count);
		CU_ASSERT(flow->source + flow->destination == 8);
	}
	workload_destroy(alone);
	workload_destroy(whole);
}

/* ---- played ---- */

static struct ideal_route star_route(void *context, uint32_t source, uint32_t destination)
{
	const struct study *study = context;
	const struct port *port = endpoint_port(study->hosts[0]);
	bool ethernet = study->link_layer == LINK_ETHERNET;

	(void)source, (void)destination;
	return (struct ideal_route){
		.latency = 2 * port_latency(port) + study->switch_params.forwarding_latency +
			   (ethernet ? port_serialization(port, 8) : 0),
		.rate_bps = port_rate_bps(port),
		.hops = 2,
	};
}

struct session {
	struct study study;
	struct flow_driver_params params;
	struct workload *workload;
	struct backend *backend;
	struct flow_driver *driver;
	const struct flow_record *records;
};

static void session_play(struct session *session, enum link_layer link_layer,
			 const struct workload_params *params, uint64_t message,
			 uint64_t outstanding_messages)
{
	study_init(&session->study, link_layer, "none", 1, HOSTS);
	study_star(&session->study, HOSTS);
	params_default(flow_driver_param_list, &session->params);
	session->params.message = message;
	session->params.outstanding_messages = outstanding_messages;
	session->workload = make(params, HOSTS, 1);
	session->backend =
		endpoint_backend_create(session->study.hosts, HOSTS, &session->study.params);
	session->driver = flow_driver_create(session->study.sim, session->workload,
					     &(struct flow_driver_part){.params = &session->params},
					     session->backend, star_route, &session->study);
	session->records = flow_driver_records(session->driver);
	sim_run(session->study.sim, SIM_NEVER);
}

static void session_end(struct session *session)
{
	flow_driver_destroy(session->driver);
	session->backend->ops->destroy(session->backend);
	workload_destroy(session->workload);
	study_fini(&session->study);
}

static void test_alone_takes_the_ideal_time(void)
{
	static const uint64_t sizes[] = {1, 4096, 4097, 1000000};

	for (unsigned i = 0; i < 2 * 4 * ARRAY_SIZE(sizes); i++) {
		struct workload_params params = defaults(PATTERN_incast);
		struct session session;

		params.fan_in = 1;
		params.bytes = sizes[i / 8];
		params.operation = i / 2 % 4;
		session_play(&session, i % 2 ? LINK_ETHERNET : LINK_INFINIBAND, &params, 0, 1);
		CU_ASSERT_EQUAL(session.records[0].status, FLOW_done);
		CU_ASSERT_EQUAL(flow_fct(&session.records[0]), session.records[0].ideal);
		session_end(&session);
	}
}

/* No flow begins before its dependencies end. No flow is faster than its ideal. All sent data are
 * received. */
static void check_played(const struct session *session)
{
	const struct workload *workload = session->workload;
	uint64_t received = 0, bytes = 0;

	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *flow = &workload->flows[i];
		const struct flow_record *record = &session->records[i];

		CU_ASSERT_EQUAL(record->status, FLOW_done);
		if (workload_is_barrier(flow))
			continue;
		CU_ASSERT(flow_fct(record) >= record->ideal);
		CU_ASSERT(record->ready >= flow->start);
		CU_ASSERT(record->arrived > record->ready && record->arrived <= record->finished);
		bytes += flow->operation == WORKLOAD_ATOMIC ? 0 : flow->bytes;
		for (uint32_t j = 0; j < flow->next_count; j++) {
			uint32_t then = workload->next[flow->first_next + j];
			bool by_arrival = !workload_is_barrier(&workload->flows[then]) &&
					  workload->flows[then].source == flow->destination;

			CU_ASSERT(session->records[then].ready >=
				  workload->flows[then].start +
					  (by_arrival ? record->arrived : record->finished));
		}
	}
	for (unsigned i = 0; i < HOSTS; i++)
		received += endpoint_counters(session->study.hosts[i])->data_bytes_received;
	CU_ASSERT_EQUAL(received, bytes);
	CU_ASSERT_TRUE(flow_driver_finished(session->driver));
	CU_ASSERT_EQUAL(packet_pool_in_use(session->study.pool), 0);
}

static void test_all_patterns_play(void)
{
	for (unsigned pattern = 0; pattern < PATTERN_trace; pattern++) {
		for (unsigned layer = 0; layer < 2; layer++) {
			struct workload_params params = defaults((enum workload_pattern)pattern);
			struct session session;

			params.count = 2;
			params.phases = 2;
			params.gap = 3 * US;
			params.arrivals_until = 100 * US;
			params.queue_pairs = 2;
			params.operation = layer ? 4 : 0; /* mix */
			session_play(&session, layer ? LINK_ETHERNET : LINK_INFINIBAND, &params,
				     layer ? 30000 : 0, 2);
			check_played(&session);
			session_end(&session);
		}
	}
}

/* Eight flows to one host take eight times as long, because they share the bottleneck. The last
 * flow ends when all bytes have arrived. */
static void test_incast_shares_the_link(void)
{
	struct workload_params params = defaults(PATTERN_incast);
	struct flow_summary summary;
	struct session session;

	params.bytes = 4096 * 1000;
	session_play(&session, LINK_ETHERNET, &params, 0, 1);
	summary = flow_table_summarise(session.records, session.workload->count,
				       &(struct flow_choice){.high = UINT64_MAX});
	CU_ASSERT_EQUAL(summary.done, 7);
	CU_ASSERT_EQUAL(summary.bytes, 7 * 4096000);
	CU_ASSERT_DOUBLE_EQUAL(summary.slowdown_p99, 7, 0.1);
	CU_ASSERT(summary.slowdown_p50 > 6);
	session_end(&session);
}

static void test_nothing_begins_after_stop(void)
{
	struct workload_params params = defaults(PATTERN_request_response);
	struct flow_driver_params flow_driver_params;
	struct study study;
	struct workload *workload;
	struct backend *backend;
	struct flow_driver *driver;
	unsigned not_started = 0;

	params.count = 1000;
	study_init(&study, LINK_ETHERNET, "none", 1, HOSTS);
	study_star(&study, HOSTS);
	params_default(flow_driver_param_list, &flow_driver_params);
	flow_driver_params.start_deadline = 1 * MS;
	workload = make(&params, HOSTS, 1);
	backend = endpoint_backend_create(study.hosts, HOSTS, &study.params);
	driver = flow_driver_create(study.sim, workload,
				    &(struct flow_driver_part){.params = &flow_driver_params},
				    backend, star_route, &study);
	sim_run(study.sim, SIM_NEVER);
	for (uint32_t i = 0; i < workload->count; i++) {
		const struct flow_record *record = &flow_driver_records(driver)[i];

		CU_ASSERT(record->ready <= 1 * MS);
		not_started += record->status == FLOW_not_started;
	}
	CU_ASSERT(not_started > 10000 && not_started < 14000);
	CU_ASSERT(sim_now(study.sim) < 2 * MS);
	flow_driver_destroy(driver);
	backend->ops->destroy(backend);
	workload_destroy(workload);
	study_fini(&study);
}

static void test_table_is_written(void)
{
	struct workload_params params = defaults(PATTERN_incast);
	struct session session;
	char *text = NULL, header[512] = "";
	size_t bytes = 0;
	unsigned lines = 0;

	params.fan_in = 1;
	params.phases = 2; /* and a barrier, which is not shown */
	session_play(&session, LINK_ETHERNET, &params, 0, 1);
	FILE *out = open_memstream(&text, &bytes);

	flow_table_write(session.records, session.workload->count, NULL, out);
	fclose(out);
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	sscanf(text, "%511[^\n]", header);
	CU_ASSERT_EQUAL(lines, 3);
	CU_ASSERT_STRING_EQUAL(
		header,
		"flow,source,destination,operation,queue_pair,hops,bytes_B,ready_us,started_us,"
		"arrived_us,finished_us,ideal_us,packets,retransmitted,marked,cnps,paused_us,"
		"incast,"
		"status,"
		"fct_us,slowdown");
	CU_ASSERT(strstr(text, "\n0,1,0,write,0,2,100000,0.000000,0.600000,") != NULL);
	CU_ASSERT(strstr(text, ",done,") && strstr(text, ",1.0000\n"));
	free(text);
	session_end(&session);
}

/* Seven senders of two flows of 100 KB offer a tenth of eight links of 100 Gb/s: an incast every
 * 140 us, the first at 70. */
static void test_incasts_beside(void)
{
	struct workload_params params = defaults(PATTERN_poisson);
	uint32_t incasts = 0, flows = 0, targets = 0;

	params.offered_load = 0.1;
	params.arrivals_until = 1 * MS;
	struct workload *without = make(&params, HOSTS, 1);

	params.incast_load = 0.1;
	params.incast_fan_in = 0;
	params.incast_flows = 2;
	params.incast_bytes = 100000;
	struct workload *with = make(&params, HOSTS, 1);

	for (uint32_t i = 0; i < with->count; i++) {
		const struct workload_flow *flow = &with->flows[i];

		if (!flow->incast)
			continue;
		CU_ASSERT_EQUAL(flow->bytes, 100000);
		CU_ASSERT_EQUAL(flow->start, 70 * US + flows / 14 * 140 * US);
		CU_ASSERT_NOT_EQUAL(flow->source, flow->destination);
		if (flows % 14 == 0) {
			incasts++;
			targets = flow->destination;
		}
		CU_ASSERT_EQUAL(flow->destination, targets);
		if (flows % 14 != 0)
			CU_ASSERT_EQUAL(flow->source == with->flows[i - 1].source, flows % 2 == 1);
		flows++;
	}
	CU_ASSERT_EQUAL(incasts, 7);
	CU_ASSERT_EQUAL(flows, 98);
	CU_ASSERT_EQUAL(with->count, without->count + 98);
	for (uint32_t i = 0; i < without->count; i++) /* the others stay as they were */
		CU_ASSERT(with->flows[i].start == without->flows[i].start &&
			  with->flows[i].bytes == without->flows[i].bytes &&
			  !with->flows[i].incast);
	workload_destroy(with);
	workload_destroy(without);
	params.incast_fan_in = 3;
	params.incast_flows = 1;
	with = make(&params, HOSTS, 1); /* 30 us */
	CU_ASSERT_EQUAL(with->flows[with->count - 1].start, 15 * US + 32 * 30 * US);
	workload_destroy(with);
}
