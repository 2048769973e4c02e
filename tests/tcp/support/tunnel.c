/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel: see tunnel.h. One loop polls the tun device and the socket, keeps the link's segments
 * until they are due, and calls the connection's timer.
 */
#include "tests/tcp/support/tunnel.h"

#include <CUnit/CUnit.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fabric/wire/ip.h"
#include "sim/random.h"

#define FRAME_MAX    9216
#define FLIGHTS_MAX  4096
#define CHUNK        16384
#define KERNEL_PORT  5001
#define ENGINE_PORT  4000
#define KERNEL_IP    "10.9.0.1"
#define ENGINE_IP    "10.9.0.2"
#define REORDER_LATE (3 * MS)

struct flight {
	sim_time due;
	uint64_t number; /* of equal times, the first sent goes first */
	bool to_kernel;
	size_t length;
	uint8_t bytes[FRAME_MAX];
};

struct tunnel {
	struct tunnel_setup setup;
	struct congestion congestion;
	struct tcp_connection *connection;
	struct tunnel_end engine, kernel;
	struct path path;
	struct random chance;
	int tun, listener, socket;
	sim_time timer_at;
	struct flight *flights[FLIGHTS_MAX];
	size_t flight_count;
	uint64_t flight_number;
	unsigned events;
	bool closed;
};

static sim_time now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (sim_time)time.tv_sec * SEC + (sim_time)time.tv_nsec * NS;
}

static uint8_t byte_at(bool of_kernel, uint64_t offset)
{
	return (uint8_t)((offset * 2654435761u >> 11) + of_kernel * 77u);
}

/* ---- the namespace and its device ---- */

static bool set_device(const char *name, uint16_t mtu)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct ifreq request = {0};
	bool good;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	inet_pton(AF_INET, KERNEL_IP, &address.sin_addr);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	good = ioctl(fd, SIOCSIFADDR, &request) == 0;
	inet_pton(AF_INET, "255.255.255.0", &address.sin_addr);
	memcpy(&request.ifr_netmask, &address, sizeof(address));
	good = good && ioctl(fd, SIOCSIFNETMASK, &request) == 0;
	request.ifr_mtu = mtu;
	good = good && ioctl(fd, SIOCSIFMTU, &request) == 0;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	good = good && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	close(fd);
	return good;
}

static int open_device(uint16_t mtu)
{
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (tun < 0)
		return -1;
	if (ioctl(tun, TUNSETIFF, &request) == 0 && set_device(request.ifr_name, mtu))
		return tun;
	close(tun);
	return -1;
}

bool tunnel_possible(void)
{
	int tun;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	tun = open_device(1500);
	if (tun < 0)
		return false;
	close(tun);
	return true;
}

void tunnel_sysctl(const char *name, const char *value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(value, file);
	CU_ASSERT_EQUAL(fclose(file), 0);
}

/* ---- the link ---- */

static void put_on_link(struct tunnel *tunnel, bool to_kernel, const uint8_t *bytes, size_t length)
{
	const struct tunnel_setup *setup = &tunnel->setup;
	struct flight *flight;

	if (random_chance(&tunnel->chance, setup->loss))
		return;
	CU_ASSERT_FATAL(tunnel->flight_count < FLIGHTS_MAX);
	flight = malloc(sizeof(*flight));
	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	flight->due = now() + setup->delay;
	if (random_chance(&tunnel->chance, setup->reorder))
		flight->due += REORDER_LATE;
	flight->number = tunnel->flight_number++;
	flight->to_kernel = to_kernel;
	flight->length = length;
	memcpy(flight->bytes, bytes, length);
	tunnel->flights[tunnel->flight_count++] = flight;
}

static struct flight *take_due(struct tunnel *tunnel, sim_time at)
{
	size_t best = SIZE_MAX;
	struct flight *flight;

	for (size_t i = 0; i < tunnel->flight_count; i++) {
		const struct flight *one = tunnel->flights[i];

		if (one->due <= at &&
		    (best == SIZE_MAX || one->number < tunnel->flights[best]->number))
			best = i;
	}
	if (best == SIZE_MAX)
		return NULL;
	flight = tunnel->flights[best];
	tunnel->flights[best] = tunnel->flights[--tunnel->flight_count];
	return flight;
}

static uint8_t marked(struct tunnel *tunnel, uint8_t ecn)
{
	if (ecn == ECN_NOT_ECT || !random_chance(&tunnel->chance, tunnel->setup.mark))
		return ecn;
	return ECN_CE;
}

static bool transmit(void *context, const struct tcp_segment *segment)
{
	struct tunnel *tunnel = context;
	struct packet packet = {
		.path = &tunnel->path, .ecn = marked(tunnel, segment->ecn), .hop_limit = 64};
	uint8_t bytes[FRAME_MAX];
	uint32_t header_bytes = tcp_header_bytes(&segment->header);
	size_t length = header_bytes + segment->payload_bytes;
	size_t ip = ip_build(&packet, IP_TCP, length, bytes), address_bytes;
	const uint8_t *addresses = ip_addresses(&tunnel->path, bytes, &address_bytes);

	tcp_header_build(&segment->header, bytes + ip);
	for (uint32_t i = 0; i < segment->payload_bytes; i++)
		bytes[ip + header_bytes + i] = byte_at(false, segment->offset + i);
	tcp_checksum_put(bytes + ip, tcp_checksum(addresses, address_bytes, bytes + ip, length));
	put_on_link(tunnel, true, bytes, ip + length);
	return true;
}

static void deliver(struct tunnel *tunnel, struct flight *flight)
{
	struct tcp_segment segment = {0}, response;
	struct packet packet = {0};
	struct path path = {.roce_version = ROCE_V2_IPV4};
	size_t ip, length, header_bytes;
	uint8_t protocol;

	if (ip_parse(flight->bytes, flight->length, &packet, &path, &protocol, &ip, &length) !=
		    PARSE_OK ||
	    protocol != IP_TCP)
		return;
	CU_ASSERT_EQUAL(
		tcp_header_parse(flight->bytes + ip, length, &segment.header, &header_bytes),
		PARSE_OK);
	segment.ecn = marked(tunnel, packet.ecn);
	segment.payload_bytes = (uint32_t)(length - header_bytes);
	segment.payload = flight->bytes + ip + header_bytes;
	if (!tunnel->setup.no_listener && !tunnel->closed)
		tcp_input(tunnel->connection, now(), &segment);
	else if (tunnel->setup.kernel_opens && tcp_refuse(&segment, &response))
		transmit(tunnel, &response);
}

static void run_link(struct tunnel *tunnel)
{
	struct flight *flight;

	while ((flight = take_due(tunnel, now()))) {
		if (!flight->to_kernel)
			deliver(tunnel, flight);
		else if (write(tunnel->tun, flight->bytes, flight->length) < 0)
			CU_FAIL("write to the tun device");
		free(flight);
	}
}

static void read_device(struct tunnel *tunnel)
{
	uint8_t bytes[FRAME_MAX];
	ssize_t length;

	while ((length = read(tunnel->tun, bytes, sizeof(bytes))) > 0)
		if (bytes[0] >> 4 == 4) /* no IPv6 neighbours */
			put_on_link(tunnel, false, bytes, (size_t)length);
}

/* ---- the engine's side ---- */

static void receive(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload)
{
	struct tunnel *tunnel = context;

	for (uint32_t i = 0; i < bytes; i++)
		tunnel->engine.wrong_byte |= payload[i] != byte_at(true, offset + i);
}

static void set_timer(void *context, sim_time at)
{
	((struct tunnel *)context)->timer_at = at;
}

static void notify(void *context, unsigned events)
{
	((struct tunnel *)context)->events |= events;
}

static void run_engine(struct tunnel *tunnel)
{
	struct tunnel_end *end = &tunnel->engine;
	struct tcp_report report;

	if (tunnel->timer_at <= now())
		tcp_timer(tunnel->connection, now());
	end->connected |= (tunnel->events & TCP_CONNECTED) != 0;
	end->peer_closed |= (tunnel->events & TCP_PEER_CLOSED) != 0;
	if (tunnel->events & TCP_RESET)
		end->error = end->connected ? ECONNRESET : ECONNREFUSED;
	if (tunnel->events & TCP_TIMED_OUT)
		end->error = ETIMEDOUT;
	tunnel->closed |= (tunnel->events & (TCP_FINISHED | TCP_RESET | TCP_TIMED_OUT)) != 0;
	tunnel->events = 0;
	if (!end->stops_reading && tcp_readable(tunnel->connection)) {
		uint64_t bytes = tcp_readable(tunnel->connection);

		end->read += bytes;
		tcp_read(tunnel->connection, now(), bytes);
	}
	if (!end->connected || tunnel->closed)
		return;
	tcp_report(tunnel->connection, &report);
	if (end->written < end->write_bytes && report.acknowledged + 4 * CHUNK > end->written) {
		uint64_t left = end->write_bytes - end->written;

		end->written += left < CHUNK ? left : CHUNK;
		tcp_write(tunnel->connection, now(), left < CHUNK ? left : CHUNK);
	} else if (end->written == end->write_bytes && end->shuts && !end->shut) {
		end->shut = true;
		tcp_shutdown(tunnel->connection, now());
	}
}

/* ---- the kernel's side ---- */

static void make_socket(struct tunnel *tunnel)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(KERNEL_PORT)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

	CU_ASSERT_FATAL(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (tunnel->setup.kernel_buffer)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &tunnel->setup.kernel_buffer, sizeof(int));
	inet_pton(AF_INET, KERNEL_IP, &address.sin_addr);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	tunnel->socket = tunnel->listener = -1;
	if (!tunnel->setup.kernel_opens) {
		tunnel->listener = fd;
		if (!tunnel->setup.no_listener)
			CU_ASSERT_EQUAL(listen(fd, 1), 0);
		return;
	}
	tunnel->socket = fd;
	inet_pton(AF_INET, ENGINE_IP, &address.sin_addr);
	address.sin_port = htons(ENGINE_PORT);
	CU_ASSERT(connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
		  errno == EINPROGRESS);
}

static void kernel_failed(struct tunnel_end *end)
{
	if (errno != EAGAIN && errno != EINTR && !end->error)
		end->error = errno;
}

static void kernel_reads(struct tunnel *tunnel)
{
	struct tunnel_end *end = &tunnel->kernel;
	uint8_t bytes[CHUNK];
	ssize_t length;

	while (!end->stops_reading && !end->peer_closed && !end->error) {
		length = read(tunnel->socket, bytes, sizeof(bytes));
		if (length < 0) {
			kernel_failed(end);
			return;
		}
		for (ssize_t i = 0; i < length; i++)
			end->wrong_byte |= bytes[i] != byte_at(false, end->read + (uint64_t)i);
		end->read += (uint64_t)length;
		end->peer_closed |= length == 0;
	}
}

static void kernel_writes(struct tunnel *tunnel)
{
	struct tunnel_end *end = &tunnel->kernel;
	uint8_t bytes[CHUNK];

	while (end->written < end->write_bytes && !end->error) {
		uint64_t left = end->write_bytes - end->written;
		size_t length = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t taken;

		for (size_t i = 0; i < length; i++)
			bytes[i] = byte_at(true, end->written + i);
		taken = write(tunnel->socket, bytes, length);
		if (taken < 0) {
			kernel_failed(end);
			return;
		}
		end->written += (uint64_t)taken;
	}
	if (end->shuts && !end->shut && !end->error) {
		end->shut = true;
		shutdown(tunnel->socket, SHUT_WR);
	}
}

static void run_kernel(struct tunnel *tunnel)
{
	struct tunnel_end *end = &tunnel->kernel;
	struct pollfd state;
	socklen_t length = sizeof(int);

	if (tunnel->listener >= 0 && tunnel->socket < 0)
		tunnel->socket =
			accept4(tunnel->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (tunnel->socket < 0)
		return;
	state = (struct pollfd){.fd = tunnel->socket, .events = POLLIN | POLLOUT};
	poll(&state, 1, 0);
	if (!end->connected && !(state.revents & (POLLOUT | POLLERR)))
		return;
	if (!end->connected && !end->error)
		getsockopt(tunnel->socket, SOL_SOCKET, SO_ERROR, &end->error, &length);
	if (end->error)
		return;
	end->connected = true;
	kernel_reads(tunnel);
	kernel_writes(tunnel);
}

/* ---- life ---- */

void tunnel_default(struct tunnel_setup *setup)
{
	*setup = (struct tunnel_setup){.congestion = "cubic", .mtu = 1500};
	params_default(tcp_param_list, &setup->params);
	setup->params.rto_initial = 200 * MS;
	setup->params.time_wait = 50 * MS;
}

struct tunnel *tunnel_create(const struct tunnel_setup *setup)
{
	static const struct tcp_host host = {transmit, receive, set_timer, notify};
	static uint16_t runs; /* the kernel remembers connections of before */
	struct tunnel *tunnel = calloc(1, sizeof(*tunnel));
	uint16_t engine_port = ENGINE_PORT;
	char error[256];

	CU_ASSERT_PTR_NOT_NULL_FATAL(tunnel);
	tunnel->setup = *setup;
	if (!congestion_init(&tunnel->congestion, setup->congestion, error, sizeof(error)))
		CU_FAIL_FATAL(error);
	if (!setup->kernel_opens)
		engine_port = (uint16_t)(ENGINE_PORT + ++runs);
	tunnel->path.roce_version = ROCE_V2_IPV4;
	inet_pton(AF_INET, ENGINE_IP, tunnel->path.sgid + 12);
	inet_pton(AF_INET, KERNEL_IP, tunnel->path.dgid + 12);
	tunnel->timer_at = SIM_NEVER;
	random_init_named(&tunnel->chance, 1, "tunnel", "link");
	tunnel->tun = open_device(setup->mtu);
	CU_ASSERT_FATAL(tunnel->tun >= 0);
	tunnel->connection = tcp_create(&(struct tcp_setup){
		.params = &tunnel->setup.params,
		.congestion = &tunnel->congestion,
		.host = &host,
		.context = tunnel,
		.local_port = engine_port,
		.remote_port = KERNEL_PORT,
		.mss = (uint16_t)(setup->mtu - 40),
		.initial_sequence = (uint32_t)(now() / US),
		.line_rate_bps = UINT64_C(1000000000),
	});
	make_socket(tunnel);
	if (setup->kernel_opens)
		tcp_listen(tunnel->connection, now());
	else {
		tunnel->setup.no_listener = false; /* the kernel refuses */
		tcp_connect(tunnel->connection, now());
	}
	return tunnel;
}

void tunnel_destroy(struct tunnel *tunnel)
{
	if (tunnel->socket >= 0)
		close(tunnel->socket);
	if (tunnel->listener >= 0)
		close(tunnel->listener);
	close(tunnel->tun);
	for (size_t i = 0; i < tunnel->flight_count; i++)
		free(tunnel->flights[i]);
	tcp_destroy(tunnel->connection);
	congestion_fini(&tunnel->congestion);
	free(tunnel);
}

struct tunnel_end *tunnel_engine(struct tunnel *tunnel)
{
	return &tunnel->engine;
}

struct tunnel_end *tunnel_kernel(struct tunnel *tunnel)
{
	return &tunnel->kernel;
}

int tunnel_socket(const struct tunnel *tunnel)
{
	return tunnel->socket;
}

void tunnel_report(const struct tunnel *tunnel, struct tcp_report *report)
{
	tcp_report(tunnel->connection, report);
}

bool tunnel_run(struct tunnel *tunnel, bool (*done)(struct tunnel *tunnel), unsigned limit_ms)
{
	sim_time limit = now() + limit_ms * MS;

	while (now() < limit) {
		struct pollfd fds[2] = {{.fd = tunnel->tun, .events = POLLIN},
					{.fd = tunnel->socket, .events = POLLIN}};

		read_device(tunnel);
		run_link(tunnel);
		run_engine(tunnel);
		run_kernel(tunnel);
		if (done(tunnel))
			return true;
		if (!tunnel->flight_count)
			poll(fds,
			     tunnel->kernel.stops_reading || tunnel->kernel.peer_closed ? 1 : 2, 1);
	}
	return false;
}

void tunnel_abort(struct tunnel *tunnel)
{
	tcp_abort(tunnel->connection, now());
}

void tunnel_kernel_reset(struct tunnel *tunnel)
{
	struct linger linger = {.l_onoff = 1};

	setsockopt(tunnel->socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(tunnel->socket);
	tunnel->socket = -1;
	tunnel->kernel.stops_reading = true;
}
