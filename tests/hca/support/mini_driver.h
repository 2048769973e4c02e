/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini_driver: two HCAs back to back. Each has a buffer as its host's memory and a driver that
 * builds WQEs there, rings doorbells and polls CQEs as a user-space driver does.
 */
#ifndef TESTS_HCA_SUPPORT_MINI_DRIVER_H
#define TESTS_HCA_SUPPORT_MINI_DRIVER_H

#include "fabric/endpoints.h"
#include "fabric/fault.h"
#include "hca/device/adapter.h"
#include "hca/formats/wqe.h"

#define MEMORY_BASE  UINT64_C(0x10000000)
#define MEMORY_BYTES UINT64_C(0x2000000)
#define EVENTS_MAX   64
#define PD           7

struct mini_host {
	struct hca_driver driver;
	struct address_resolver resolver;
	struct mini *mini;
	struct memory *memory;
	struct hca *adapter;
	uint32_t endpoint;
	uint64_t next_free; /* in memory */
	uint32_t key;       /* of all of memory, with all rights */
	uint32_t cq_events, async_count;
	sim_time cq_event_at[EVENTS_MAX]; /* of the first ones */
	struct {
		enum hca_async what;
		uint32_t number;
	} asyncs[EVENTS_MAX];
};

struct mini {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct hca_params params;
	struct mini_host hosts[2];
	const struct path *paths[2]; /* from host 0, from host 1 */
};

struct mini_cq {
	struct mini_host *host;
	uint32_t number, entries, cqe_bytes, consumer;
	uint64_t buffer, record;
};

struct mini_qp {
	struct mini_host *host;
	uint32_t number;
	struct hca_qp_attr attr;
	struct mini_cq *send_cq, *recv_cq;
	uint32_t sq_post, rq_post;
	uint64_t doorbell_offset; /* offset of the doorbell in the BAR */
};

struct mini_wc { /* a CQE, read */
	unsigned opcode, syndrome, vendor;
	uint32_t byte_count, immediate, qpn, user_index, source_qp, flags;
	uint8_t wqe_opcode;
	uint16_t wqe_counter;
	bool solicited;
};

struct mini_send { /* what a test posts */
	uint8_t opcode;
	uint64_t address;
	uint32_t length, key; /* key 0: the host's */
	uint64_t remote;
	uint32_t rkey; /* 0: the other host's */
	uint32_t immediate;
	uint64_t swap_or_add, compare;
	bool is_inline, unsignaled, solicited, fence, blueflame, no_doorbell;
	const uint8_t *vector; /* UD: 48 bytes */
	const struct data_segment
		*list; /* in place of address, length and key; behind inline data */
	uint32_t list_count;
};

/* Creates two hosts. `params` may be changed before mini_start(). */
struct mini *mini_create(enum sim_engine engine);
void mini_start(struct mini *mini, enum link_layer link_layer);
void mini_destroy(struct mini *mini);
void mini_run(struct mini *mini); /* until nothing happens any more */

uint64_t mini_alloc(struct mini_host *host, uint64_t bytes); /* at a page's start */
void mini_fill(struct mini_host *host, uint64_t address, uint32_t bytes, uint32_t seed);
bool mini_matches(struct mini_host *host, uint64_t address, uint32_t bytes, uint32_t seed);
uint64_t mini_u64(struct mini_host *host, uint64_t address);
void mini_put_u64(struct mini_host *host, uint64_t address, uint64_t value);

struct mini_cq mini_cq_create(struct mini_host *host, uint32_t entries, uint32_t cqe_bytes);
struct mini_cq mini_cq_create_with(struct mini_host *host, uint32_t entries, uint32_t cqe_bytes,
				   enum hca_cq_compress compress);
bool mini_poll(struct mini_cq *cq, struct mini_wc *wc);
void mini_arm(struct mini_cq *cq, bool only_solicited);

/* sq_blocks 64, rq_entries 64, in state RESET; CQs are created with it, but used where attr names
 * none. */
struct mini_qp *mini_qp_create(struct mini_host *host, enum qp_type type);
struct mini_qp *mini_qp_create_with(struct mini_host *host, struct hca_qp_attr attr);
void mini_qp_destroy(struct mini_qp *qp);

/* Returns the state that mini_connect() sets. Tests change it before they set it. */
struct hca_qp_state mini_state(struct mini_host *host, uint32_t mtu);
void mini_connect(struct mini_qp *one, struct mini_qp *other, uint32_t mtu);
void mini_connect_with(struct mini_qp *qp, struct hca_qp_state state, uint32_t dest_qp);
void mini_to(struct mini_qp *qp, enum qp_state state);

void mini_post(struct mini_qp *qp, const struct mini_send *send);
void mini_receive(struct mini_qp *qp, uint64_t address, uint32_t length);
void mini_receive_list(struct mini_qp *qp, const struct data_segment *list, uint32_t count);
void mini_receive_key(struct mini_qp *qp, uint64_t address, uint32_t length, uint32_t key);

/* Runs until the next CQE, which must come, and returns it. */
struct mini_wc mini_wait(struct mini_cq *cq);
uint32_t mini_block_count(struct mini_host *host, const char *block, const char *counter);

#endif
