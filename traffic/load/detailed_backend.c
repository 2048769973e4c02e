/* SPDX-License-Identifier: Apache-2.0 */
/* detailed_backend: see detailed_backend.h. Its cores are in workload_core.c. */
#include "traffic/load/detailed_backend.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"
#include "hca/endpoint/endpoint_params.h"
#include "hca/transport/psn.h"
#include "sim/parallel.h"
#include "sim/pool.h"
#include "traffic/load/workload_core.h"

struct detailed_backend {
	struct backend backend;
	struct load *load;
	bool started;
	struct pool messages[SIM_LPS_MAX]; /* one per LP of the run */
};

/* clang-format off */
#define ROW(...) PARAM_ROW(struct load_host_params, __VA_ARGS__)
const struct param load_host_param_list[] = {LOAD_HOST_PARAMS(ROW) {0}};

const struct param_section load_host_sections[] = {
	{"host", load_host_param_list, 0, "workload on detailed adapters: the hosts' requirements"},
	{"cpu", load_cpu_param_list, offsetof(struct load_host_params, cpu),
	 "workload on detailed adapters: cost of calls on each host's cores"},
	{0},
};
/* clang-format on */

static struct detailed_backend *of(const struct backend *backend)
{
	return container_of(backend, struct detailed_backend, backend);
}

static struct load_end *end_of(const struct backend_qp *qp)
{
	return (struct load_end *)(void *)qp;
}

/* ---- messages ---- */

static struct pool *messages_of(const struct load_end *end)
{
	return &end->load->backend->messages[sim_lp_number(load_end_sim(end))];
}

/* Returns the message that contains the PSN, or NULL if it is complete. */
static struct load_message *find(const struct load_end *end, uint32_t psn)
{
	for (struct load_message *message = end->first; message; message = message->next) {
		int32_t place = psn_distance(message->first_psn, psn);

		if (place >= 0 && (uint32_t)place < message->packets)
			return message;
	}
	return NULL;
}

static uint32_t packets_of(const struct load_end *end, enum workload_operation operation,
			   uint64_t bytes)
{
	uint64_t mtu = end->load->params.mtu;

	return operation == WORKLOAD_ATOMIC ? 1 : (uint32_t)((bytes + mtu - 1) / mtu);
}

static void post(struct backend *backend, struct backend_qp *qp, uint32_t flow,
		 enum workload_operation operation, uint64_t bytes)
{
	struct load_end *sender = end_of(qp);
	struct load_end *end = operation == WORKLOAD_READ ? sender->peer : sender;
	struct load_message *message = pool_take(messages_of(end));

	(void)backend;
	assert(bytes <= end->bytes && bytes <= end->peer->bytes);
	*message = (struct load_message){.bytes = bytes,
					 .flow = flow,
					 .operation = (uint8_t)operation,
					 .first_psn = end->next_psn,
					 .packets = packets_of(end, operation, bytes)};
	end->next_psn = psn_add(end->next_psn, message->packets);
	if (end->last)
		end->last->next = message;
	else
		end->first = message;
	end->last = message;
	if (!end->unposted)
		end->unposted = message;
	expected_queue_add(&end->peer->expected, sim_lp_number(load_end_sim(end)), flow, operation,
			   message->packets);
	load_thread_room(end->qp);
	workload_core_wake(end->qp->thread->core);
}

struct load_target load_end_next(struct load_end *end)
{
	static const uint8_t verbs[] = {[WORKLOAD_WRITE] = LOAD_WRITE,
					[WORKLOAD_SEND] = LOAD_SEND,
					[WORKLOAD_READ] = LOAD_READ,
					[WORKLOAD_ATOMIC] = LOAD_FETCH_ADD};
	const struct load_message *message = end->unposted;

	end->unposted = message->next;
	return (struct load_target){
		.node = &end->load->nodes[end->peer->host],
		.key = end->peer->key,
		.address = end->peer->address,
		.verb = verbs[message->operation],
		.bytes = message->bytes,
		.local = end->address,
	};
}

void load_end_complete(struct load_end *end, bool failed)
{
	struct backend_user *user = end->load->backend->backend.user;
	struct load_message *message = end->first;

	end->first = message->next;
	if (!end->first)
		end->last = NULL;
	message->report.failed = failed;
	user->done(user, message->flow, &message->report);
	pool_give(messages_of(end), message);
}

void load_end_delivered(struct expected_message *message)
{
	const struct load_end *end = container_of(message->of, struct load_end, expected);
	struct backend_user *user = end->load->backend->backend.user;
	uint32_t flow = message->flow;

	expected_queue_delivered(message);
	user->delivered(user, flow);
}

void load_end_received(struct load_end *end)
{
	struct expected_message *message = expected_queue_oldest_send(&end->expected);

	if (message)
		load_end_delivered(message);
}

/* ---- callbacks of adapters ---- */

static void request_sent(struct load_end *end, const struct packet *packet)
{
	struct load_message *message = find(end, packet->psn);
	uint32_t behind;

	if (!message)
		return;
	behind = message->operation == WORKLOAD_READ ? psn_add(message->first_psn, message->packets)
						     : psn_add(packet->psn, 1);
	if (!message->report.packets_sent++)
		message->report.started_at = sim_now(load_end_sim(end));
	if (psn_distance(end->sent_psn, packet->psn) < 0)
		message->report.packets_retransmitted++;
	if (psn_distance(end->sent_psn, behind) > 0)
		end->sent_psn = behind;
}

static void response_sent(struct load_end *end, const struct packet *packet)
{
	struct backend_user *user = end->load->backend->backend.user;
	const struct expected_message *read = expected_queue_find_read(&end->expected, packet->psn);

	if (!read)
		return;
	if (packet->psn == read->first_psn)
		user->read_begins(user, read->flow);
	if (psn_add(packet->psn, 1) == psn_add(read->first_psn, read->packets))
		user->read_ends(user, read->flow);
}

static void sent(struct hca_watcher *watcher, const struct packet *packet)
{
	const struct load *load = container_of(watcher, struct load_node, watcher)->load;
	struct load_end *to = load_ends_find(load, packet->path->destination, packet->dest_qp);

	if (!to)
		return;
	if (opcode_is_request(packet->opcode))
		request_sent(to->peer, packet);
	else if (opcode_info[packet->opcode].operation == OP_READ_RESPONSE)
		response_sent(to->peer, packet);
}

/* Reports a delivered write. The delivery of a send is reported by its CQE. */
static void delivered(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn)
{
	const struct load_node *node = container_of(watcher, struct load_node, watcher);
	struct load_end *end = load_ends_find(node->load, node->index, qpn);
	struct expected_message *message = expected_queue_find_data(&end->expected, psn);

	if (message && message->operation == WORKLOAD_WRITE)
		workload_core_written(end->qp->thread->core, message);
}

/* Returns the bytes of a message before that PSN. */
static uint64_t bytes_before(const struct load_message *message, uint32_t psn, uint64_t mtu)
{
	int32_t packets = psn_distance(message->first_psn, psn);

	if (packets <= 0)
		return 0;
	return (uint32_t)packets < message->packets ? (uint64_t)packets * mtu : message->bytes;
}

static void acknowledged(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn)
{
	const struct load_node *node = container_of(watcher, struct load_node, watcher);
	struct load_end *end = load_ends_find(node->load, node->index, qpn);
	uint64_t mtu = node->load->params.mtu;

	for (const struct load_message *message = end->first; message; message = message->next) {
		if (psn_distance(message->first_psn, psn) <= 0)
			break;
		if (message->operation != WORKLOAD_ATOMIC)
			end->acked_bytes += bytes_before(message, psn, mtu) -
					    bytes_before(message, end->acked_psn, mtu);
	}
	end->acked_psn = psn;
}

/* ---- queue pairs ---- */

static struct port *port(const struct backend *backend, uint32_t host)
{
	return hca_port(of(backend)->load->nodes[host].hca);
}

static struct load_end *add_ends(struct backend *backend, const struct backend_pair *pair,
				 uint32_t source_number, uint32_t destination_number)
{
	return load_ends_add(of(backend)->load, pair, source_number, destination_number);
}

static uint32_t next_number(struct backend *backend, uint32_t host)
{
	return load_ends_next_number(of(backend)->load, host);
}

static void connect_if_late(const struct backend *backend, struct load_end *end)
{
	if (of(backend)->started)
		load_ends_connect_late(end);
}

static struct backend_qp *connect_pair(struct backend *backend, const struct backend_pair *pair)
{
	struct load_end *source = add_ends(backend, pair, next_number(backend, pair->source),
					   next_number(backend, pair->destination));

	connect_if_late(backend, source);
	return (struct backend_qp *)(void *)source;
}

struct backend_qp *detailed_backend_connect_far(struct backend *backend,
						const struct backend_pair *pair, uint32_t number,
						uint16_t *udp_source_port,
						struct expected_queue **expected)
{
	bool from_far = !of(backend)->load->nodes[pair->source].hca;
	struct load_end *source =
		add_ends(backend, pair, from_far ? number : next_number(backend, pair->source),
			 from_far ? next_number(backend, pair->destination) : number);
	struct load_end *far = from_far ? source : source->peer;

	far->number = number;
	*udp_source_port = far->path->udp_source_port;
	*expected = &far->expected;
	connect_if_late(backend, source);
	return (struct backend_qp *)(void *)far->peer;
}

void detailed_backend_announce(const struct backend_qp *qp, uint32_t flow,
			       enum workload_operation operation, uint64_t bytes)
{
	struct load_end *end = end_of(qp);

	expected_queue_add(&end->expected, sim_lp_number(load_end_sim(end->peer)), flow, operation,
			   packets_of(end, operation, bytes));
}

struct load_place detailed_backend_place(const struct backend_qp *qp)
{
	const struct load_end *end = end_of(qp);

	return (struct load_place){end->number, end->key, end->address};
}

static void plan(struct backend *backend, struct backend_qp *qp, uint64_t message_bytes,
		 uint64_t messages, enum workload_operation operation)
{
	struct load_end *sender = end_of(qp), *receiver = sender->peer;

	(void)backend;
	(operation == WORKLOAD_READ ? receiver : sender)->messages += messages;
	if (operation == WORKLOAD_SEND)
		receiver->receives = true;
	if (message_bytes > sender->bytes)
		sender->bytes = receiver->bytes = message_bytes;
}

static void plan_any(struct backend *backend, uint64_t bytes)
{
	of(backend)->load->any_bytes = bytes;
}

static void start(struct backend *backend)
{
	struct load *load = of(backend)->load;

	load->params.mtu = PAYLOAD_MAX;
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		struct load_node *node = &load->nodes[i];
		uint32_t mtu;

		if (!node->hca)
			continue;
		mtu = port_mtu(hca_port(node->hca));
		if (mtu < load->params.mtu)
			load->params.mtu = mtu;
		load_ends_place(node);
		node->watcher = (struct hca_watcher){sent, delivered, acknowledged};
		hca_set_watcher(node->hca, &node->watcher);
	}
	load_connect(load, NULL, 0); /* trouble() returns the reason */
	of(backend)->started = true;
}

static struct backend_qp *peer(const struct backend_qp *qp)
{
	return (struct backend_qp *)(void *)end_of(qp)->peer;
}

static const struct path *path(const struct backend_qp *qp)
{
	return end_of(qp)->path;
}

static struct hca_qp_congestion congestion(const struct backend_qp *qp)
{
	const struct load_end *end = end_of(qp);

	return hca_qp_congestion(end->load->nodes[end->host].hca, end->qp->number);
}

static uint32_t cnps(const struct backend_qp *qp)
{
	return congestion(qp).cnps;
}

static uint32_t marks(const struct backend_qp *qp)
{
	return congestion(qp).marks;
}

static uint64_t acked_bytes(const struct backend_qp *qp)
{
	return end_of(qp)->acked_bytes;
}

static uint64_t arrived_bytes(const struct backend_qp *qp)
{
	const struct load_end *end = end_of(qp), *peer = end->peer;
	const struct load *load = end->load;
	uint64_t bytes = end->acked_bytes, mtu = load->params.mtu;
	struct hca_qp_psns there = {0};

	if (load->nodes[peer->host].hca && peer->qp)
		there = hca_qp_psns(load->nodes[peer->host].hca, peer->number);
	if (!there.known || psn_distance(end->acked_psn, there.expected) <= 0)
		return bytes;
	for (const struct load_message *message = end->first; message; message = message->next)
		if (message->operation < WORKLOAD_READ)
			bytes += bytes_before(message, there.expected, mtu) -
				 bytes_before(message, end->acked_psn, mtu);
	return bytes;
}

static void sender(struct backend_qp *qp, struct backend_sender *sender)
{
	const struct hca_qp_congestion seen = congestion(qp);

	*sender = (struct backend_sender){.rate_bps = seen.rate_bps,
					  .cwnd_bytes = seen.cwnd_bytes,
					  .inflight_bytes = seen.inflight_bytes,
					  .rtt = seen.rtt};
}

static void outstanding(const struct backend *backend, backend_visit *visit, void *context)
{
	const struct load *load = of(backend)->load;
	const struct load_end *end;

	for (uint32_t node = 0; node < load->params.nodes; node++)
		for (uint32_t i = 0; (end = load_ends_get(load, node, i)); i++)
			for (struct load_message *one = end->first; one; one = one->next)
				visit(context, one->flow, &one->report);
}

static const char *trouble(const struct backend *backend)
{
	return load_failure(of(backend)->load);
}

/* ---- life ---- */

static void destroy(struct backend *backend)
{
	(void)backend; /* freed with the load, after the HCAs */
}

struct load *detailed_backend_create(const struct load_host_params *params, uint32_t nodes,
				     enum link_layer link_layer, struct sim *sim,
				     struct endpoints *endpoints)
{
	static const struct backend_ops ops = {
		port,   connect_pair, plan,    plan_any, start,       post,
		peer,   path,         cnps,    marks,    acked_bytes, arrived_bytes,
		sender, outstanding,  trouble, destroy,  NULL,        NULL};
	static const struct endpoint_params no_time;
	struct detailed_backend *backend = calloc(1, sizeof(*backend));
	struct load_params load;

	assert(backend);
	load_params_default(&load);
	load.nodes = nodes;
	load.link_layer = link_layer == LINK_ETHERNET;
	load.posting = params->posting;
	load.order = LOAD_ROUND_ROBIN;
	load.threads = params->cores;
	load.tx_depth = params->tx_depth;
	load.rx_depth = params->rx_depth;
	load.max_rd_atomic = params->max_rd_atomic;
	load.page = params->page;
	load.cpu = params->cpu;
	backend->load = load_create(&load, sim, endpoints, NULL);
	backend->load->backend = backend;
	backend->load->mailboxes = expected_queue_mailboxes_create(sim);
	backend->load->timeout = (uint8_t)params->timeout;
	backend->load->retry_count = (uint8_t)params->retry_count;
	backend->backend =
		(struct backend){.ops = &ops, .message_max = LOAD_MESSAGE_MAX, .ideal = &no_time};
	load_ends_create(backend->load);
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_init(&backend->messages[i], sizeof(struct load_message), 0);
	return backend->load;
}

void load_set_far(struct load *load, uint32_t host, struct sim *sim)
{
	load->nodes[host].sim = sim;
}

struct backend *detailed_backend(struct load *load)
{
	return &load->backend->backend;
}

void detailed_backend_fini(struct load *load)
{
	struct detailed_backend *backend = load->backend;

	if (!backend)
		return;
	load_ends_destroy(load);
	expected_queue_mailboxes_destroy(load->mailboxes);
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_fini(&backend->messages[i]);
	free(backend);
}
