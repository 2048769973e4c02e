/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections: an ordinary program on rdma_cm that opens many connections, one after the other, and
 * ends them. The client prints the time of each.
 *
 *     connections COUNT           waits for the client
 *     connections COUNT HOST      connects to it
 */
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORT 18701

static struct rdma_event_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct rdma_conn_param depth = {
	.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};

static void need(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};

	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
		need(pd && cq, "objects");
	}
	attr.send_cq = attr.recv_cq = cq;
	need(rdma_create_qp(id, pd, &attr) == 0, "rdma_create_qp");
}

static void await(enum rdma_cm_event_type expected)
{
	struct rdma_cm_event *event;

	need(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
	need(event->event == expected, rdma_event_str(event->event));
	rdma_ack_cm_event(event);
}

static void server(int count)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_cm_id *listener;
	int up = 0, down = 0;

	need(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	need(rdma_bind_addr(listener, (struct sockaddr *)&own) == 0, "rdma_bind_addr");
	need(rdma_listen(listener, 8) == 0, "rdma_listen");
	while (down < count) {
		struct rdma_cm_event *event;

		need(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(event->id);
			need(rdma_accept(event->id, &depth) == 0, "rdma_accept");
		}
		up += event->event == RDMA_CM_EVENT_ESTABLISHED;
		down += event->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(event);
	}
	printf("%d of %d connections\n", up, count);
}

static struct rdma_cm_id *connect_one(struct sockaddr *to)
{
	struct rdma_cm_id *id;

	need(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	need(rdma_resolve_addr(id, NULL, to, 2000) == 0, "rdma_resolve_addr");
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	need(rdma_resolve_route(id, 2000) == 0, "rdma_resolve_route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	need(rdma_connect(id, &depth) == 0, "rdma_connect");
	await(RDMA_CM_EVENT_ESTABLISHED);
	return id;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void client(int count, const char *host)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_cm_id **ids = calloc((size_t)count, sizeof(struct rdma_cm_id *));
	const struct hostent *found = gethostbyname(host);
	double start = now_us();

	need(ids && found, host);
	memcpy(&to.sin_addr, found->h_addr_list[0], sizeof(to.sin_addr));
	for (int i = 0; i < count; i++)
		ids[i] = connect_one((struct sockaddr *)&to);
	printf("%.1f us each\n", (now_us() - start) / count);
	for (int i = 0; i < count; i++)
		need(rdma_disconnect(ids[i]) == 0, "rdma_disconnect");
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;

	channel = rdma_create_event_channel();
	need(channel && count > 0, "connections COUNT [HOST]");
	if (argc > 2)
		client(count, argv[2]);
	else
		server(count);
	return 0;
}
