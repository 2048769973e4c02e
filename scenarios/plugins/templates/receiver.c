/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: lets the receiver pull packets at the rate of its link, after a first window.
 * It is a start: replace on_data() and receiver_step(). The interface is hcasim/congestion.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set hosts.hca.congestion=./example.so
 *
 * The sender sends a window on its own. Each further packet needs a credit. The receiver gives
 * credits to its flows in turn, one for each packet time of its link. All counts are bytes of the
 * flow's payload since its start, as 32 bits that wrap around. A count of credits supersedes those
 * before it, so that a lost one does no harm. The receiver repeats the last one if nothing arrives.
 * Source of the idea: NDP, SIGCOMM 2017 (recalled), without its trimmed packets.
 */
#include "hcasim/congestion.h"

/* clang-format off */
#define EXAMPLE_PARAMS(X)                                                                 \
	X(window, BYTES, "0B", "0B..1GiB",                                                \
	  "Bytes of a message that need no credit. `0B`: a round trip at the line rate.", \
	  "choice")                                                                       \
	X(share, RATIO, "95%", "0.01..1", "Share of the link that credits may fill.",     \
	  "choice")                                                                       \
	X(repeat, TIME, "100us", "1us..1s",                                               \
	  "Time without data after which the last credit is sent again.", "choice")
/* clang-format on */

struct example_params {
	EXAMPLE_PARAMS(PARAM_FIELD)
};

#define GAP_BYTES 20 /* preamble and gap of Ethernet */

/* Words of the fields of a data packet, and of a control packet. */
enum { SENT, UNSENT, GRANTED };

/* ---- the sender ---- */

struct example_sender {
	struct cc_state cc; /* first */
	struct congestion_sending sending;
	uint64_t window;
	uint64_t granted, acked;
};

static void publish(struct example_sender *sender)
{
	sender->cc.cwnd_bytes =
		sender->granted > sender->acked ? sender->granted - sender->acked : 0;
}

static void state_init(struct cc_state *cc, const void *values, const struct congestion_path *path,
		       sim_time now)
{
	const struct example_params *params = values;
	struct example_sender *sender = (struct example_sender *)(void *)cc;
	double trip = (double)path->line_rate_bps / 8 * (double)path->base_rtt / (double)SEC;

	(void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->next_step = SIM_NEVER;
	sender->window = params->window ? params->window : (uint64_t)trip + path->mtu_bytes;
	publish(sender);
}

/* A message may begin without credits. */
static void on_post(struct cc_state *cc, const void *params, sim_time now, uint64_t bytes)
{
	struct example_sender *sender = (struct example_sender *)(void *)cc;

	(void)params, (void)now;
	if (sender->sending.unsent_bytes == bytes) /* nothing else waits */
		sender->granted += bytes < sender->window ? bytes : sender->window;
	publish(sender);
}

static void on_packet(struct cc_state *cc, const void *params, sim_time now,
		      struct congestion_packet *packet)
{
	const struct example_sender *sender = (const struct example_sender *)(const void *)cc;

	(void)params, (void)now;
	packet->fields.words[SENT] = (uint32_t)packet->sent_total;
	packet->fields.words[UNSENT] = (uint32_t)sender->sending.unsent_bytes;
	packet->fields.words[GRANTED] = (uint32_t)sender->granted;
}

static void on_ack(struct cc_state *cc, const void *params, sim_time now,
		   const struct congestion_ack *ack)
{
	struct example_sender *sender = (struct example_sender *)(void *)cc;

	(void)params, (void)now;
	sender->acked = ack->acked_total;
	publish(sender);
}

static void on_control(struct cc_state *cc, const void *params, sim_time now,
		       const struct congestion_fields *fields)
{
	struct example_sender *sender = (struct example_sender *)(void *)cc;
	int32_t more = (int32_t)(fields->words[GRANTED] - (uint32_t)sender->granted);

	(void)params, (void)now;
	if (more > 0)
		sender->granted += (uint32_t)more;
	publish(sender);
}

/* ---- the receiver ---- */

struct example_host {
	sim_time free_at; /* the next credit of the adapter may leave */
};

struct example_receiver {
	struct cc_receiver receiver; /* first */
	uint32_t sent, wanted, granted;
	uint32_t mtu_bytes;
	double rate_bps;
	sim_time packet_time; /* of the longest packet so far, with headers and gap */
	bool waits;           /* for its turn to give a credit */
};

static void receiver_init(struct cc_receiver *base, const void *values,
			  const struct congestion_path *path, sim_time now)
{
	struct example_receiver *receiver = (struct example_receiver *)(void *)base;

	(void)values, (void)now;
	receiver->mtu_bytes = path->mtu_bytes;
	receiver->rate_bps = (double)path->line_rate_bps;
}

static void take_turn(struct example_receiver *receiver, const struct example_params *params,
		      sim_time now)
{
	struct example_host *host = receiver->receiver.host;

	if (receiver->waits)
		return;
	if ((int32_t)(receiver->wanted - receiver->granted) > 0) {
		host->free_at = host->free_at > now ? host->free_at : now;
		host->free_at += receiver->packet_time;
		receiver->receiver.next_step = host->free_at;
		receiver->waits = true;
	} else if ((int32_t)(receiver->wanted - receiver->sent) > 0) {
		receiver->receiver.next_step = now + params->repeat;
	} else {
		receiver->receiver.next_step = SIM_NEVER;
	}
}

static void on_data(struct cc_receiver *base, const void *values, sim_time now,
		    const struct congestion_data *data)
{
	const struct example_params *params = values;
	struct example_receiver *receiver = (struct example_receiver *)(void *)base;
	const uint32_t *words = data->fields->words;
	double bits = (data->wire_bytes + GAP_BYTES) * 8.0 / params->share;
	sim_time packet_time = (sim_time)(bits / receiver->rate_bps * (double)SEC);

	if (packet_time > receiver->packet_time)
		receiver->packet_time = packet_time;
	if ((int32_t)(words[SENT] - receiver->sent) > 0)
		receiver->sent = words[SENT];
	if ((int32_t)(words[SENT] + words[UNSENT] - receiver->wanted) > 0)
		receiver->wanted = words[SENT] + words[UNSENT];
	if ((int32_t)(words[GRANTED] - receiver->granted) > 0)
		receiver->granted = words[GRANTED];
	take_turn(receiver, params, now);
}

static void receiver_step(struct cc_receiver *base, const void *params, sim_time now)
{
	struct example_receiver *receiver = (struct example_receiver *)(void *)base;

	if (receiver->waits)
		receiver->granted += receiver->mtu_bytes;
	receiver->waits = false;
	base->control.words[GRANTED] = receiver->granted;
	base->send_control = true;
	take_turn(receiver, params, now);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct example_params, __VA_ARGS__)
static const struct param param_list[] = { EXAMPLE_PARAMS(ROW) { 0 } };
/* clang-format on */

static const struct congestion_gauge gauges[] = {
	{"granted_bytes", "Credits so far.", offsetof(struct example_sender, granted)}, {0}};

static uint64_t ack_bytes(const void *params)
{
	(void)params;
	return 1; /* an ACK for each packet */
}

const struct congestion_ops congestion_plugin = {
	.version = CONGESTION_VERSION,
	.name = "example",
	.meaning = "credits of the receiver, at the rate of its link",
	.params = param_list,
	.params_bytes = sizeof(struct example_params),
	.state_bytes = sizeof(struct example_sender),
	.lives_by = CONGESTION_ACKS,
	.ack_bytes = ack_bytes,
	.state_init = state_init,
	.on_ack = on_ack,
	.sending_offset = offsetof(struct example_sender, sending),
	.data_field_bytes = 12,
	.gauges = gauges,
	.on_post = on_post,
	.on_packet = on_packet,
	.on_control = on_control,
	.receiver_bytes = sizeof(struct example_receiver),
	.receiver_host_bytes = sizeof(struct example_host),
	.receiver_init = receiver_init,
	.on_data = on_data,
	.receiver_step = receiver_step,
};
