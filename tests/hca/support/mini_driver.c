/* SPDX-License-Identifier: Apache-2.0 */
/* mini_driver: see mini_driver.h. */
#include "tests/hca/support/mini_driver.h"

#include <CUnit/CUnit.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "hca/work/doorbell.h"

#define PAGE 4096
#define UNIT 16
#define ALL_RIGHTS \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_WINDOW_BIND)
#define RQ_STRIDE      64
#define DEFAULT_BLOCKS 64

static void completion_event(struct hca_driver *driver, uint32_t cqn)
{
	struct mini_host *host = container_of(driver, struct mini_host, driver);

	assert(cqn);
	if (host->cq_events < EVENTS_MAX)
		host->cq_event_at[host->cq_events] = sim_now(host->mini->sim);
	host->cq_events++;
}

static void async_event(struct hca_driver *driver, enum hca_async what, uint32_t number)
{
	struct mini_host *host = container_of(driver, struct mini_host, driver);

	assert(host->async_count < EVENTS_MAX);
	host->asyncs[host->async_count].what = what;
	host->asyncs[host->async_count++].number = number;
}

/* The LID of the address vector selects the adapter. 0: none. */
static const struct path *resolve(struct address_resolver *resolver, const uint8_t vector[48])
{
	struct mini_host *host = container_of(resolver, struct mini_host, resolver);
	struct mini *mini = host->mini;

	return be16_get(vector + 14) ? mini->paths[host == &mini->hosts[1]] : NULL;
}

struct mini *mini_create(enum sim_engine engine)
{
	struct mini *mini = calloc(1, sizeof(*mini));

	assert(mini);
	mini->sim = sim_create(engine, 1);
	mini->pool = packet_pool_create();
	mini->endpoints = endpoints_create();
	hca_params_default(&mini->params);
	mini->params.device.regions = 4096;
	return mini;
}

static void make_path(struct mini *mini, unsigned from, enum link_layer link_layer)
{
	const struct endpoint *source = endpoints_get(mini->endpoints, mini->hosts[from].endpoint);
	const struct endpoint *target = endpoints_get(mini->endpoints, mini->hosts[!from].endpoint);
	unsigned gid = link_layer == LINK_ETHERNET ? target->gid_count - 1 : 0;
	struct path path = {
		.source = mini->hosts[from].endpoint,
		.destination = mini->hosts[!from].endpoint,
		.link_layer = (uint8_t)link_layer,
		.roce_version = target->gids[gid].roce_version,
		.has_grh = link_layer == LINK_ETHERNET,
		.slid = source->lid,
		.dlid = target->lid,
		.hop_limit = 64,
		.udp_source_port = link_layer == LINK_ETHERNET ? 49152 : 0,
	};

	memcpy(path.sgid, source->gids[gid].bytes, 16);
	memcpy(path.dgid, target->gids[gid].bytes, 16);
	memcpy(path.smac, source->mac, 6);
	memcpy(path.dmac, target->mac, 6);
	mini->paths[from] = path_intern(endpoints_paths(mini->endpoints), &path);
}

void mini_start(struct mini *mini, enum link_layer link_layer)
{
	static const char *const names[] = {"host0.hca", "host1.hca"};

	for (unsigned i = 0; i < 2; i++) {
		struct mini_host *host = &mini->hosts[i];
		struct mr all = {
			.pd = PD,
			.access = ALL_RIGHTS,
			.page_shift = 12,
			.address = MEMORY_BASE,
			.host_address = MEMORY_BASE,
			.length = MEMORY_BYTES,
			.valid = true,
		};

		host->mini = mini;
		host->driver = (struct hca_driver){completion_event, async_event};
		host->resolver =
			(struct address_resolver){endpoints_paths(mini->endpoints), resolve};
		host->memory = memory_buffer_create(MEMORY_BASE, MEMORY_BYTES);
		host->next_free = MEMORY_BASE;
		host->endpoint = endpoints_add(mini->endpoints, names[i], link_layer,
					       (const uint8_t[]){10, 0, 0, (uint8_t)(i + 1)});
		host->adapter = hca_create(mini->sim, names[i], &mini->params, link_layer,
					   mini->pool, &host->driver, &host->resolver);
		all.memory = host->memory;
		assert(hca_mr_create(host->adapter, &all, &host->key) == 0);
	}
	port_connect(hca_port(mini->hosts[0].adapter), hca_port(mini->hosts[1].adapter));
	make_path(mini, 0, link_layer);
	make_path(mini, 1, link_layer);
}

void mini_run(struct mini *mini)
{
	sim_run(mini->sim, SIM_NEVER);
}

void mini_destroy(struct mini *mini)
{
	CU_ASSERT_EQUAL(blocks_check(mini->sim, stderr), 0);
	for (unsigned i = 0; i < 2; i++)
		hca_destroy(mini->hosts[i].adapter);
	for (unsigned i = 0; i < 2; i++)
		memory_buffer_destroy(mini->hosts[i].memory);
	CU_ASSERT_EQUAL(packet_pool_in_use(mini->pool), 0);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(mini->pool), 0);
	sim_destroy(mini->sim);
	endpoints_destroy(mini->endpoints);
	packet_pool_destroy(mini->pool);
	free(mini);
}

/* ---- memory ---- */

uint64_t mini_alloc(struct mini_host *host, uint64_t bytes)
{
	uint64_t address = host->next_free;

	host->next_free += (bytes + PAGE - 1) / PAGE * PAGE;
	assert(host->next_free <= MEMORY_BASE + MEMORY_BYTES);
	return address;
}

static void write_memory(struct mini_host *host, uint64_t address, const void *bytes,
			 uint32_t length)
{
	bool mapped = memory_write(host->memory, address, bytes, length);

	assert(mapped);
}

static void read_memory(struct mini_host *host, uint64_t address, void *bytes, uint32_t length)
{
	bool mapped = memory_read(host->memory, address, bytes, length);

	assert(mapped);
}

static uint8_t pattern(uint32_t i, uint32_t seed)
{
	return (uint8_t)((i + seed) * UINT32_C(2654435761) >> 24);
}

void mini_fill(struct mini_host *host, uint64_t address, uint32_t bytes, uint32_t seed)
{
	uint8_t *data = malloc(bytes + 1);

	assert(data);
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = pattern(i, seed);
	write_memory(host, address, data, bytes);
	free(data);
}

bool mini_matches(struct mini_host *host, uint64_t address, uint32_t bytes, uint32_t seed)
{
	uint8_t *data = malloc(bytes + 1);
	bool same = true;

	assert(data);
	read_memory(host, address, data, bytes);
	for (uint32_t i = 0; i < bytes && same; i++)
		same = data[i] == pattern(i, seed);
	free(data);
	return same;
}

uint64_t mini_u64(struct mini_host *host, uint64_t address)
{
	uint64_t value;

	read_memory(host, address, &value, sizeof(value));
	return value;
}

void mini_put_u64(struct mini_host *host, uint64_t address, uint64_t value)
{
	write_memory(host, address, &value, sizeof(value));
}

static void put_record(struct mini_host *host, uint64_t address, uint32_t value)
{
	uint8_t bytes[4];

	be32_put(bytes, value);
	write_memory(host, address, bytes, sizeof(bytes));
}

/* ---- completion queues ---- */

struct mini_cq mini_cq_create(struct mini_host *host, uint32_t entries, uint32_t cqe_bytes)
{
	return mini_cq_create_with(host, entries, cqe_bytes, CQ_PLAIN);
}

struct mini_cq mini_cq_create_with(struct mini_host *host, uint32_t entries, uint32_t cqe_bytes,
				   enum hca_cq_compress compress)
{
	struct mini_cq cq = {.host = host, .entries = entries, .cqe_bytes = cqe_bytes};
	uint8_t fresh = 0xf1;
	int error;

	cq.buffer = mini_alloc(host, (uint64_t)entries * cqe_bytes);
	cq.record = mini_alloc(host, 8);
	for (uint32_t i = 0; i < entries; i++)
		write_memory(host, cq.buffer + (uint64_t)(i + 1) * cqe_bytes - 1, &fresh, 1);
	error = hca_cq_create(host->adapter,
			      &(struct hca_cq_attr){.memory = host->memory,
						    .buffer = cq.buffer,
						    .doorbell_record = cq.record,
						    .entries = entries,
						    .cqe_bytes = cqe_bytes,
						    .compress = compress},
			      &cq.number);
	assert(!error);
	return cq;
}

bool mini_poll(struct mini_cq *cq, struct mini_wc *wc)
{
	uint8_t bytes[64];
	uint32_t index = cq->consumer & (cq->entries - 1);

	read_memory(cq->host, cq->buffer + (uint64_t)(index + 1) * cq->cqe_bytes - 64, bytes, 64);
	if (bytes[63] >> 4 == 15 || (bytes[63] & 1) != (cq->consumer / cq->entries & 1))
		return false;
	*wc = (struct mini_wc){
		.opcode = bytes[63] >> 4,
		.solicited = bytes[63] >> 1 & 1,
		.user_index = be32_get(bytes + 32),
		.wqe_opcode = bytes[56],
		.qpn = be24_get(bytes + 57),
		.wqe_counter = be16_get(bytes + 60),
	};
	if (wc->opcode >= 13) {
		wc->vendor = bytes[54];
		wc->syndrome = bytes[55];
	} else {
		wc->flags = bytes[24];
		wc->source_qp = be24_get(bytes + 25);
		wc->immediate = be32_get(bytes + 36);
		wc->byte_count = be32_get(bytes + 44);
	}
	cq->consumer++;
	put_record(cq->host, cq->record, cq->consumer & 0xffffff);
	return true;
}

struct mini_wc mini_wait(struct mini_cq *cq)
{
	struct mini_wc wc;

	while (!mini_poll(cq, &wc)) {
		sim_time next = sim_next(cq->host->mini->sim);

		assert(next != SIM_NEVER); /* nothing more can come */
		sim_run(cq->host->mini->sim, next + 1);
	}
	return wc;
}

void mini_arm(struct mini_cq *cq, bool only_solicited)
{
	uint8_t bytes[8];
	uint32_t command = (only_solicited ? UINT32_C(1) << 24 : 0) | (cq->consumer & 0xffffff);

	be32_put(bytes, command);
	be32_put(bytes + 4, cq->number);
	put_record(cq->host, cq->record + 4, command);
	hca_uar_write(cq->host->adapter, UAR_CQ_ARM, bytes, sizeof(bytes));
}

/* ---- queue pairs ---- */

struct mini_qp *mini_qp_create_with(struct mini_host *host, struct hca_qp_attr attr)
{
	struct mini_qp *qp = calloc(1, sizeof(*qp));
	int error;

	assert(qp);
	qp->host = host;
	qp->send_cq = malloc(sizeof(struct mini_cq));
	qp->recv_cq = malloc(sizeof(struct mini_cq));
	assert(qp->send_cq && qp->recv_cq);
	*qp->send_cq = mini_cq_create(host, 256, 64);
	*qp->recv_cq = mini_cq_create(host, 256, 128);
	attr.memory = host->memory;
	attr.pd = PD;
	attr.send_cqn = attr.send_cqn ? attr.send_cqn : qp->send_cq->number;
	attr.recv_cqn = attr.recv_cqn ? attr.recv_cqn : qp->recv_cq->number;
	attr.doorbell_record = mini_alloc(host, 8);
	attr.sq_buffer = mini_alloc(host, (uint64_t)attr.sq_blocks * WQE_BLOCK_BYTES);
	attr.rq_buffer = mini_alloc(host, (uint64_t)attr.rq_entries * RQ_STRIDE);
	attr.rq_stride_bytes = RQ_STRIDE;
	attr.user_index = 0x1234;
	qp->attr = attr;
	qp->doorbell_offset = UAR_BLUEFLAME;
	error = hca_qp_create(host->adapter, &qp->attr, &qp->number);
	assert(!error);
	return qp;
}

struct mini_qp *mini_qp_create(struct mini_host *host, enum qp_type type)
{
	return mini_qp_create_with(host, (struct hca_qp_attr){.type = type,
							      .sq_blocks = DEFAULT_BLOCKS,
							      .rq_entries = DEFAULT_BLOCKS});
}

void mini_qp_destroy(struct mini_qp *qp)
{
	int error = hca_qp_destroy(qp->host->adapter, qp->number);

	assert(!error);
	error = hca_cq_destroy(qp->host->adapter, qp->send_cq->number);
	assert(!error);
	error = hca_cq_destroy(qp->host->adapter, qp->recv_cq->number);
	assert(!error);
	free(qp->send_cq);
	free(qp->recv_cq);
	free(qp);
}

struct hca_qp_state mini_state(struct mini_host *host, uint32_t mtu)
{
	return (struct hca_qp_state){
		.path = host->mini->paths[host == &host->mini->hosts[1]],
		.mtu_bytes = mtu,
		.rq_psn = 0xfffffd,
		.sq_psn = 0xfffffd,
		.access = ALL_RIGHTS,
		.qkey = 0x11111111,
		.pkey = 0xffff,
		.timeout = 8,
		.retry = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
	};
}

static void modify(struct mini_qp *qp, struct hca_qp_state *state, enum qp_state to, uint32_t mask)
{
	int error;

	state->state = to;
	state->mask = mask | QP_SET_STATE;
	error = hca_qp_modify(qp->host->adapter, qp->number, state);
	assert(!error);
}

void mini_connect_with(struct mini_qp *qp, struct hca_qp_state state, uint32_t dest_qp)
{
	state.dest_qp = dest_qp;
	modify(qp, &state, STATE_INIT, QP_SET_ACCESS | QP_SET_PKEY | QP_SET_QKEY);
	modify(qp, &state, STATE_RTR,
	       QP_SET_PATH | QP_SET_DEST_QP | QP_SET_MTU | QP_SET_RQ_PSN | QP_SET_MIN_RNR_TIMER |
		       QP_SET_MAX_DEST_RD_ATOMIC);
	modify(qp, &state, STATE_RTS,
	       QP_SET_SQ_PSN | QP_SET_TIMEOUT | QP_SET_RETRY | QP_SET_RNR_RETRY |
		       QP_SET_MAX_RD_ATOMIC | QP_SET_RATE_LIMIT);
}

void mini_connect(struct mini_qp *one, struct mini_qp *other, uint32_t mtu)
{
	mini_connect_with(one, mini_state(one->host, mtu), other->number);
	mini_connect_with(other, mini_state(other->host, mtu), one->number);
}

void mini_to(struct mini_qp *qp, enum qp_state to)
{
	struct hca_qp_state state = {0};

	modify(qp, &state, to, 0);
}

/* ---- work requests ---- */

static void ring_doorbell(struct mini_qp *qp, const uint8_t *wqe, uint32_t bytes, bool blueflame)
{
	put_record(qp->host, qp->attr.doorbell_record + 4, qp->sq_post & 0xffff);
	if (blueflame)
		for (uint32_t i = 0; i < bytes; i += 64)
			hca_uar_write(qp->host->adapter, qp->doorbell_offset + i, wqe + i, 64);
	else
		hca_uar_write(qp->host->adapter, qp->doorbell_offset, wqe, 8);
	qp->doorbell_offset ^= UAR_BLUEFLAME_BUFFER;
}

static uint32_t put_list(const struct data_segment *list, uint32_t count, uint8_t *at)
{
	for (uint32_t i = 0; i < count; i++, at += UNIT) {
		be32_put(at, list[i].length);
		be32_put(at + 4, list[i].key);
		be64_put(at + 8, list[i].address);
	}
	return count * UNIT;
}

static uint32_t put_data(struct mini_qp *qp, const struct mini_send *send, uint8_t *at)
{
	uint32_t bytes = 0;

	if (send->is_inline && send->length) {
		be32_put(at, send->length | UINT32_C(0x80000000));
		read_memory(qp->host, send->address, at + 4, send->length);
		bytes = (send->length + 4 + UNIT - 1) / UNIT * UNIT;
	}
	if (send->list)
		return bytes + put_list(send->list, send->list_count, at + bytes);
	if (!send->length || send->is_inline)
		return bytes;
	be32_put(at, send->length);
	be32_put(at + 4, send->key ? send->key : qp->host->key);
	be64_put(at + 8, send->address);
	return UNIT;
}

void mini_post(struct mini_qp *qp, const struct mini_send *send)
{
	uint8_t wqe[WQE_BYTES_MAX] = {0};
	bool remote = send->opcode == WQE_WRITE || send->opcode == WQE_WRITE_IMMEDIATE ||
		      send->opcode == WQE_READ || send->opcode == WQE_COMPARE_SWAP ||
		      send->opcode == WQE_FETCH_ADD;
	struct mini_host *other = &qp->host->mini->hosts[qp->host == &qp->host->mini->hosts[0]];
	uint32_t size = 16;

	be32_put(wqe, (qp->sq_post & 0xffff) << 8 | send->opcode);
	wqe[11] = (uint8_t)((send->unsignaled ? 0 : 8) | (send->solicited ? 2 : 0) |
			    (send->fence ? 4 << 5 : 0));
	be32_put(wqe + 12, send->immediate);
	if (send->vector) {
		memcpy(wqe + size, send->vector, 48);
		size += 48;
	}
	if (remote) {
		be64_put(wqe + size, send->remote);
		be32_put(wqe + size + 8, send->rkey ? send->rkey : other->key);
		size += 16;
	}
	if (send->opcode == WQE_COMPARE_SWAP || send->opcode == WQE_FETCH_ADD) {
		be64_put(wqe + size, send->swap_or_add);
		be64_put(wqe + size + 8, send->compare);
		size += 16;
	}
	size += put_data(qp, send, wqe + size);
	be32_put(wqe + 4, qp->number << 8 | size / UNIT);
	for (uint32_t i = 0; i < size; i += 64) {
		uint64_t at = (qp->sq_post + i / 64) & (qp->attr.sq_blocks - 1);

		write_memory(qp->host, qp->attr.sq_buffer + at * 64, wqe + i, 64);
	}
	qp->sq_post += (size + 63) / 64;
	if (!send->no_doorbell)
		ring_doorbell(qp, wqe, (size + 63) / 64 * 64, send->blueflame);
}

void mini_receive_list(struct mini_qp *qp, const struct data_segment *list, uint32_t count)
{
	uint8_t wqe[RQ_STRIDE] = {0};
	uint64_t at = qp->rq_post & (qp->attr.rq_entries - 1);

	assert(count <= RQ_STRIDE / UNIT);
	if (put_list(list, count, wqe) < RQ_STRIDE)
		be32_put(wqe + (size_t)count * UNIT + 4, 0x100);
	write_memory(qp->host, qp->attr.rq_buffer + at * RQ_STRIDE, wqe, sizeof(wqe));
	qp->rq_post++;
	put_record(qp->host, qp->attr.doorbell_record, qp->rq_post & 0xffff);
}

void mini_receive_key(struct mini_qp *qp, uint64_t address, uint32_t length, uint32_t key)
{
	mini_receive_list(qp, &(struct data_segment){address, length, key}, 1);
}

void mini_receive(struct mini_qp *qp, uint64_t address, uint32_t length)
{
	mini_receive_key(qp, address, length, qp->host->key);
}

uint32_t mini_block_count(struct mini_host *host, const char *block, const char *counter)
{
	size_t prefix = strlen(host->adapter->block.name);

	for (struct block *at = sim_blocks(host->mini->sim); at; at = at->next) {
		if (strncmp(at->name, host->adapter->block.name, prefix) != 0 ||
		    at->name[prefix] != '.' || strcmp(at->name + prefix + 1, block) != 0)
			continue;
		for (unsigned i = 0; at->type->counters[i].name; i++)
			if (strcmp(at->type->counters[i].name, counter) == 0)
				return (uint32_t)at->counts[i];
	}
	CU_FAIL("no such counter");
	return 0;
}
