/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe: see pipe.h.
 */
#include "tests/tcp/support/pipe.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERHEAD_BYTES 78 /* Ethernet with preamble and gap, IPv4, TCP without options */

struct pipe;

struct end {
	struct pipe *pipe;
	unsigned number;
	struct tcp_connection *connection;
	struct event timer;
	uint8_t *arrived; /* a flag for each of the peer's bytes */
	uint64_t written;
	uint32_t reads;
	bool connected, peer_closed, closed;
	/* the link to the peer */
	struct random chance;
	sim_time free_at;
	uint64_t data_segments, queue_max;
	double queue_area;
	sim_time area_since;
};

struct flight {
	struct event event;
	struct end *to;
	struct tcp_segment segment;
	uint8_t payload[];
};

struct pipe {
	struct sim *sim;
	struct block block;
	const struct pipe_setup *setup;
	struct congestion congestion;
	struct end ends[2];
	sim_time finished_at;
	bool failed;
};

static const struct block_type pipe_type = {.name = "pipe"};

static void check(struct pipe *pipe, bool good, const char *what)
{
	if (good || pipe->failed)
		return;
	pipe->failed = true;
	printf("seed %" PRIu64 " at %.3f us: %s\n", pipe->setup->seed,
	       (double)sim_now(pipe->sim) / (double)US, what);
	CU_FAIL("pipe");
}

static uint8_t byte_at(unsigned end, uint64_t offset)
{
	return (uint8_t)((offset * 2654435761u >> 11) + end * 77);
}

static struct end *peer_of(const struct end *end)
{
	return &end->pipe->ends[!end->number];
}

static void application(struct end *end)
{
	const struct pipe_setup *setup = end->pipe->setup;
	sim_time now = sim_now(end->pipe->sim);
	struct tcp_report report;

	if (!end->connected || end->closed)
		return;
	if (++end->reads % setup->read_every == 0 || end->peer_closed)
		tcp_read(end->connection, now, tcp_readable(end->connection));
	tcp_report(end->connection, &report);
	/* a program whose socket buffer holds two writes */
	while (end->written < setup->bytes[end->number] &&
	       end->written - report.acknowledged < 2 * (uint64_t)setup->write_bytes) {
		uint64_t left = setup->bytes[end->number] - end->written;
		uint64_t bytes = left < setup->write_bytes ? left : setup->write_bytes;

		end->written += bytes;
		tcp_write(end->connection, now, bytes);
	}
	if (end->written == setup->bytes[end->number])
		tcp_shutdown(end->connection, now);
}

static bool transmit(void *context, const struct tcp_segment *segment);

static void arrive(struct event *event)
{
	struct flight *flight = container_of(event, struct flight, event);
	struct end *end = flight->to;
	struct tcp_segment response;
	struct tcp_report report;

	if (flight->segment.payload_bytes)
		flight->segment.payload = flight->payload;
	if (!end->closed)
		tcp_input(end->connection, sim_now(end->pipe->sim), &flight->segment);
	else if (tcp_refuse(&flight->segment, &response))
		transmit(end, &response);
	if (end->number == 0 && end->pipe->setup->watch) {
		tcp_report(end->connection, &report);
		end->pipe->setup->watch(end->pipe->setup->context, sim_now(end->pipe->sim),
					&report);
	}
	application(end);
	free(flight);
}

static void launch(struct end *from, const struct tcp_segment *segment, sim_time at)
{
	struct flight *flight = malloc(sizeof(*flight) + segment->payload_bytes);

	if (!flight)
		abort();
	flight->to = peer_of(from);
	flight->segment = *segment;
	for (uint32_t i = 0; i < segment->payload_bytes; i++)
		flight->payload[i] = byte_at(from->number, segment->offset + i);
	event_init(&flight->event, &from->pipe->block, arrive);
	sim_schedule_at(&flight->event, at);
}

/* Returns the bytes that wait for the link now. */
static uint64_t queued(const struct end *from, sim_time now)
{
	if (from->free_at <= now)
		return 0;
	return (uint64_t)((double)(from->free_at - now) * (double)from->pipe->setup->rate_bps /
			  (8 * (double)SEC));
}

/* The queue empties at the link's rate, so its area between two changes is a trapezoid. */
static void measure_queue(struct end *from, sim_time now, uint64_t bytes)
{
	sim_time busy_until = from->free_at < now ? from->free_at : now;

	if (bytes > from->queue_max)
		from->queue_max = bytes;
	if (busy_until > from->area_since) {
		double before = (double)queued(from, from->area_since);

		from->queue_area += (before + (double)queued(from, busy_until)) / 2 *
				    (double)(busy_until - from->area_since);
	}
	from->area_since = now;
}

static bool is_dropped(struct end *from, const struct tcp_segment *segment)
{
	const struct pipe_setup *setup = from->pipe->setup;

	if (segment->payload_bytes && from->number == 0 && setup->drop_from) {
		uint64_t number = ++from->data_segments;

		if (number >= setup->drop_from && number < setup->drop_from + setup->drop_count)
			return true;
	}
	return random_chance(&from->chance, setup->loss);
}

static void check_windows(struct end *end, const struct tcp_segment *segment)
{
	uint64_t behind = segment->offset + segment->payload_bytes;
	struct tcp_report report;

	if (!segment->payload_bytes)
		return;
	tcp_report(end->connection, &report);
	/* the first segment is retransmitted after a timeout, independent of other segments in
	 * flight */
	check(end->pipe,
	      (segment->retransmission && segment->offset == report.acknowledged) ||
		      report.in_flight_bytes < report.mss ||
		      report.in_flight_bytes - report.mss <= report.cwnd_bytes,
	      "more in flight than the congestion window and a probe");
	check(end->pipe, behind <= report.acknowledged + report.peer_window_bytes + 1,
	      "beyond the peer's window");
	check(end->pipe, segment->payload_bytes <= report.mss, "longer than the MSS");
}

static bool transmit(void *context, const struct tcp_segment *segment)
{
	struct end *end = context;
	const struct pipe_setup *setup = end->pipe->setup;
	sim_time now = sim_now(end->pipe->sim), at;
	uint64_t waiting = queued(end, now);
	struct tcp_segment copy = *segment;
	uint32_t bytes = segment->payload_bytes + OVERHEAD_BYTES;

	check_windows(end, segment);
	measure_queue(end, now, waiting);
	if (is_dropped(end, segment) || waiting + bytes > setup->queue_bytes)
		return true;
	if (setup->mark_bytes && waiting >= setup->mark_bytes && segment->ecn != ECN_NOT_ECT)
		copy.ecn = ECN_CE;
	if (end->free_at < now)
		end->free_at = now;
	end->free_at += (sim_time)((double)bytes * 8 * (double)SEC / (double)setup->rate_bps);
	at = end->free_at + setup->delay;
	if (random_chance(&end->chance, setup->reorder))
		at += random_below(&end->chance, setup->reorder_by + 1);
	launch(end, &copy, at);
	if (random_chance(&end->chance, setup->duplicate))
		launch(end, &copy, at + random_below(&end->chance, setup->reorder_by + 1));
	return true;
}

static void receive(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload)
{
	struct end *end = context;

	for (uint32_t i = 0; i < bytes && !end->pipe->failed; i++) {
		check(end->pipe, offset + i < end->pipe->setup->bytes[!end->number],
		      "bytes that were not written");
		check(end->pipe, payload[i] == byte_at(!end->number, offset + i), "a wrong byte");
		check(end->pipe, !end->arrived[offset + i], "a byte comes twice");
		end->arrived[offset + i] = 1;
	}
}

static void set_timer(void *context, sim_time at)
{
	struct end *end = context;

	sim_cancel(&end->timer);
	if (at != SIM_NEVER)
		sim_schedule_at(&end->timer, at);
}

static void timer_fires(struct event *event)
{
	struct end *end = container_of(event, struct end, timer);

	tcp_timer(end->connection, sim_now(end->pipe->sim));
}

static void notify(void *context, unsigned events)
{
	struct end *end = context;
	struct pipe *pipe = end->pipe;
	struct tcp_report report;

	tcp_report(end->connection, &report);
	if (events & TCP_CONNECTED)
		end->connected = true;
	if (events & TCP_PEER_CLOSED)
		end->peer_closed = true;
	if (events & (TCP_FINISHED | TCP_RESET | TCP_TIMED_OUT))
		end->closed = true;
	check(pipe, !(events & (TCP_RESET | TCP_TIMED_OUT)), "a connection failed");
	if (end->number == 1 && report.received == pipe->setup->bytes[0] && !pipe->finished_at)
		pipe->finished_at = sim_now(pipe->sim);
	check(pipe, report.received <= pipe->setup->bytes[!end->number], "too much received");
	application(end);
}

static const struct tcp_host host = {
	.transmit = transmit, .receive = receive, .set_timer = set_timer, .notify = notify};

void pipe_default(struct pipe_setup *setup)
{
	*setup = (struct pipe_setup){
		.seed = 1,
		.congestion = "newreno",
		.mss = {1460, 1460},
		.write_bytes = 1 << 20,
		.read_every = 1,
		.rate_bps = UINT64_C(10) * 1000 * 1000 * 1000,
		.delay = 10 * US,
		.queue_bytes = 1 << 20,
		.reorder_by = 50 * US,
		.limit = 10000 * SEC,
	};
	params_default(tcp_param_list, &setup->params[0]);
	params_default(tcp_param_list, &setup->params[1]);
}

static void end_init(struct pipe *pipe, unsigned number)
{
	const struct pipe_setup *setup = pipe->setup;
	struct end *end = &pipe->ends[number];

	end->pipe = pipe;
	end->number = number;
	end->arrived = calloc(setup->bytes[!number] + 1, 1);
	end->connection = tcp_create(&(struct tcp_setup){
		.params = &setup->params[number],
		.congestion = &pipe->congestion,
		.host = &host,
		.context = end,
		.local_port = (uint16_t)(1000 + number),
		.remote_port = (uint16_t)(1001 - number),
		.mss = setup->mss[number],
		.initial_sequence = (uint32_t)(setup->seed * 0x9e3779b9u) + number,
		.line_rate_bps = setup->rate_bps,
	});
	event_init(&end->timer, &pipe->block, timer_fires);
	random_init_named(&end->chance, setup->seed, "pipe", number ? "back" : "forth");
}

void pipe_run(const struct pipe_setup *setup, struct pipe_result *result)
{
	struct pipe pipe = {.setup = setup, .sim = sim_create(SIM_ENGINE_native, setup->seed)};
	char error[256];

	block_init(&pipe.block, pipe.sim, &pipe_type, "pipe", NULL, NULL);
	if (!congestion_init(&pipe.congestion, setup->congestion, error, sizeof(error)))
		CU_FAIL_FATAL(error);
	end_init(&pipe, 0);
	end_init(&pipe, 1);
	tcp_listen(pipe.ends[1].connection, 0);
	tcp_connect(pipe.ends[0].connection, 0);
	sim_run(pipe.sim, setup->limit);
	*result = (struct pipe_result){
		.complete = pipe.ends[0].closed && pipe.ends[1].closed && pipe.finished_at,
		.finished_at = pipe.finished_at,
		.queue_max = pipe.ends[0].queue_max,
		.queue_mean =
			pipe.finished_at ? pipe.ends[0].queue_area / (double)pipe.finished_at : 0,
	};
	for (unsigned i = 0; i < 2; i++) {
		struct end *end = &pipe.ends[i];

		tcp_report(end->connection, &result->report[i]);
		check(&pipe, !memchr(end->arrived, 0, setup->bytes[!i]) || !result->complete,
		      "a byte is missing");
	}
	sim_drop(pipe.sim);
	for (unsigned i = 0; i < 2; i++) {
		tcp_destroy(pipe.ends[i].connection);
		free(pipe.ends[i].arrived);
	}
	congestion_fini(&pipe.congestion);
	block_fini(&pipe.block);
	sim_destroy(pipe.sim);
}
