/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca: see hca.h. Creates the blocks of one adapter and connects them. hca_commands.c executes the
 * driver's commands.
 */
#include "hca/device/hca.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/device/adapter.h"
#include "hca/host/host.h"
#include "hca/iwarp/rnic.h"
#include "hca/port/netdev.h"
#include "hca/port/receive.h"
#include "hca/port/transmit.h"
#include "hca/transport/cc_unit.h"
#include "hca/transport/nak_delay.h"
#include "hca/transport/qp.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/doorbell.h"
#include "hca/work/event_queue.h"
#include "hca/work/receive_queue.h"
#include "hca/work/wqe_fetch.h"

#define ROW(...)   PARAM_ROW(struct device_params, __VA_ARGS__)
#define FIRST_CQN  0x80
#define FIRST_SRQN 0x10
#define NAME_BYTES 128

/* clang-format off */
const struct param device_param_list[] = {DEVICE_PARAMS(ROW) {0}};

static const struct block_type hca_type = {
	.name         = "hca",
	.params       = device_param_list,
	.counters     = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
};
/* clang-format on */

/* ---- state for observers ---- */

void hca_set_watcher(struct hca *hca, struct hca_watcher *watcher)
{
	hca->transport->watcher = watcher;
	transmit_set_watcher(hca->transmit, watcher);
}

struct hca_qp_psns hca_qp_psns(const struct hca *hca, uint32_t qpn)
{
	const struct qp *qp = qp_find(hca->transport, qpn);
	struct hca_qp_psns psns = {.known = qp};

	if (qp)
		receive_psns(hca->receive, qp, &psns.expected, &psns.unacked);
	return psns;
}

struct hca_qp_congestion hca_qp_congestion(struct hca *hca, uint32_t qpn)
{
	struct hca_qp_congestion seen = {.rate_bps = port_rate_bps(hca->port),
					 .cwnd_bytes = CWND_UNLIMITED};
	const struct qp *qp = qp_find(hca->transport, qpn);
	struct qp_congestion *state = qp ? qp->congestion : NULL;
	struct cc_state *cc;

	if (!state)
		return seen;
	seen.cnps = state->cnps;
	seen.marks = state->marks;
	if (!state->sends)
		return seen;
	cc = cc_state_of(state);
	congestion_settle(hca->transport->congestion->congestion, cc, sim_now(hca->sim));
	if (cc->rate_bps < seen.rate_bps)
		seen.rate_bps = cc->rate_bps;
	seen.cwnd_bytes = cc->cwnd_bytes;
	seen.inflight_bytes = state->sent_bytes - state->acked_bytes;
	seen.rtt = state->rtt;
	return seen;
}

/* ---- the adapter ---- */

void hca_set_endpoints(struct hca *hca, const struct endpoints *endpoints)
{
	hca->transport->endpoints = endpoints;
}

struct port *hca_port(struct hca *hca)
{
	return hca->port;
}

struct llc *hca_llc(const struct hca *hca)
{
	struct llc *llc = hca->host ? host_llc(hca->host) : NULL;

	return llc && llc_enabled(llc) ? llc : NULL;
}

struct rnic *hca_rnic(const struct hca *hca)
{
	return hca->rnic;
}

const struct hca_params *hca_params(const struct hca *hca)
{
	return &hca->params;
}

/* Returns the name of a part: "host0.hca" and "port" give "host0.hca.port". */
static const char *block_name(const struct hca *hca, const char *part, char text[NAME_BYTES])
{
	snprintf(text, NAME_BYTES, "%s.%s", hca->block.name, part);
	return text;
}

static void create_host_side(struct hca *hca)
{
	const struct hca_params *params = &hca->params;
	struct sim *sim = hca->sim;
	char text[NAME_BYTES];

	hca->pcie = pcie_create(sim, block_name(hca, "pcie", text), &params->pcie);
	if (host_params_matter(&params->host)) {
		hca->host = host_create(sim, block_name(hca, "host", text), &params->host);
		pcie_host_attach(hca->pcie, hca->host);
	}
	core_clock_init(&hca->clock, sim, params->device.core_clock, hca->pcie);
}

static void create_context(struct hca *hca)
{
	const struct hca_params *params = &hca->params;
	struct sim *sim = hca->sim;
	char text[NAME_BYTES];

	hca->regions = mr_table_create((uint32_t)params->device.regions);
	hca->translation = translation_unit_create(sim, block_name(hca, "translation", text),
						   &params->translation, hca->pcie, hca->regions);
	hca->paging =
		paging_create(sim, block_name(hca, "paging", text), &params->paging, hca->regions);
	hca->dma = dma_engine_create(sim, block_name(hca, "dma", text), &params->dma,
				     hca->translation, hca->pcie);
	hca->contexts = context_cache_create(sim, block_name(hca, "context", text),
					     &params->contexts, hca->pcie);
}

static void create_work(struct hca *hca, struct hca_driver *driver)
{
	const struct hca_params *params = &hca->params;
	struct sim *sim = hca->sim;
	char text[NAME_BYTES];

	work_user_init(&hca->work_user);
	hca->doorbell = doorbell_create(sim, block_name(hca, "doorbell", text), &params->doorbell,
					hca->pcie, &hca->cqs, &hca->work_user.doorbell);
	hca->scheduler = scheduler_create(sim, block_name(hca, "scheduler", text),
					  &params->scheduler, hca->contexts, &work_user_scheduler);
	hca->send_cache =
		wqe_cache_create(sim, block_name(hca, "send_cache", text), &params->send_cache);
	hca->receive_cache = wqe_cache_create(sim, block_name(hca, "receive_cache", text),
					      &params->receive_cache);
	hca->wqe_fetch =
		wqe_fetch_create(sim, block_name(hca, "wqe_fetch", text), &params->wqe_fetch,
				 hca->pcie, hca->send_cache, &hca->work_user.fetch);
	hca->receive_queues =
		receive_queues_create(sim, block_name(hca, "receive_queue", text),
				      &params->receive_queue, &hca->receive_queues_blocks);
	hca->completion = completion_writer_create(sim, block_name(hca, "completion", text),
						   &params->completion, &hca->completion_blocks);
	hca->events = event_queue_create(sim, block_name(hca, "event_queue", text),
					 &params->event_queue, hca->pcie, driver);
	hca->receive_queues_blocks = (struct receive_queues_blocks){
		.pcie = hca->pcie,
		.contexts = hca->contexts,
		.events = hca->events,
		.cache = hca->receive_cache,
		.cqs = &hca->cqs,
		.user = &work_user_receives,
	};
}

static void create_transport(struct hca *hca)
{
	const struct hca_params *params = &hca->params;
	const struct transport_blocks blocks = {
		.packets = hca->packets,
		.address_resolver = hca->address_resolver,
		.pcie = hca->pcie,
		.regions = hca->regions,
		.cqs = &hca->cqs,
		.srqs = &hca->srqs,
		.paging = hca->paging,
		.translation = hca->translation,
		.contexts = hca->contexts,
		.dma = hca->dma,
		.scheduler = hca->scheduler,
		.send_cache = hca->send_cache,
		.wqe_fetch = hca->wqe_fetch,
		.receive_queues = hca->receive_queues,
		.completion = hca->completion,
		.events = hca->events,
		.above = &hca->above,
	};
	const struct transport_facts facts = {
		.link_layer = hca->link_layer,
		.mtu = (uint32_t)params->port.mtu,
		.vls = (uint32_t)params->port.vls,
		.transmit_latency = params->transmit.latency,
		.receive_latency = params->receive.latency,
		.relaxed_ordering = params->pcie.relaxed_ordering,
		.qps_max = (uint32_t)params->device.qps,
		.wqe_fetch = &params->wqe_fetch,
		.congestion = &params->congestion,
	};
	char text[NAME_BYTES];

	hca->transport = transport_create(hca->sim, block_name(hca, "transport", text),
					  &params->transport, &blocks, &facts);
	hca->work_user.transport = hca->transport;
}

static void create_port(struct hca *hca)
{
	const struct hca_params *params = &hca->params;
	char text[NAME_BYTES];

	hca->transmit =
		transmit_create(hca->sim, block_name(hca, "transmit", text), &params->transmit,
				&(struct transmit_blocks){
					.packets = hca->packets,
					.scheduler = hca->scheduler,
				});
	hca->receive = receive_create(hca->sim, block_name(hca, "receive", text), &params->receive,
				      &(struct receive_blocks){
					      .packets = hca->packets,
					      .contexts = hca->contexts,
					      .transport = hca->transport,
					      .transmit = hca->transmit,
				      });
	hca->port = port_create(hca->sim, block_name(hca, "port", text), &params->port,
				hca->link_layer, hca->packets, receive_port_user(hca->receive));
	receive_connect(hca->receive, hca->port);
	transmit_connect(hca->transmit, hca->port, hca->receive);
	hca->above = (struct transport_above){
		.port = hca->port,
		.transmit = hca->transmit,
		.receive = hca->receive,
		.push = transmit_push,
		.watch = transmit_watch,
		.notify = transmit_notify,
		.done = receive_done,
		.stall = receive_stall,
		.forget_qp = receive_forget_qp,
	};
}

static void create_rnic(struct hca *hca)
{
	const struct rnic_blocks blocks = {
		.packets = hca->packets,
		.paths = hca->address_resolver->paths,
		.pcie = hca->pcie,
		.dma = hca->dma,
		.events = hca->events,
		.transmit = hca->transmit,
		.receive = hca->receive,
		.port = hca->port,
		.regions = hca->regions,
		.translation = hca->translation,
		.inflight_bytes = hca->params.scheduler.inflight_bytes,
	};
	char text[NAME_BYTES];

	if (hca->params.device.driver == DRIVER_SIW)
		hca->rnic = rnic_create(hca->sim, block_name(hca, "rnic", text), &hca->params.rnic,
					&blocks);
}

/* Creates the blocks that packets do not pass. */
static void create_bystanders(struct hca *hca)
{
	char text[NAME_BYTES];

	hca->latency = latency_stages_create(hca->sim, block_name(hca, "latency", text));
	hca->completion_blocks = (struct completion_blocks){
		.pcie = hca->pcie,
		.clock = &hca->clock,
		.contexts = hca->contexts,
		.dma = hca->dma,
		.events = hca->events,
		.latency = hca->latency,
		.user = &hca->work_user.completion,
	};
	hca->transport->congestion = cc_unit_create(
		hca->transport, block_name(hca, "congestion", text), &hca->params.notification);
}

/* Creates the blocks from the host to the port, each connected to the blocks below it. The order of
 * creation is the order of events at one time. */
struct hca *hca_create(struct sim *sim, const char *name, const struct hca_params *params,
		       enum link_layer link_layer, struct packet_pool *pool,
		       struct hca_driver *driver, struct address_resolver *resolver)
{
	struct hca *hca = calloc(1, sizeof(*hca));

	assert(hca && driver && resolver);
	hca->sim = sim;
	hca->params = *params;
	hca->link_layer = link_layer;
	hca->packets = pool;
	hca->address_resolver = resolver;
	block_init(&hca->block, sim, &hca_type, name, &hca->params.device, NULL);
	number_table_init(&hca->cqs, FIRST_CQN, (uint32_t)params->device.cqs);
	number_table_init(&hca->srqs, FIRST_SRQN, (uint32_t)params->device.srqs);
	create_host_side(hca);
	create_context(hca);
	create_work(hca, driver);
	create_transport(hca);
	create_port(hca);
	create_rnic(hca);
	create_bystanders(hca);
	return hca;
}

struct netdev *hca_create_netdev(struct hca *hca, struct netdev_user *user, uint64_t ring_bytes)
{
	const struct netdev_blocks blocks = {
		.packets = hca->packets,
		.pcie = hca->pcie,
		.transmit = hca->transmit,
		.receive = hca->receive,
		.port = hca->port,
	};
	const struct netdev_limits limits = {
		.ring_bytes = ring_bytes,
		.inflight_bytes = hca->params.scheduler.inflight_bytes,
	};
	char text[NAME_BYTES];

	assert(hca->link_layer == LINK_ETHERNET && !hca->netdev);
	hca->netdev =
		netdev_create(hca->sim, block_name(hca, "netdev", text), &blocks, user, &limits);
	return hca->netdev;
}

/* Destroys the objects of the driver. If a run ends early, activity in progress may still refer to
 * an object. The block that created the object frees it later. */
static void destroy_objects(struct hca *hca)
{
	struct qp *qp;
	uint32_t at = 0;

	if (hca->transport->gsi)
		qp_destroy(hca->transport->gsi);
	while ((qp = number_table_next(&hca->transport->qps, &at)))
		qp_destroy(qp);
	for (uint32_t i = 0; i < hca->srqs.limit && hca->srqs.count; i++)
		hca_srq_destroy(hca, hca->srqs.first + i);
	for (uint32_t i = 0; i < hca->cqs.limit && hca->cqs.count; i++)
		hca_cq_destroy(hca, hca->cqs.first + i);
}

void hca_destroy(struct hca *hca)
{
	destroy_objects(hca);
	nak_delay_fini(hca->transport); /* delayed NAKs refer to queue pairs */
	cc_unit_destroy(hca->transport->congestion);
	rnic_destroy(hca->rnic);
	netdev_destroy(hca->netdev);
	port_destroy(hca->port);
	receive_destroy(hca->receive);
	transmit_destroy(hca->transmit);
	event_queue_destroy(hca->events);
	doorbell_destroy(hca->doorbell);
	dma_engine_destroy(hca->dma);
	translation_unit_destroy(hca->translation);
	paging_destroy(hca->paging);
	context_cache_destroy(hca->contexts);
	pcie_destroy(hca->pcie);
	host_destroy(hca->host);
	transport_destroy(hca->transport);
	receive_queues_destroy(hca->receive_queues);
	completion_writer_destroy(hca->completion);
	wqe_fetch_destroy(hca->wqe_fetch);
	wqe_cache_destroy(hca->send_cache);
	wqe_cache_destroy(hca->receive_cache);
	scheduler_destroy(hca->scheduler);
	latency_stages_destroy(hca->latency);
	mr_table_destroy(hca->regions);
	number_table_fini(&hca->cqs);
	number_table_fini(&hca->srqs);
	block_fini(&hca->block);
	free(hca);
}
