/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_node: one host: the memory that its rings are in, its regions, and the queue pairs and CQs
 * of its cores.
 *
 *     HCA --memory_write()--> CQE --load_cores_wake()--> core
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"

enum {
	QKEY = 0x11111111,
	RNR_CODE = 1,
	KEY_OF_NOTHING = 0x100,
};

#define ALL_RIGHTS   (MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC)
#define ALL_OF_STATE ((QP_SET_RATE_LIMIT << 1) - 1)

/* ---- memory ---- */

static bool is_within(const struct load_memory *memory, uint64_t address, uint32_t length)
{
	return address <= memory->length && length <= memory->length - address;
}

static bool read_bytes(struct memory *base, uint64_t address, void *bytes, uint32_t length)
{
	struct load_memory *memory = container_of(base, struct load_memory, memory);

	if (!is_within(memory, address, length))
		return false;
	memcpy(bytes, memory->bytes + address, length);
	return true;
}

/* Writes bytes of the HCA. CQs come first in memory and have the same size. The HCA writes nothing
 * else. */
static bool write_bytes(struct memory *base, uint64_t address, const void *bytes, uint32_t length)
{
	struct load_memory *memory = container_of(base, struct load_memory, memory);
	struct load_node *node = memory->node;
	uint64_t cq = address / ((uint64_t)node->cq_entries * load_cqe_bytes(node->load));
	uint32_t cqs = node->threads[0].cq_count;

	if (!is_within(memory, address, length) || cq >= cqs * node->thread_count)
		return false;
	memcpy(memory->bytes + address, bytes, length);
	load_cores_wake(&node->threads[cq / cqs], (uint32_t)(cq % cqs));
	return true;
}

static const struct memory_ops memory_ops = {.load = read_bytes, .store = write_bytes};

/* Reads of data return no contents. Writes are reported to the cores that poll for them. */
static bool read_data(struct memory *memory, uint64_t address, void *bytes, uint32_t length)
{
	(void)memory, (void)address;
	memset(bytes, 0, length);
	return true;
}

static bool write_data(struct memory *base, uint64_t address, const void *bytes, uint32_t length)
{
	(void)bytes;
	load_slot_written(container_of(base, struct load_data, memory)->node, address + length);
	return true;
}

static const struct memory_ops data_ops = {.load = read_data, .store = write_data};

static struct memory *data_memory(struct load_node *node)
{
	return load_serves(node->load) ? &node->data.memory : memory_none();
}

static uint64_t take(struct load_node *node, uint64_t bytes)
{
	uint64_t at = node->memory.taken;

	node->memory.taken += bytes;
	assert(node->memory.taken <= node->memory.length);
	return at;
}

static void memory_init(struct load_node *node)
{
	node->memory.memory =
		(struct memory){.ops = &memory_ops, .name = "load", .has_bytes = true};
	node->memory.node = node;
	node->memory.length = load_plan_bytes(node);
	node->memory.bytes = calloc(1, node->memory.length);
	assert(node->memory.bytes);
	node->data.memory =
		(struct memory){.ops = &data_ops, .name = "load data", .has_bytes = true};
	node->data.node = node;
}

/* ---- commands ---- */

/* Fails the load if `error` is not 0, because the adapter has no more objects of this kind than the
 * parameter `limit` allows. */
static void must(struct load_node *node, int error, const char *what, const char *limit)
{
	if (error)
		load_fail(node,
			  "host %u cannot create a %s: "
			  "%s%s",
			  node->index, what, strerror(-error), limit);
}

static uint32_t page_shift(const struct load_params *params)
{
	uint32_t shift = 0;

	while (UINT64_C(1) << shift < params->page)
		shift++;
	return shift;
}

static uint32_t add_region(struct load_node *node, uint64_t address, uint64_t length,
			   uint64_t host_address, bool on_demand)
{
	const struct load_params *params = &node->load->params;
	struct mr region = {
		.pd = LOAD_PD,
		.access = ALL_RIGHTS,
		.page_shift = page_shift(params),
		.memory = data_memory(node),
		.address = address,
		.host_address = host_address,
		.length = length,
		.physical = params->contiguous,
		.valid = true,
		.on_demand = on_demand,
	};
	uint32_t key = 0;

	must(node, hca_mr_create(node->hca, &region, &key), "region",
	     "; device.regions is the limit");
	return key;
}

/* Adds one region for all buffers of a workload, for local and remote access. */
static void add_buffers(struct load_node *node)
{
	uint64_t page = node->load->params.page,
		 bytes = node->buffer_bytes ? node->buffer_bytes : 1;

	node->keys = calloc(1, sizeof(node->keys[0]));
	assert(node->keys);
	node->keys[0] = add_region(node, LOAD_LOCAL_ADDRESS, (bytes + page - 1) / page * page,
				   LOAD_LOCAL_ADDRESS, false);
	for (uint32_t i = 0; i < node->thread_count; i++) {
		node->threads[i].keys = node->keys;
		node->threads[i].local_key = node->keys[0];
	}
}

/* Returns the bytes of local data of a work request. Each element of a list starts in a page. */
static uint64_t local_bytes(const struct load_params *params)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < params->sges.count; i++)
		bytes += (params->sges.bytes[i] + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
	return params->sges.count ? bytes : load_longest(params);
}

/* Adds the regions of a posting thread that its work requests use in turn. Returns their number. */
static uint64_t add_local_regions(struct load_thread *thread, uint64_t first)
{
	const struct load_params *params = thread->params;
	uint64_t bytes = (local_bytes(params) + params->page - 1) / params->page * params->page;

	if (params->local_regions == 1 || !thread->posts)
		return 0;
	thread->local_keys = calloc(params->local_regions, sizeof(thread->local_keys[0]));
	assert(thread->local_keys);
	for (uint64_t i = 0; i < params->local_regions; i++)
		thread->local_keys[i] = add_region(thread->node, LOAD_LOCAL_ADDRESS, bytes,
						   LOAD_LOCAL_REGIONS + (first + i) * bytes,
						   params->paging == LOAD_PAGING_LOCAL);
	thread->local_key = thread->local_keys[0];
	return params->local_regions;
}

static void add_regions(struct load_node *node)
{
	const struct load_params *params = &node->load->params;
	const struct load_background_params *background = &params->background;
	uint64_t longest = load_longest(params);
	uint64_t bytes =
		params->addresses_per_region * params->address_stride +
		(background->threads && background->bytes > longest ? background->bytes : longest);
	uint64_t background_regions = background->threads ? background->regions : 0;
	uint64_t owners = params->region_of == LOAD_OF_EACH_THREAD ? params->threads : 1;

	if (load_serves(node->load))
		bytes = load_slot_bytes(node->load, node);
	bytes = (bytes + params->page - 1) / params->page * params->page;
	node->keys = calloc(owners * params->regions + background_regions, sizeof(node->keys[0]));
	assert(node->keys);
	for (uint64_t i = 0; i < owners * params->regions + background_regions; i++)
		node->keys[i] = add_region(node, LOAD_REMOTE_ADDRESS, bytes,
					   LOAD_REMOTE_ADDRESS + i * bytes,
					   params->paging == LOAD_PAGING_REMOTE);
	for (uint64_t i = 0; i < node->thread_count; i++) {
		struct load_thread *thread = &node->threads[i];
		uint64_t owner = thread->params != &node->load->background
					 ? i % owners
					 : owners; /* after all other CQEs */

		thread->keys = node->keys + owner * params->regions;
		thread->local_key = i < owners
					    ? add_region(node, LOAD_LOCAL_ADDRESS, LOAD_LOCAL_BYTES,
							 LOAD_LOCAL_ADDRESS + i * LOAD_LOCAL_BYTES,
							 params->paging == LOAD_PAGING_LOCAL)
					    : node->threads[0].local_key;
	}
	for (uint64_t i = 0, first = 0; i < node->thread_count; i++)
		first += add_local_regions(&node->threads[i], first);
}

static void add_cqs(struct load_thread *thread)
{
	struct load_node *node = thread->node;
	const struct load_params *params = &node->load->params;
	enum hca_cq_compress compress = !params->cqe_compression ? CQ_PLAIN
					: params->strides        ? CQ_MINI_STRIDE
								 : CQ_MINI_HASH;

	for (uint32_t i = 0; i < thread->cq_count; i++)
		load_thread_clear(thread, i);
	for (uint32_t i = 0; i < thread->cq_count; i++)
		must(node,
		     hca_cq_create(
			     node->hca,
			     &(struct hca_cq_attr){.memory = &node->memory.memory,
						   .buffer = thread->cqs[i].at,
						   .doorbell_record = take(node, LOAD_RECORD_BYTES),
						   .entries = node->cq_entries,
						   .cqe_bytes = load_cqe_bytes(node->load),
						   .ignore_overrun = true,
						   .compress = compress},
			     &thread->cqs[i].number),
		     "CQ", "; device.cqs is the limit");
}

/* Writes a receive WQE. A list that is shorter than its stride ends with the invalid key. */
static void write_receive(const struct load_qp *qp, uint8_t *wqe)
{
	const struct load_thread *thread = qp->thread;
	const struct param_sizes *list = &thread->params->receive_sges;
	uint32_t bytes = (list->count ? list->count : 1) * WQE_DS_BYTES;

	if (qp->end)
		load_put_element(thread, wqe, qp->end->address, qp->end->bytes);
	else if (!list->count)
		load_put_element(thread, wqe, LOAD_LOCAL_ADDRESS, LOAD_LOCAL_BYTES);
	else
		load_put_elements(thread, wqe, list);
	if (bytes < load_receive_stride(thread->params))
		be32_put(wqe + bytes + 4, KEY_OF_NOTHING);
}

void load_node_add_qp(struct load_thread *thread, uint32_t index)
{
	static const enum qp_type type_of[] = {
		[LOAD_RC] = QP_RC, [LOAD_UC] = QP_UC, [LOAD_UD] = QP_UD, [LOAD_DC] = QP_DCI};
	struct load_node *node = thread->node;
	struct load *load = node->load;
	struct load_qp *qp = &thread->qps[index];
	const struct load_cq *cq = &thread->cqs[index % thread->cq_count];
	uint32_t entries = qp->receive_entries;
	struct hca_qp_attr attr = {
		.type = qp->datagram ? QP_UD : type_of[load->params.transport],
		.memory = &node->memory.memory,
		.sq_blocks = qp->ring_blocks,
		.rq_entries = entries,
		.rq_stride_bytes = load_receive_stride(thread->params),
		.pd = LOAD_PD,
		.send_cqn = cq->number,
		.recv_cqn = cq->number,
		.user_index = index,
		.packet_strides = entries ? (uint32_t)load->params.strides : 0,
		.packet_stride_bytes = (uint32_t)load->params.stride_bytes,
		.receives_to_cqe = load->params.scatter_to_cqe,
		.responses_to_cqe = load->params.scatter_to_cqe,
	};

	qp->ring = attr.sq_buffer = take(node, (uint64_t)attr.sq_blocks * WQE_BLOCK_BYTES);
	qp->receives = attr.rq_buffer = take(node, (uint64_t)entries * attr.rq_stride_bytes);
	qp->record = attr.doorbell_record = take(node, LOAD_RECORD_BYTES);
	qp->began_at = calloc(qp->depth ? qp->depth : 1, sizeof(qp->began_at[0]));
	assert(qp->began_at);
	must(node, hca_qp_create(node->hca, &attr, &qp->number), "QP", "; device.qps is the limit");
	for (uint32_t i = 0; i < entries; i++)
		write_receive(qp,
			      node->memory.bytes + qp->receives + (size_t)i * attr.rq_stride_bytes);
	if (qp->posts && load->params.bfregs) {
		uint32_t user = node->doorbell_users++,
			 own = (uint32_t)load->params.low_latency_bfregs;

		if (user >= own)
			qp->doorbell = &node->doorbells[(user - own) % load->params.bfregs];
	}
	qp->receives_posted = qp->receives_announced = entries;
	be32_put(node->memory.bytes + qp->record, entries & 0xffff);
	load_lines_written(node, qp->receives, (uint64_t)entries * attr.rq_stride_bytes);
}

static void add_thread(struct load_node *node, uint32_t index)
{
	struct load_thread *thread = &node->threads[index];
	char name[64];
	uint64_t responses =
		load_serves(node->load)
			? node->load->params.tx_depth * load_rings(node->load) * thread->qp_count
			: 0;

	thread->cqs = calloc(thread->cq_count, sizeof(thread->cqs[0]));
	thread->arrived_mask =
		load_power_of_two((uint64_t)thread->cq_count * node->cq_entries + responses) - 1;
	thread->arrived = calloc((size_t)thread->arrived_mask + 1, sizeof(thread->arrived[0]));
	assert(thread->cqs && thread->arrived);
	for (uint32_t i = 0; i < thread->cq_count; i++)
		thread->cqs[i].at =
			take(node, (uint64_t)node->cq_entries * load_cqe_bytes(node->load));
	snprintf(name, sizeof(name), "load.host%u.core%u", node->index, index);
	random_init_named(&thread->random, sim_seed(node->load->sim), name, "choices");
	load_cores_init(thread, name);
}

static const struct path *resolve(struct address_resolver *resolver, const uint8_t vector[48])
{
	struct load_node *node = container_of(resolver, struct load_node, resolver);
	uint32_t peer = be16_get(vector + 14);

	return peer && peer <= node->load->params.nodes ? node->paths[peer - 1] : NULL;
}

static void ignore_completion(struct hca_driver *driver, uint32_t cqn)
{
	(void)driver;
	(void)cqn;
}

static void note_async(struct hca_driver *driver, enum hca_async what, uint32_t number)
{
	struct load_node *node = container_of(driver, struct load_node, driver);

	(void)number;
	load_fail(node, "the adapter reports event %u", (unsigned)what);
}

void load_node_attach(struct load *load, uint32_t index)
{
	struct load_node *node = &load->nodes[index];

	node->load = load;
	node->index = index;
	node->driver = (struct hca_driver){ignore_completion, note_async};
	node->resolver = (struct address_resolver){endpoints_paths(load->endpoints), resolve};
}

void load_thread_name(const struct load_thread *thread, const char *what,
		      char name[LOAD_NAME_BYTES])
{
	const char *port = port_name(hca_port(thread->node->hca)); /* HOST.hca.port */
	int length = (int)(strrchr(port, '.') - port);

	while (length && port[length - 1] != '.')
		length--;
	snprintf(name, LOAD_NAME_BYTES, "%.*s%s%u", length, port, what, thread->index);
}

void load_node_init(struct load_node *node)
{
	const struct load_params *params = &node->load->params;

	node->thread_count = load_serves(node->load) && node->index == 0
				     ? (uint32_t)params->server.cores
				     : load_threads(node->load);
	node->threads = calloc(node->thread_count, sizeof(node->threads[0]));
	node->doorbells = calloc(params->bfregs + 1, sizeof(node->doorbells[0]));
	node->paths = calloc(params->nodes, sizeof(struct path *));
	assert(node->threads && node->doorbells && node->paths);
	for (uint32_t i = 0; i < node->thread_count; i++)
		load_plan_thread(node, i);
	node->cq_entries = load_plan_cq_entries(node);
	memory_init(node);
	for (uint32_t i = 0; i < node->thread_count; i++)
		add_thread(node, i);
}

/* ---- connections ---- */

static void set_state_in(struct load_node *node, uint32_t number, const struct path *path,
			 uint32_t dest, uint16_t pkey)
{
	const struct load_params *params = &node->load->params;
	struct hca_qp_state state = {
		.mask = ALL_OF_STATE,
		.state = STATE_RTS,
		.path = path,
		.dest_qp = dest,
		.mtu_bytes = (uint32_t)params->mtu,
		.access = ALL_RIGHTS,
		.qkey = QKEY,
		.pkey = pkey,
		.timeout = node->load->timeout,
		.retry = node->load->retry_count,
		.rnr_retry = 7,
		.min_rnr_timer = RNR_CODE,
		.max_rd_atomic = (uint8_t)params->max_rd_atomic,
		.max_dest_rd_atomic = (uint8_t)params->max_rd_atomic,
	};

	must(node, hca_qp_modify(node->hca, number, &state), "connection", "");
}

static void set_state(struct load_node *node, uint32_t number, const struct path *path,
		      uint32_t dest)
{
	set_state_in(node, number, path, dest, PKEY_DEFAULT);
}

void load_qp_connect(struct load_qp *qp, const struct path *path, uint32_t dest, uint16_t pkey)
{
	set_state_in(qp->thread->node, qp->number, path, dest, pkey);
}

/* Connects both ends of a client's queue pair. */
static void connect_client(const struct load_client *client)
{
	struct load_node *node = client->qp->thread->node, *server = &node->load->nodes[0];

	set_state(node, client->qp->number, node->paths[0], client->far->number);
	set_state(server, client->far->number, server->paths[node->index], client->qp->number);
}

static void connect_served(struct load_thread *thread)
{
	for (uint32_t i = 0; i < thread->qp_count; i++) {
		struct load_qp *qp = &thread->qps[i];

		if (qp->datagram)
			set_state(thread->node, qp->number,
				  thread->node->paths[!thread->node->index], 0);
		else if (qp->client)
			connect_client(qp->client);
	}
	if (thread->node->index == 0)
		load_server_init(thread);
}

/* Returns the queue pair at the other end. Queue pair q to the p-th other node has the number p *
 * qps + q in each thread, at both ends. Queue pairs to the own node are connected in pairs, and a
 * remaining one with itself. */
static struct load_qp *other_end(struct load_thread *thread, uint32_t index)
{
	const struct load_params *params = thread->params;
	struct load_node *node = thread->node;
	uint32_t qps = (uint32_t)params->qps, peer = load_peer(node, params, index / qps), back;

	if (peer == node->index)
		return &thread->qps[(index ^ 1) < qps ? index ^ 1 : index];
	back = load_peer_number(&node->load->nodes[peer], params, node->index);
	return &node->load->nodes[peer].threads[thread->index].qps[back * qps + index % qps];
}

static void connect_thread(struct load_thread *thread)
{
	struct load_node *node = thread->node;
	bool loopback = thread->params->pattern == LOAD_LOOPBACK;

	for (uint32_t i = 0; i < thread->qp_count; i++) {
		struct load_qp *qp = &thread->qps[i], *other;

		if (load_is_addressed(thread->params)) {
			set_state(node, qp->number,
				  node->paths[loopback ? node->index : !node->index], 0);
			continue;
		}
		other = other_end(thread, i);
		qp->peer = other->thread->node;
		qp->dest = other->number;
		set_state(node, qp->number, node->paths[qp->peer->index], other->number);
	}
}

static void add_target(struct load_node *node)
{
	struct hca_srq_attr queue = {
		.memory = &node->memory.memory,
		.buffer = take(node, LOAD_SRQ_ENTRIES * LOAD_SRQ_STRIDE_BYTES),
		.doorbell_record = take(node, LOAD_RECORD_BYTES),
		.entries = LOAD_SRQ_ENTRIES,
		.stride_bytes = LOAD_SRQ_STRIDE_BYTES,
		.pd = LOAD_PD,
	};
	struct hca_qp_attr attr = {
		.type = QP_DCT,
		.memory = &node->memory.memory,
		.pd = LOAD_PD,
		.recv_cqn = node->threads[0].cqs[0].number,
		.dc_key = LOAD_DC_KEY,
	};

	must(node, hca_srq_create(node->hca, &queue, &attr.srqn), "SRQ",
	     "; device.srqs is the limit");
	must(node, hca_qp_create(node->hca, &attr, &node->dct), "DCT", "; device.qps is the limit");
	set_state(node, node->dct, NULL, 0);
}

/* Adds connected queue pairs first, then UD queue pairs. Servers start in this order (HERD: one
 * process connects, then others start). The number of a queue pair determines its processing
 * unit. */
void load_node_add_objects(struct load_node *node)
{
	if (node->load->backend)
		add_buffers(node);
	else
		add_regions(node);
	for (uint32_t i = 0; i < node->thread_count; i++)
		add_cqs(&node->threads[i]);
	for (unsigned datagrams = 0; datagrams < 2; datagrams++)
		for (uint32_t i = 0; i < node->thread_count; i++)
			for (uint32_t j = 0; j < node->threads[i].qp_count; j++)
				if (node->threads[i].qps[j].datagram == (datagrams > 0) &&
				    !node->load->any_bytes)
					load_node_add_qp(&node->threads[i], j);
	if (node->load->params.transport == LOAD_DC)
		add_target(node);
}

void load_node_connect(struct load_node *node)
{
	for (uint32_t i = 0; i < node->thread_count; i++) {
		if (node->load->backend)
			workload_core_init(&node->threads[i]);
		else if (load_serves(node->load))
			connect_served(&node->threads[i]);
		else
			connect_thread(&node->threads[i]);
	}
}

void load_node_fini(struct load_node *node)
{
	for (uint32_t i = 0; i < node->thread_count; i++) {
		struct load_thread *thread = &node->threads[i];

		load_server_fini(thread);
		workload_core_fini(thread);
		load_cores_fini(thread);
		for (uint32_t j = 0; j < thread->qp_count; j++)
			free(thread->qps[j].began_at);
		free(thread->qps);
		free(thread->ready);
		free(thread->local_keys);
		free(thread->cqs);
		free(thread->arrived);
	}
	free(node->threads);
	free(node->doorbells);
	free(node->paths);
	free(node->keys);
	free(node->memory.bytes);
}
