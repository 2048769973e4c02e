/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_tcp: parses any bytes as TCP headers, and sends them to a connection. A parsed header must
 * rebuild to bytes that parse to the same header. A connection must accept any segments of a peer,
 * in any order, at any time.
 *
 * Input, repeated: an IP payload length, a delay and a header.
 */
#include <assert.h>
#include <string.h>

#include "tcp/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sim_time timer_at;

static bool transmit(void *context, const struct tcp_segment *segment)
{
	uint8_t bytes[TCP_HEADER_BYTES_MAX];

	(void)context;
	tcp_header_build(&segment->header, bytes);
	return true;
}

static void set_timer(void *context, sim_time at)
{
	(void)context;
	timer_at = at;
}

static void check_rebuilt(const struct tcp_header *header)
{
	uint8_t bytes[TCP_HEADER_BYTES_MAX];
	struct tcp_header again;
	size_t length;

	tcp_header_build(header, bytes);
	assert(tcp_header_parse(bytes, tcp_header_bytes(header), &again, &length) == PARSE_OK);
	assert(memcmp(header, &again, sizeof(again)) == 0);
}

/* Numbers are near the numbers of the connection, so that the input gets past the first check. */
static void bring_near(struct tcp_header *header)
{
	if (header->urgent & 1)
		header->sequence = 1 + (header->sequence & 0xffff);
	if (header->urgent & 2)
		header->acknowledgment = 1 + (header->acknowledgment & 0xffff);
}

static void feed(struct tcp_connection *connection, sim_time *now, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		struct tcp_segment segment = {.payload_bytes = (uint32_t)data[0] * 10,
					      .ecn = data[2] & 3};
		size_t length;

		*now += ((sim_time)1 << (data[1] & 63)) & (SEC - 1);
		while (timer_at <= *now)
			tcp_timer(connection, timer_at);
		if (tcp_header_parse(data + 3, size - 3, &segment.header, &length) != PARSE_OK)
			return;
		check_rebuilt(&segment.header);
		bring_near(&segment.header);
		tcp_input(connection, *now, &segment);
		tcp_read(connection, *now, tcp_readable(connection) / 2);
		data += 3 + length;
		size -= 3 + length;
	}
}

static void run(struct tcp_connection *connection, const uint8_t *data, size_t size)
{
	sim_time now = 0;

	if (data[0] & 1)
		tcp_listen(connection, now);
	else
		tcp_connect(connection, now);
	tcp_write(connection, now, 20000);
	if (data[0] & 2)
		tcp_shutdown(connection, now);
	feed(connection, &now, data + 1, size - 1);
	tcp_abort(connection, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tcp_host host = {.transmit = transmit, .set_timer = set_timer};
	struct congestion congestion;
	struct tcp_params params;
	struct tcp_setup setup = {.params = &params,
				  .congestion = &congestion,
				  .host = &host,
				  .mss = 1460,
				  .line_rate_bps = 1000000000};
	struct tcp_connection *connection;
	char error[256];

	if (size < 2)
		return 0;
	params_default(tcp_param_list, &params);
	params.sack = data[0] & 1;
	params.rack = data[0] & 2;
	params.timestamps = data[0] & 4;
	params.ecn = data[0] >> 4 & 3;
	params.receive_buffer = 10000;
	if (!congestion_init(&congestion, data[0] & 8 ? "cubic" : "dctcp", error, sizeof(error)))
		return 0;
	timer_at = SIM_NEVER;
	connection = tcp_create(&setup);
	run(connection, data + 1, size - 1);
	tcp_destroy(connection);
	congestion_fini(&congestion);
	return 0;
}
