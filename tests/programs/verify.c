/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: an ordinary verbs program that checks every byte. Two instances, connected by a socket,
 * alternately send batches of messages of many sizes, at odd addresses, with each RC operation. The
 * receiver compares its whole buffer, including the bytes between messages, with the expected
 * contents.
 *
 *     verify [-g GID-INDEX] [-r ROUNDS]            waits for the other side
 *     verify [-g GID-INDEX] [-r ROUNDS] HOST       connects to it
 *
 * It prints the amount checked and the round-trip time of a byte, and exits with 0 on success.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT         "18600"
#define BUFFER_BYTES (2u << 20)
#define GAP_BYTE     0xee
#define DEPTH        64
#define INLINE_BYTES 100
#define ATOMIC_CELLS 24
#define BOUNCES      20

static const uint32_t sizes[] = {1,     2,     3,     5,      8,      63,    64,   65,
				 127,   255,   256,   257,    511,    1023,  1024, 1025,
				 4095,  4096,  4097,  8191,   8192,   12289, 0,    4,
				 65535, 65536, 65537, 100001, 262144, 300007};
#define MESSAGES (sizeof(sizes) / sizeof(sizes[0]))

/* clang-format off */
#define OPERATIONS(X) \
	X(WRITE,          IBV_WR_RDMA_WRITE,           IBV_WC_RDMA_WRITE) \
	X(WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WC_RDMA_WRITE) \
	X(SEND,           IBV_WR_SEND,                 IBV_WC_SEND) \
	X(SEND_WITH_IMM,  IBV_WR_SEND_WITH_IMM,        IBV_WC_SEND) \
	X(SEND_INLINE,    IBV_WR_SEND,                 IBV_WC_SEND) \
	X(READ,           IBV_WR_RDMA_READ,            IBV_WC_RDMA_READ) \
	X(FETCH_AND_ADD,  IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD) \
	X(COMPARE_SWAP,   IBV_WR_ATOMIC_CMP_AND_SWP,   IBV_WC_COMP_SWAP)
#define OPERATION_ENUM(name, request, completion) name,
#define OPERATION_ROW(name, request, completion)  {#name, request, completion},
/* clang-format on */
enum operation { OPERATIONS(OPERATION_ENUM) OPERATION_COUNT };

static const struct {
	const char *name;
	enum ibv_wr_opcode request;
	enum ibv_wc_opcode completion;
} operations[] = {OPERATIONS(OPERATION_ROW)};

struct address { /* exchanged between the two sides */
	uint32_t lid, qpn, psn, key;
	uint64_t buffer;
	union ibv_gid gid;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *region;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qp;
static uint8_t *buffer, *expected;
static struct address own, other;
static int peer;
static uint64_t messages_checked, bytes_checked;

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static void need(bool good, const char *what)
{
	if (!good)
		give_up("%s failed", what);
}

/* The other side, by socket. */

static void tell(const void *bytes, size_t length)
{
	need(send(peer, bytes, length, 0) == (ssize_t)length, "send");
}

static void hear(void *bytes, size_t length)
{
	need(recv(peer, bytes, length, MSG_WAITALL) == (ssize_t)length, "recv");
}

static void meet(void) /* both are here */
{
	char byte = 'm';

	tell(&byte, 1);
	hear(&byte, 1);
}

static void connect_socket(const char *host)
{
	struct addrinfo hints = {.ai_family = AF_INET,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = host ? 0 : AI_PASSIVE};
	struct addrinfo *found;
	int one = 1, listening;

	need(getaddrinfo(host, PORT, &hints, &found) == 0, "getaddrinfo");
	peer = socket(AF_INET, SOCK_STREAM, 0);
	need(peer >= 0, "socket");
	if (host) {
		need(connect(peer, found->ai_addr, found->ai_addrlen) == 0, "connect");
	} else {
		listening = peer;
		(void)setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		need(bind(listening, found->ai_addr, found->ai_addrlen) == 0, "bind");
		need(listen(listening, 1) == 0, "listen");
		peer = accept(listening, NULL, NULL);
		need(peer >= 0, "accept");
		close(listening);
	}
	freeaddrinfo(found);
}

/* The queue pair. */

static void open_device(int gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 3,
			.max_recv_sge = 2,
			.max_inline_data = INLINE_BYTES},
	};

	need(list && list[0], "finding a device");
	context = ibv_open_device(list[0]);
	need(context != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	buffer = aligned_alloc(4096, BUFFER_BYTES);
	expected = malloc(BUFFER_BYTES);
	need(pd && buffer && expected, "ibv_alloc_pd");
	memset(buffer, 0, BUFFER_BYTES);
	region = ibv_reg_mr(pd, buffer, BUFFER_BYTES,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	send_cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	need(region && send_cq && recv_cq, "ibv_create_cq");
	init.send_cq = send_cq;
	init.recv_cq = recv_cq;
	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	need(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
	own = (struct address){.lid = port.lid,
			       .qpn = qp->qp_num,
			       .psn = 0xfffff0, /* it wraps soon */
			       .key = region->rkey,
			       .buffer = (uintptr_t)buffer};
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET && gid_index < 0)
		gid_index = 0;
	if (gid_index >= 0)
		need(ibv_query_gid(context, 1, gid_index, &own.gid) == 0, "ibv_query_gid");
	tell(&own, sizeof(own));
	hear(&other, sizeof(other));

	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_ATOMIC};
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
		     0,
	     "to INIT");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = other.qpn,
				    .rq_psn = other.psn,
				    .max_dest_rd_atomic = 8,
				    .min_rnr_timer = 12,
				    .ah_attr = {.dlid = (uint16_t)other.lid, .port_num = 1}};
	if (gid_index >= 0) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh = (struct ibv_global_route){
			.dgid = other.gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64};
	}
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER) == 0,
	     "to RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = own.psn,
				    .timeout = 10,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 8};
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
	     "to RTS");
	meet();
}

/* Returns the place of message `index`. Each side has another rule, with gaps that no message may
 * touch. */
static uint32_t place(uint32_t index, bool at_target)
{
	uint32_t at = at_target ? 4099 : 101;

	for (uint32_t i = 0; i < index; i++)
		at += sizes[i] + (at_target ? 37 + 11 * i : 64 + 3 * i);
	return at;
}

static uint8_t pattern(uint32_t seed, uint32_t index, uint32_t position)
{
	uint32_t value = seed * 0x9e3779b1u + index * 0x85ebca6bu + position * 0xc2b2ae35u;

	return (uint8_t)((value ^ value >> 15) >> 8);
}

static void fill(uint8_t *bytes, uint32_t seed, bool at_target)
{
	memset(bytes, GAP_BYTE, BUFFER_BYTES);
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (uint32_t position = 0; position < sizes[i]; position++)
			bytes[place(i, at_target) + position] = pattern(seed, i, position);
}

static void compare(enum operation operation)
{
	if (memcmp(buffer, expected, BUFFER_BYTES) != 0)
		for (uint32_t i = 0; i < BUFFER_BYTES; i++)
			if (buffer[i] != expected[i])
				give_up("%s: byte %u is %#x, expected %#x",
					operations[operation].name, i, buffer[i], expected[i]);
	bytes_checked += BUFFER_BYTES;
}

static bool is_carried(enum operation operation, uint32_t index)
{
	return operation != SEND_INLINE || sizes[index] <= INLINE_BYTES;
}

static bool is_received(enum operation operation)
{
	return operation == SEND || operation == SEND_WITH_IMM || operation == SEND_INLINE ||
	       operation == WRITE_WITH_IMM;
}

static bool is_atomic(enum operation operation)
{
	return operation == FETCH_AND_ADD || operation == COMPARE_SWAP;
}

static void await(struct ibv_cq *cq, struct ibv_wc *done)
{
	int got;

	do
		got = ibv_poll_cq(cq, 1, done);
	while (got == 0);
	need(got == 1, "ibv_poll_cq");
	if (done->status != IBV_WC_SUCCESS)
		give_up("work request %u: %s", (unsigned)done->wr_id,
			ibv_wc_status_str(done->status));
}

/* Receive buffers in two parts where there is more than one byte. */
static void post_receives(enum operation operation)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint64_t at = own.buffer + place(i, true);
		struct ibv_sge parts[] = {
			{at, sizes[i] / 3, region->lkey},
			{at + sizes[i] / 3, sizes[i] - sizes[i] / 3, region->lkey}};
		struct ibv_recv_wr request = {.wr_id = i, .sg_list = parts, .num_sge = 2}, *bad;

		if (sizes[i] / 3 == 0) {
			parts[0] = parts[1];
			request.num_sge = sizes[i] != 0;
		}
		if (operation == WRITE_WITH_IMM)
			request.num_sge = 0;
		if (is_carried(operation, i))
			need(ibv_post_recv(qp, &request, &bad) == 0, "ibv_post_recv");
	}
}

static void check_receives(enum operation operation)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		bool with_imm = operation == SEND_WITH_IMM || operation == WRITE_WITH_IMM;
		struct ibv_wc done;

		if (!is_carried(operation, i))
			continue;
		await(recv_cq, &done);
		if (done.wr_id != i || done.byte_len != sizes[i] ||
		    done.opcode != (operation == WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM
								: IBV_WC_RECV) ||
		    with_imm != !!(done.wc_flags & IBV_WC_WITH_IMM) ||
		    (with_imm && ntohl(done.imm_data) != i * 77 + (uint32_t)operation))
			give_up("%s: receive %u: wrong completion", operations[operation].name, i);
		messages_checked++;
	}
}

static void post_messages(enum operation operation)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint64_t at = own.buffer + place(i, false);
		uint32_t third = sizes[i] / 3;
		struct ibv_sge parts[] = {{at, third, region->lkey},
					  {at + third, third, region->lkey},
					  {at + 2 * third, sizes[i] - 2 * third, region->lkey}};
		struct ibv_send_wr *bad,
			request = {
				.wr_id = i,
				.sg_list = third ? parts : parts + 2,
				.num_sge = third ? 3 : sizes[i] != 0,
				.opcode = operations[operation].request,
				.send_flags = IBV_SEND_SIGNALED |
					      (operation == SEND_INLINE ? IBV_SEND_INLINE : 0),
				.imm_data = htonl(i * 77 + (uint32_t)operation),
				.wr.rdma = {other.buffer + place(i, true), other.key},
			};

		if (is_carried(operation, i))
			need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
	}
}

static uint64_t cell_before(uint32_t index)
{
	return 0x0123456789abcdefu * (index + 1);
}

static uint64_t cell_operand(uint32_t index)
{
	return UINT64_MAX / (index + 2);
}

static bool cell_matches(uint32_t index) /* every second comparison uses the current value */
{
	return index % 2 == 0;
}

static void post_atomics(enum operation operation)
{
	for (uint32_t i = 0; i < ATOMIC_CELLS; i++) {
		struct ibv_sge part = {own.buffer + 24 * i, 8, region->lkey};
		struct ibv_send_wr *bad, request = {.wr_id = i,
						    .sg_list = &part,
						    .num_sge = 1,
						    .opcode = operations[operation].request,
						    .send_flags = IBV_SEND_SIGNALED};

		request.wr.atomic.remote_addr = other.buffer + 40 * i;
		request.wr.atomic.rkey = other.key;
		request.wr.atomic.compare_add = operation == FETCH_AND_ADD ? cell_operand(i)
						: cell_matches(i)          ? cell_before(i)
									   : ~cell_before(i);
		request.wr.atomic.swap = cell_operand(i);
		need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
	}
}

static void expect_cells(enum operation operation, uint8_t *bytes, bool at_target, bool after)
{
	memset(bytes, GAP_BYTE, BUFFER_BYTES);
	for (uint32_t i = 0; i < ATOMIC_CELLS; i++) {
		uint64_t value = cell_before(i);

		if (at_target && after)
			value = operation == FETCH_AND_ADD ? value + cell_operand(i)
				: cell_matches(i)          ? cell_operand(i)
							   : value;
		memcpy(bytes + (at_target ? 40 : 24) * i, &value, sizeof(value));
	}
}

static void initiate(enum operation operation, uint32_t seed)
{
	uint32_t count = 0;
	struct ibv_wc done;

	if (is_atomic(operation) || operation == READ)
		memset(buffer, GAP_BYTE, BUFFER_BYTES);
	else
		fill(buffer, seed, false);
	meet(); /* the target is ready */
	if (is_atomic(operation))
		post_atomics(operation);
	else
		post_messages(operation);
	for (uint32_t i = 0; i < (is_atomic(operation) ? ATOMIC_CELLS : MESSAGES); i++) {
		if (!is_atomic(operation) && !is_carried(operation, i))
			continue;
		await(send_cq, &done);
		if (done.wr_id != i || done.opcode != operations[operation].completion)
			give_up("%s: send %u: wrong completion", operations[operation].name, i);
		count++;
	}
	if (is_atomic(operation))
		expect_cells(operation, expected, false, true);
	else
		fill(expected, seed, false);
	compare(operation);
	messages_checked += count;
	meet();
}

static void accept_them(enum operation operation, uint32_t seed)
{
	if (is_atomic(operation))
		expect_cells(operation, buffer, true, false);
	else if (operation == READ)
		fill(buffer, seed, true);
	else
		memset(buffer, GAP_BYTE, BUFFER_BYTES);
	if (is_received(operation))
		post_receives(operation);
	meet();
	if (is_received(operation))
		check_receives(operation);
	meet();
	if (is_atomic(operation)) {
		expect_cells(operation, expected, true, true);
	} else {
		fill(expected, seed, true);
		for (uint32_t i = 0; i < MESSAGES; i++)
			if (!is_carried(operation, i))
				memset(expected + place(i, true), GAP_BYTE, sizes[i]);
	}
	compare(operation);
}

/* Sends one byte back and forth. Each side polls its memory and its CQ in one loop. The longest
 * round trip in microseconds. */
static double bounce(bool first)
{
	volatile uint8_t *flag = buffer;
	double longest = 0;

	memset(buffer, 0, BUFFER_BYTES);
	meet();
	for (uint8_t turn = 1; turn <= BOUNCES; turn++) {
		struct ibv_sge part = {own.buffer + 64, 1, region->lkey};
		struct ibv_send_wr *bad, request = {.sg_list = &part,
						    .num_sge = 1,
						    .opcode = IBV_WR_RDMA_WRITE,
						    .send_flags = IBV_SEND_SIGNALED,
						    .wr.rdma = {other.buffer, other.key}};
		struct timespec start, end;
		struct ibv_wc done;

		clock_gettime(CLOCK_MONOTONIC, &start);
		for (int step = 0; step < 2; step++) {
			if ((step == 0) == first) {
				buffer[64] = turn;
				need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
				continue;
			}
			while (*flag != turn)
				if (ibv_poll_cq(send_cq, 1, &done) > 0 &&
				    done.status != IBV_WC_SUCCESS)
					give_up("bounce: %s", ibv_wc_status_str(done.status));
		}
		clock_gettime(CLOCK_MONOTONIC, &end);
		double took = (double)(end.tv_sec - start.tv_sec) * 1e6 +
			      (double)(end.tv_nsec - start.tv_nsec) / 1e3;
		if (turn > 1 && took > longest)
			longest = took;
	}
	meet();
	return longest;
}

int main(int count, char **words)
{
	int gid_index = -1, option;
	uint32_t rounds = 1;
	bool client;

	while ((option = getopt(count, words, "g:r:")) != -1) {
		if (option == 'g')
			gid_index = (int)strtol(optarg, NULL, 10);
		else if (option == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	client = optind < count;
	connect_socket(client ? words[optind] : NULL);
	open_device(gid_index);
	for (uint32_t turn = 0; turn < 2 * rounds; turn++)
		for (enum operation operation = 0; operation < OPERATION_COUNT; operation++) {
			if ((turn % 2 == 0) == client)
				initiate(operation, turn * OPERATION_COUNT + operation);
			else
				accept_them(operation, turn * OPERATION_COUNT + operation);
		}
	double longest = bounce(client);
	need(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(send_cq) == 0 &&
		     ibv_destroy_cq(recv_cq) == 0 && ibv_dereg_mr(region) == 0 &&
		     ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0,
	     "destroying");
	if (client)
		printf("a byte comes back within %.1f us\n", longest);
	printf("%llu messages and %llu bytes are as expected\n",
	       (unsigned long long)messages_checked, (unsigned long long)bytes_checked);
	return 0;
}
