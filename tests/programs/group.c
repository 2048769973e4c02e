/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: an ordinary verbs program over UD that belongs to a multicast group, or sends to it, or
 * both:
 *
 *     group MGID MLID ATTACHES SENDS EXPECTED      group ff12::1 0xc001 1 16 16
 *
 * It attaches its queue pair to the group if ATTACHES is 1. It sends SENDS numbered messages, and
 * receives EXPECTED messages from any sender. Each message must be complete, addressed to that
 * group, and the next in its sender's order. Then the program waits for some milliseconds, in which
 * no further message may arrive. It prints the received messages, and exits with 0 on success. The
 * GID index is 0, on RoCE 1.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QKEY        0x11111111u
#define PATIENCE_US 5000
#define ANY_QPN     0xffffffu
#define BYTES       2000u
#define GRH         40u
#define RECEIVES    256u
#define SENDERS     8u
#define GROUP_AT    24u /* the destination's GID in a GRH */

struct message {
	uint32_t sender, number;
	uint8_t bytes[BYTES - 8];
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static union ibv_gid group;
static uint32_t received, next_number[SENDERS], sender_qpns[SENDERS];
static struct memory {
	struct message out;
	uint8_t in[RECEIVES][GRH + BYTES];
} memory;

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static uint8_t byte_at(uint32_t sender, uint32_t number, uint32_t at)
{
	return (uint8_t)(sender * 17 + number * 31 + at * 7 + at / 251);
}

static void post_receive(uint32_t slot)
{
	struct ibv_sge part = {(uintptr_t)memory.in[slot], GRH + BYTES, mr->lkey};
	struct ibv_recv_wr request = {.wr_id = slot, .sg_list = &part, .num_sge = 1}, *bad;

	need(ibv_post_recv(qp, &request, &bad) == 0, "ibv_post_recv");
}

static void make_ready(bool ethernet, uint16_t lid)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.send_cq = cq,
					.recv_cq = cq,
					.cap = {.max_send_wr = 4,
						.max_recv_wr = RECEIVES,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_ah_attr address = {
		.grh = {.dgid = group, .hop_limit = 16, .sgid_index = ethernet ? 1 : 0},
		.dlid = lid,
		.is_global = 1,
		.port_num = 1};

	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0,
	     "to INIT");
	attr.qp_state = IBV_QPS_RTR;
	need(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "to RTR");
	attr.qp_state = IBV_QPS_RTS;
	need(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "to RTS");
	ah = ibv_create_ah(pd, &address);
	need(ah != NULL, "ibv_create_ah");
	for (uint32_t i = 0; i < RECEIVES; i++)
		post_receive(i);
}

static uint32_t sender_of(uint32_t qpn, uint32_t name)
{
	need(name < SENDERS, "finding the sender");
	if (next_number[name] == 0)
		sender_qpns[name] = qpn;
	need(sender_qpns[name] == qpn, "the sender's queue pair");
	return name;
}

static void check(const struct ibv_wc *completion)
{
	const uint8_t *bytes = memory.in[completion->wr_id];
	struct message message;

	memcpy(&message, bytes + GRH, sizeof(message));
	uint32_t sender = sender_of(completion->src_qp, message.sender);
	need(completion->byte_len == GRH + BYTES && completion->wc_flags & IBV_WC_GRH,
	     "a whole message");
	need(memcmp(bytes + GROUP_AT, group.raw, 16) == 0, "the group's GID in the GRH");
	need(message.number == next_number[sender]++, "the sender's next message");
	for (uint32_t i = 0; i < sizeof(message.bytes); i++)
		need(message.bytes[i] == byte_at(sender, message.number, i), "its bytes");
	received++;
	post_receive((uint32_t)completion->wr_id);
}

/* Returns whether something was there. */
static bool poll(uint32_t *sent)
{
	struct ibv_wc completion;
	int found = ibv_poll_cq(cq, 1, &completion);

	need(found >= 0, "ibv_poll_cq");
	if (found == 0)
		return false;
	need(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
	if (completion.opcode == IBV_WC_SEND)
		++*sent;
	else
		check(&completion);
	return true;
}

static void send_message(uint32_t name, uint32_t number)
{
	struct ibv_sge part = {(uintptr_t)&memory.out, BYTES, mr->lkey};
	struct ibv_send_wr request = {.sg_list = &part,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED,
				      .wr.ud = {ah, ANY_QPN, QKEY}},
			   *bad;
	uint32_t sent = 0;

	memory.out.sender = name;
	memory.out.number = number;
	for (uint32_t i = 0; i < sizeof(memory.out.bytes); i++)
		memory.out.bytes[i] = byte_at(name, number, i);
	need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
	while (sent == 0)
		poll(&sent);
}

int main(int count, char **texts)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	char host[64];

	need(count == 6 && inet_pton(AF_INET6, texts[1], group.raw) == 1, "reading arguments");
	uint16_t lid = (uint16_t)strtoul(texts[2], NULL, 0);
	bool attaches = strcmp(texts[3], "1") == 0;
	uint32_t sends = (uint32_t)strtoul(texts[4], NULL, 10), sent = 0;
	uint32_t expected = (uint32_t)strtoul(texts[5], NULL, 10);

	need(list && list[0], "finding a device");
	context = ibv_open_device(list[0]);
	need(context != NULL, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 2 * RECEIVES, NULL, NULL, 0);
	need(pd && cq, "ibv_create_cq");
	mr = ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	need(mr != NULL, "ibv_reg_mr");
	need(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
	make_ready(port.link_layer == IBV_LINK_LAYER_ETHERNET, lid);
	if (attaches)
		need(ibv_attach_mcast(qp, &group, lid) == 0, "ibv_attach_mcast");
	need(gethostname(host, sizeof(host)) == 0, "gethostname");
	for (uint32_t i = 0; i < sends; i++)
		send_message((uint32_t)host[strlen(host) - 1] - '0', i);
	while (received < expected)
		poll(&sent);
	usleep(PATIENCE_US);
	while (poll(&sent))
		;
	need(received == expected, "no more messages");
	if (attaches)
		need(ibv_detach_mcast(qp, &group, lid) == 0, "ibv_detach_mcast");
	printf("%u messages received\n", received);
	return 0;
}
