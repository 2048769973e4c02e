/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_hca: measures the simulation speed of detailed adapters: RC writes from one host through a
 * switch to another host, EDR.
 *
 *     write64        64 B, one doorbell for 16 work requests, the last of them signaled
 *     write64-each   64 B, a BlueFlame store with the data inline and a CQE for each
 *     stream         1 MiB, MTU 4096, a doorbell and a CQE for each
 *     idle           bytes of memory of a connected queue pair that is idle
 *
 * It measures processor time on one core. `bench_hca [workload ...]`.
 */
#include <assert.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/endpoints.h"
#include "fabric/topology.h"
#include "fabric/wire/bytes.h"
#include "hca/device/adapter.h"
#include "hca/formats/wqe.h"
#include "hca/transport/transport.h"
#include "hca/work/doorbell.h"
#include "switch/switch.h"

#define BASE        UINT64_C(0x10000000)
#define BYTES       UINT64_C(0x4000000)
#define DATA        (BASE + BYTES / 2)
#define PD          1
#define SQ_BLOCKS   256
#define RQ_ENTRIES  256
#define CQ_ENTRIES  1024
#define STEP        (500 * NS)
#define CONTROL_CQE 8
#define INLINE      UINT32_C(0x80000000)

struct host {
	struct hca_driver driver;
	struct address_resolver resolver;
	struct memory *memory;
	struct hca *adapter;
	uint64_t next_free;
	uint32_t key, cqn, endpoint;
	const struct path *path;
};

struct pair {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct fabric_switch *sw;
	struct host hosts[2];
};

struct workload {
	const char *name;
	uint32_t bytes;
	bool is_inline;
	unsigned list; /* work requests behind one doorbell */
	uint64_t messages;
};

/* clang-format off */
static const struct workload workloads[] = {
	{"write64",      64,      false, 16, 1000000},
	{"write64-each", 64,      true,   1, 1000000},
	{"stream",       1 << 20, false,  1, 3000},
};
/* clang-format on */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ignore_completion(struct hca_driver *driver, uint32_t cqn)
{
	(void)driver;
	(void)cqn;
}

static void refuse_async(struct hca_driver *driver, enum hca_async what, uint32_t number)
{
	(void)driver;
	fprintf(stderr, "event %u of %u\n", (unsigned)what, number);
	abort();
}

static const struct path *no_path(struct address_resolver *resolver, const uint8_t vector[48])
{
	(void)resolver;
	(void)vector;
	return NULL;
}

static void must(int error)
{
	if (error) {
		fprintf(stderr, "command failed: %s\n", strerror(-error));
		abort();
	}
}

static uint64_t take(struct host *host, uint64_t bytes)
{
	uint64_t at = host->next_free;

	host->next_free += (bytes + 63) / 64 * 64;
	assert(host->next_free < DATA);
	return at;
}

static void host_init(struct pair *pair, unsigned index)
{
	static const char *const names[] = {"host0.hca", "host1.hca"};
	struct host *host = &pair->hosts[index];
	struct hca_params params;

	hca_params_default(&params);
	params.device.regions = 64;
	host->driver = (struct hca_driver){ignore_completion, refuse_async};
	host->resolver.resolve = no_path;
	host->memory = memory_buffer_create(BASE, BYTES);
	host->next_free = BASE;
	host->adapter = hca_create(pair->sim, names[index], &params, LINK_INFINIBAND, pair->pool,
				   &host->driver, &host->resolver);
	host->endpoint = endpoints_add(pair->endpoints, names[index], LINK_INFINIBAND,
				       (const uint8_t[]){10, 0, 0, (uint8_t)(index + 1)});
	must(hca_mr_create(host->adapter,
			   &(struct mr){.pd = PD,
					.access = MR_LOCAL_WRITE | MR_REMOTE_WRITE,
					.page_shift = 21,
					.address = BASE,
					.host_address = BASE,
					.length = BYTES,
					.valid = true,
					.memory = host->memory},
			   &host->key));
	must(hca_cq_create(host->adapter,
			   &(struct hca_cq_attr){.memory = host->memory,
						 .buffer = take(host, CQ_ENTRIES * 64),
						 .doorbell_record = take(host, 8),
						 .entries = CQ_ENTRIES,
						 .cqe_bytes = 64,
						 .ignore_overrun = true},
			   &host->cqn));
}

static void find_path(struct pair *pair, unsigned from)
{
	const struct endpoint *source = endpoints_get(pair->endpoints, pair->hosts[from].endpoint);
	const struct endpoint *target = endpoints_get(pair->endpoints, pair->hosts[!from].endpoint);
	struct path path = {
		.source = pair->hosts[from].endpoint,
		.destination = pair->hosts[!from].endpoint,
		.link_layer = LINK_INFINIBAND,
		.slid = source->lid,
		.dlid = target->lid,
		.hop_limit = 64,
	};

	memcpy(path.sgid, source->gids[0].bytes, sizeof(path.sgid));
	memcpy(path.dgid, target->gids[0].bytes, sizeof(path.dgid));
	pair->hosts[from].path = path_intern(endpoints_paths(pair->endpoints), &path);
}

static void link_nodes(struct pair *pair, unsigned host, unsigned sw, unsigned port)
{
	unsigned node = topology_add_host(pair->topology, hca_port(pair->hosts[host].adapter),
					  pair->hosts[host].endpoint);
	char error[256];

	if (!topology_link(pair->topology, node, 0, sw, port, LENGTH_OF_PARAMS, RATE_OF_PARAMS,
			   error, sizeof(error)))
		abort();
}

static struct pair *pair_create(void)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct switch_params params;
	struct topology_switch ops;
	char error[256];
	unsigned sw;

	assert(pair);
	pair->sim = sim_create(SIM_ENGINE_native, 1);
	pair->pool = packet_pool_create();
	pair->endpoints = endpoints_create();
	pair->topology = topology_create(pair->endpoints);
	switch_params_default(&params);
	pair->sw = switch_create(pair->sim, "switch", &params, 2, LINK_INFINIBAND, pair->pool);
	ops = switch_topology(pair->sw);
	sw = topology_add_switch(pair->topology, &ops);
	for (unsigned i = 0; i < 2; i++) {
		host_init(pair, i);
		link_nodes(pair, i, sw, i);
	}
	if (!topology_finish(pair->topology, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	find_path(pair, 0);
	find_path(pair, 1);
	return pair;
}

static uint32_t add_qp(struct host *host, uint64_t *ring)
{
	struct hca_qp_attr attr = {
		.type = QP_RC,
		.memory = host->memory,
		.sq_buffer = take(host, SQ_BLOCKS * WQE_BLOCK_BYTES),
		.doorbell_record = take(host, 8),
		.sq_blocks = SQ_BLOCKS,
		.rq_buffer = take(host, RQ_ENTRIES * WQE_DS_BYTES),
		.rq_entries = RQ_ENTRIES,
		.rq_stride_bytes = WQE_DS_BYTES,
		.pd = PD,
		.send_cqn = host->cqn,
		.recv_cqn = host->cqn,
	};
	uint32_t qpn = 0;

	must(hca_qp_create(host->adapter, &attr, &qpn));
	*ring = attr.sq_buffer;
	return qpn;
}

static void connect(struct host *host, uint32_t qpn, uint32_t peer)
{
	must(hca_qp_modify(host->adapter, qpn,
			   &(struct hca_qp_state){.mask = (QP_SET_RATE_LIMIT << 1) - 1,
						  .state = STATE_RTS,
						  .path = host->path,
						  .dest_qp = peer,
						  .mtu_bytes = 4096,
						  .access = MR_REMOTE_WRITE,
						  .pkey = 0xffff,
						  .timeout = 14,
						  .retry = 7,
						  .rnr_retry = 7,
						  .max_rd_atomic = 1,
						  .max_dest_rd_atomic = 1}));
}

/* Builds one WQE at `index`. Returns the number of its bytes. */
static uint32_t build(const struct workload *workload, const struct host *host, uint32_t qpn,
		      uint32_t rkey, uint32_t index, bool signaled, uint8_t wqe[128])
{
	uint32_t units = workload->is_inline ? 3 + (4 + workload->bytes - 16 + 15) / 16 : 3;

	memset(wqe, 0, 128);
	be32_put(wqe, (index & 0xffff) << 8 | WQE_WRITE);
	be32_put(wqe + 4, qpn << 8 | units);
	wqe[11] = signaled ? CONTROL_CQE : 0;
	be64_put(wqe + 16, DATA);
	be32_put(wqe + 24, rkey);
	if (workload->is_inline) {
		be32_put(wqe + 32, INLINE | workload->bytes);
	} else {
		be32_put(wqe + 32, workload->bytes);
		be32_put(wqe + 36, host->key);
		be64_put(wqe + 40, DATA);
	}
	return (units * WQE_DS_BYTES + WQE_BLOCK_BYTES - 1) / WQE_BLOCK_BYTES * WQE_BLOCK_BYTES;
}

/* Posts a list of work requests from block *block on, and rings the doorbell. */
static void post_list(const struct workload *workload, struct pair *pair, uint32_t qpn,
		      uint64_t ring, uint32_t *block)
{
	struct host *host = &pair->hosts[0];
	uint8_t wqe[128];
	uint32_t bytes = 0;

	for (unsigned i = 0; i < workload->list; i++) {
		bytes = build(workload, host, qpn, pair->hosts[1].key, *block,
			      i + 1 == workload->list, wqe);
		for (uint32_t at = 0; at < bytes; at += WQE_BLOCK_BYTES)
			memory_write(host->memory,
				     ring + (*block + at / WQE_BLOCK_BYTES) % SQ_BLOCKS *
						     WQE_BLOCK_BYTES,
				     wqe + at, WQE_BLOCK_BYTES);
		*block += bytes / WQE_BLOCK_BYTES;
	}
	for (uint32_t at = 0; workload->is_inline && at < bytes; at += WQE_BLOCK_BYTES)
		hca_uar_write(host->adapter, UAR_BLUEFLAME + at, wqe + at, WQE_BLOCK_BYTES);
	if (!workload->is_inline)
		hca_uar_write(host->adapter, UAR_BLUEFLAME, wqe, 8);
}

static void run(const struct workload *workload)
{
	struct pair *pair = pair_create();
	uint64_t ring, other_ring, packets;
	uint32_t qpn = add_qp(&pair->hosts[0], &ring), block = 0;
	uint32_t peer = add_qp(&pair->hosts[1], &other_ring);
	const struct transport_counters *count =
		transport_counters(pair->hosts[0].adapter->transport);
	uint64_t posted = 0, window = workload->is_inline ? SQ_BLOCKS / 2 - 16 : SQ_BLOCKS - 32;
	double start = cpu_seconds(), seconds, simulated;

	connect(&pair->hosts[0], qpn, peer);
	connect(&pair->hosts[1], peer, qpn);
	while (count->wqes_completed < workload->messages) {
		while (posted < workload->messages && posted - count->wqes_completed < window) {
			post_list(workload, pair, qpn, ring, &block);
			posted += workload->list;
		}
		sim_run(pair->sim, sim_now(pair->sim) + STEP);
	}
	seconds = cpu_seconds() - start;
	simulated = (double)sim_now(pair->sim) / (double)SEC;
	packets = port_counters(hca_port(pair->hosts[0].adapter))->packets_sent;
	printf("%-13s %9.0f messages/s, %9.0f packets/s of real time; %6.2f M messages/s, %6.2f "
	       "Gb/s simulated\n",
	       workload->name, (double)count->wqes_completed / seconds, (double)packets / seconds,
	       (double)count->wqes_completed / simulated / 1e6,
	       (double)count->wqes_completed * workload->bytes * 8 / simulated / 1e9);
	free(pair); /* the run ends with the program, whose memory is not freed */
}

static uint64_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void idle(void)
{
	enum { QPS = 1000 };
	struct pair *pair = pair_create();
	uint64_t before = heap_bytes(), ring, each;

	for (unsigned i = 0; i < QPS; i++)
		connect(&pair->hosts[0], add_qp(&pair->hosts[0], &ring), 64);
	each = (heap_bytes() - before) / QPS;
	printf("%-13s %9" PRIu64 " bytes a queue pair\n", "idle", each);
	free(pair);
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++)
		if (wanted(workloads[i].name, argc, argv))
			run(&workloads[i]);
	if (wanted("idle", argc, argv))
		idle();
	return 0;
}
