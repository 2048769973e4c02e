/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp: an ordinary program on rdma_cm that checks iWARP. The client sends with each operation, in
 * many sizes, and both sides compare every byte. Further connections test errors: a wrong key, a
 * missing receive request, a refusal. The program prints what verbs of other transports return.
 *
 *     iwarp                waits for the client
 *     iwarp HOST           connects to it
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT  18700
#define BYTES (1u << 20)
#define DEPTH 16

static const uint32_t sizes[] = {0,    1,    3,    64,   80,   1439,  1440,  1441,
				 1459, 1460, 4096, 9000, 9001, 65536, 65537, 100001};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct peer { /* private data of both sides */
	uint64_t address;
	uint32_t key;
};

struct end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buffer;
	struct peer peer;
};

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint8_t pattern(uint32_t seed, uint32_t at)
{
	return (uint8_t)(seed * 31 + at * 7 + (at >> 8));
}

static void fill(uint8_t *bytes, uint32_t seed, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = pattern(seed, i);
}

static void compare(const uint8_t *bytes, uint32_t seed, uint32_t count, const char *what)
{
	for (uint32_t i = 0; i < count; i++)
		if (bytes[i] != pattern(seed, i)) {
			fprintf(stderr, "%s of %u bytes: byte %u is wrong\n", what, count, i);
			exit(1);
		}
}

/* ---- connections ---- */

static struct rdma_cm_event *next_event(struct end *end, enum rdma_cm_event_type expected)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(end->channel, &event))
		give_up("rdma_get_cm_event");
	if (event->event != expected) {
		fprintf(stderr, "event %s (%d), not %s\n", rdma_event_str(event->event),
			event->status, rdma_event_str(expected));
		exit(1);
	}
	return event;
}

static void await(struct end *end, enum rdma_cm_event_type expected)
{
	rdma_ack_cm_event(next_event(end, expected));
}

static void prepare(struct end *end, bool srq)
{
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = DEPTH, .max_sge = 2}};
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = DEPTH,
						.max_recv_wr = DEPTH,
						.max_send_sge = 3,
						.max_recv_sge = 2,
						.max_inline_data = 80}};

	end->pd = ibv_alloc_pd(end->id->verbs);
	end->cq = ibv_create_cq(end->id->verbs, 4 * DEPTH, NULL, NULL, 0);
	end->buffer = calloc(1, 2 * BYTES);
	end->mr = ibv_reg_mr(end->pd, end->buffer, 2 * BYTES,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ);
	if (!end->pd || !end->cq || !end->buffer || !end->mr)
		give_up("objects");
	attr.send_cq = attr.recv_cq = end->cq;
	if (srq)
		attr.srq = end->srq = ibv_create_srq(end->pd, &shared);
	if (srq && !end->srq)
		give_up("ibv_create_srq");
	if (rdma_create_qp(end->id, end->pd, &attr))
		give_up("rdma_create_qp");
}

static void release(struct end *end)
{
	rdma_destroy_qp(end->id);
	if (end->srq && ibv_destroy_srq(end->srq))
		give_up("ibv_destroy_srq");
	if (ibv_dereg_mr(end->mr) || ibv_destroy_cq(end->cq) || ibv_dealloc_pd(end->pd))
		give_up("release");
	free(end->buffer);
	rdma_destroy_id(end->id);
	end->srq = NULL;
}

static struct rdma_conn_param param_of(const struct end *end, struct peer *own)
{
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};

	*own = (struct peer){(uintptr_t)end->buffer, end->mr ? end->mr->rkey : 0};
	param.private_data = own;
	param.private_data_len = sizeof(*own);
	return param;
}

static void take_peer(struct end *end, const struct rdma_cm_event *event)
{
	if (event->param.conn.private_data_len < sizeof(end->peer))
		give_up("private data");
	memcpy(&end->peer, event->param.conn.private_data, sizeof(end->peer));
}

static void open_client(struct end *end, const char *host, bool refused)
{
	struct addrinfo hints = {.ai_family = AF_INET}, *found;
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	struct peer own;

	if (getaddrinfo(host, NULL, &hints, &found))
		give_up("getaddrinfo");
	((struct sockaddr_in *)(void *)found->ai_addr)->sin_port = htons(PORT);
	if (rdma_create_id(end->channel, &end->id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(end->id, NULL, found->ai_addr, 1000))
		give_up("rdma_resolve_addr");
	await(end, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(end->id, 1000))
		give_up("rdma_resolve_route");
	await(end, RDMA_CM_EVENT_ROUTE_RESOLVED);
	prepare(end, false);
	param = param_of(end, &own);
	if (rdma_connect(end->id, &param))
		give_up("rdma_connect");
	event = next_event(end, refused ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_ESTABLISHED);
	if (!refused)
		take_peer(end, event);
	rdma_ack_cm_event(event);
	freeaddrinfo(found);
}

static void open_server(struct end *end, bool refused, bool srq)
{
	struct rdma_cm_event *event = next_event(end, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param param;
	struct peer own;

	end->id = event->id;
	take_peer(end, event);
	rdma_ack_cm_event(event);
	if (refused) {
		if (rdma_reject(end->id, "no", 2))
			give_up("rdma_reject");
		rdma_destroy_id(end->id);
		return;
	}
	prepare(end, srq);
	param = param_of(end, &own);
	if (rdma_accept(end->id, &param))
		give_up("rdma_accept");
	await(end, RDMA_CM_EVENT_ESTABLISHED);
}

/* ---- work requests ---- */

static void post_receive(struct end *end, uint8_t *bytes, uint32_t count)
{
	struct ibv_sge sges[2] = {{(uintptr_t)bytes, count / 3, end->mr->lkey},
				  {(uintptr_t)bytes + count / 3, count - count / 3, end->mr->lkey}};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = sges, .num_sge = 2}, *bad;

	errno = end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad)
			 : ibv_post_recv(end->id->qp, &wr, &bad);
	if (errno)
		give_up("post receive");
}

static int post(struct end *end, enum ibv_wr_opcode opcode, uint8_t *bytes, uint32_t count,
		unsigned flags)
{
	uint32_t third = opcode == IBV_WR_RDMA_READ ? count : count / 3;
	struct ibv_sge sges[3] = {{(uintptr_t)bytes, third, end->mr->lkey},
				  {(uintptr_t)bytes + third, third, end->mr->lkey},
				  {(uintptr_t)bytes + 2 * third, count - 2 * third, end->mr->lkey}};
	struct ibv_send_wr wr = {.wr_id = count,
				 .opcode = opcode,
				 .sg_list = sges,
				 .num_sge = opcode == IBV_WR_RDMA_READ ? 1 : 3,
				 .send_flags = IBV_SEND_SIGNALED | flags},
			   *bad;

	wr.wr.rdma.remote_addr = end->peer.address;
	wr.wr.rdma.rkey = end->peer.key;
	return ibv_post_send(end->id->qp, &wr, &bad);
}

static struct ibv_wc reap(struct end *end)
{
	struct ibv_wc wc;
	int count;

	while ((count = ibv_poll_cq(end->cq, 1, &wc)) == 0)
		;
	if (count < 0)
		give_up("ibv_poll_cq");
	return wc;
}

static void expect(struct end *end, enum ibv_wc_status status, enum ibv_wc_opcode opcode,
		   uint32_t bytes)
{
	struct ibv_wc wc = reap(end);

	if (wc.status != status ||
	    (status == IBV_WC_SUCCESS && (wc.opcode != opcode || wc.byte_len != bytes))) {
		fprintf(stderr, "%s, opcode %d, %u bytes; expected %s, %d, %u\n",
			ibv_wc_status_str(wc.status), wc.opcode, wc.byte_len,
			ibv_wc_status_str(status), opcode, bytes);
		exit(1);
	}
}

static void run(struct end *end, enum ibv_wr_opcode opcode, uint8_t *bytes, uint32_t count,
		unsigned flags, enum ibv_wc_opcode done)
{
	errno = -post(end, opcode, bytes, count, flags);
	if (errno)
		give_up("ibv_post_send");
	expect(end, IBV_WC_SUCCESS, done, count);
}

/* ---- parts of the test ---- */

/* Write into the peer, read it back, then tell by a Send with the same bytes. */
static void client_data(struct end *end)
{
	for (uint32_t i = 0; i < SIZES; i++) {
		uint32_t count = sizes[i];
		unsigned in_line = count <= 80 ? IBV_SEND_INLINE : 0;

		fill(end->buffer, i, count);
		run(end, IBV_WR_RDMA_WRITE, end->buffer, count, in_line, IBV_WC_RDMA_WRITE);
		if (count) {
			memset(end->buffer + BYTES, 0, count);
			run(end, IBV_WR_RDMA_READ, end->buffer + BYTES, count, 0, IBV_WC_RDMA_READ);
			compare(end->buffer + BYTES, i, count, "READ");
		}
		post_receive(end, end->buffer + BYTES, 16);
		run(end, IBV_WR_SEND, end->buffer, count, in_line, IBV_WC_SEND);
		expect(end, IBV_WC_SUCCESS, IBV_WC_RECV, 1);
	}
}

static void server_data(struct end *end)
{
	for (uint32_t i = 0; i < SIZES; i++) {
		uint32_t count = sizes[i];

		expect(end, IBV_WC_SUCCESS, IBV_WC_RECV, count);
		compare(end->buffer, i, count, "WRITE");
		compare(end->buffer + BYTES, i, count, "SEND");
		memset(end->buffer + BYTES, 0, count);
		if (i + 1 < SIZES)
			post_receive(end, end->buffer + BYTES, BYTES);
		run(end, IBV_WR_SEND, end->buffer, 1, IBV_SEND_INLINE, IBV_WC_SEND);
	}
}

/* Several WRITEs and READs at a time. */
static void client_pipeline(struct end *end)
{
	for (uint32_t i = 0; i < DEPTH; i++)
		if (post(end, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, end->buffer, 20000, 0))
			give_up("ibv_post_send");
	for (uint32_t i = 0; i < DEPTH; i++)
		expect(end, IBV_WC_SUCCESS, i % 2 ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE, 20000);
	if (post(end, IBV_WR_SEND_WITH_INV, end->buffer, 4, 0))
		give_up("SEND_WITH_INV");
	expect(end, IBV_WC_SUCCESS, IBV_WC_SEND, 4);
}

static void say(const char *what, int error)
{
	printf("%s: %s\n", what, error ? strerror(error < 0 ? -error : error) : "done");
}

static void unsupported(struct end *end)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD,
					.send_cq = end->cq,
					.recv_cq = end->cq,
					.cap = {.max_send_wr = 1, .max_recv_wr = 1}};

	say("atomic", post(end, IBV_WR_ATOMIC_FETCH_AND_ADD, end->buffer, 8, 0));
	say("write with immediate", post(end, IBV_WR_RDMA_WRITE_WITH_IMM, end->buffer, 8, 0));
	say("send with immediate", post(end, IBV_WR_SEND_WITH_IMM, end->buffer, 8, 0));
	say("UD", ibv_create_qp(end->pd, &attr) ? 0 : errno);
	errno = 0;
	say("memory window", ibv_alloc_mw(end->pd, IBV_MW_TYPE_1) ? 0 : errno);
	say("resize", ibv_resize_cq(end->cq, 2 * DEPTH));
}

static void client_wrong_key(struct end *end)
{
	end->peer.key ^= 1;
	if (post(end, IBV_WR_RDMA_WRITE, end->buffer, 100, 0))
		give_up("ibv_post_send");
	/* TCP had the bytes: the request is complete, and the connection ends */
	expect(end, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, 100);
	await(end, RDMA_CM_EVENT_DISCONNECTED);
	errno = -post(end, IBV_WR_RDMA_WRITE, end->buffer, 100, 0);
	if (errno)
		give_up("ibv_post_send after the end");
	expect(end, IBV_WC_WR_FLUSH_ERR, 0, 0);
}

static void client(const char *host)
{
	struct end end = {.channel = rdma_create_event_channel()};

	open_client(&end, host, false);
	client_data(&end);
	client_pipeline(&end);
	unsupported(&end);
	rdma_disconnect(end.id);
	await(&end, RDMA_CM_EVENT_DISCONNECTED);
	release(&end);

	open_client(&end, host, true); /* refused */
	release(&end);

	open_client(&end, host, false);
	client_wrong_key(&end);
	release(&end);

	open_client(&end, host, false); /* no receive request */
	if (post(&end, IBV_WR_SEND, end.buffer, 100, 0))
		give_up("ibv_post_send");
	await(&end, RDMA_CM_EVENT_DISCONNECTED);
	release(&end);
	printf("client: as expected\n");
}

static void server(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct end end = {.channel = rdma_create_event_channel()};
	struct rdma_cm_id *listener;

	if (rdma_create_id(end.channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)(void *)&any) || rdma_listen(listener, 4))
		give_up("rdma_listen");
	for (int i = 0; i < 4; i++) {
		open_server(&end, i == 1, i == 0);
		if (i == 1)
			continue;
		if (i == 0) {
			post_receive(&end, end.buffer + BYTES, BYTES);
			server_data(&end);
			post_receive(&end, end.buffer + BYTES, BYTES);
			expect(&end, IBV_WC_SUCCESS, IBV_WC_RECV, 4);
		}
		if (i == 2) { /* the client has a wrong key: the receive request is flushed */
			post_receive(&end, end.buffer, 100);
			expect(&end, IBV_WC_WR_FLUSH_ERR, 0, 0);
		}
		await(&end, RDMA_CM_EVENT_DISCONNECTED);
		rdma_disconnect(end.id);
		release(&end);
	}
	rdma_destroy_id(listener);
	printf("server: as expected\n");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		client(argv[1]);
	else
		server();
	return 0;
}
