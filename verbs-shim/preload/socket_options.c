/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_options: options of modelled sockets. Options of SOL_SOCKET that all sockets have are
 * options of the pair. The others are values in the record, with the defaults of Linux.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/epoll.h"
#include "verbs-shim/preload/packet_sockets.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_groups.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"

/* Linux doubles SO_SNDBUF and SO_RCVBUF. Limits: the minimum size, net.core.wmem_max and rmem_max.
 * Defaults: net.ipv4.tcp_wmem and tcp_rmem. */
enum { SEND_LEAST = 4608, RECEIVE_LEAST = 2304, MOST = 212992 };
enum { LOW_WATER_MOST = 6291456 / 2 };             /* half of the most in tcp_rmem */
enum { LINGER2_DEFAULT = 60, LINGER2_MOST = 120 }; /* seconds: TCP_FIN_TIMEOUT, its maximum */
enum { SEND_DEFAULT = 16384, RECEIVE_DEFAULT = 131072, DATAGRAM_DEFAULT = 212992 };

/* Options that a program may set and read, but those of multicast (socket_groups.c). Only
 * IPV6_V6ONLY, SO_REUSEADDR, SO_LINGER of 0 and the buffers affect the model. */
static const struct {
	int level, name, value, low, high;
} known[] = {
	{SOL_SOCKET, SO_REUSEADDR, 0, 0, 1},
	{SOL_SOCKET, SO_REUSEPORT, 0, 0, 1}, /* a Unix socket does not have it */
	{SOL_SOCKET, SO_KEEPALIVE, 0, 0, 1},
	{SOL_SOCKET, SO_BROADCAST, 0, 0, 1},
	{SOL_SOCKET, SO_OOBINLINE, 0, 0, 1},
	{SOL_SOCKET, SO_PRIORITY, 0, INT32_MIN, INT32_MAX},
	{IPPROTO_TCP, TCP_NODELAY, 0, 0, 1},
	{IPPROTO_TCP, TCP_CORK, 0, 0, 1},
	{IPPROTO_TCP, TCP_QUICKACK, 1, 0, 1},
	{IPPROTO_TCP, TCP_KEEPIDLE, 7200, 1, 32767},
	{IPPROTO_TCP, TCP_KEEPINTVL, 75, 1, 32767},
	{IPPROTO_TCP, TCP_KEEPCNT, 9, 1, 127},
	{IPPROTO_TCP, TCP_SYNCNT, 6, 1, 127},
	{IPPROTO_TCP, TCP_LINGER2, LINGER2_DEFAULT, -1, LINGER2_MOST},
	{IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, 0, INT32_MAX},
	{IPPROTO_TCP, TCP_WINDOW_CLAMP, 0, 0, INT32_MAX},
	{IPPROTO_TCP, TCP_USER_TIMEOUT, 0, 0, INT32_MAX},
	{IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, 0, INT32_MAX},
	{IPPROTO_IP, IP_TOS, 0, 0, 255},
	{IPPROTO_IP, IP_TTL, SHIM_TTL_DEFAULT, 1, 255},
	{IPPROTO_IP, IP_MTU_DISCOVER, 1, 0, 5},
	{IPPROTO_IP, IP_RECVERR, 0, 0, 1},
	{IPPROTO_IP, IP_FREEBIND, 0, 0, 1},
	{IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0, 0, 1},
	{IPPROTO_IPV6, IPV6_V6ONLY, 0, 0, 1},
	{IPPROTO_IPV6, IPV6_TCLASS, 0, 0, 255},
	{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64, 0, 255},
	{IPPROTO_IPV6, IPV6_RECVERR, 0, 0, 1},
};

static int fail(int error)
{
	errno = error;
	return -1;
}

static int find(int level, int option)
{
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].level == level && known[i].name == option)
			return (int)i;
	return -1;
}

int socket_options_keep(struct shim_socket *record, int level, int option, int value)
{
	return shim_socket_keep_option(record, level, option, value) ? 0 : fail(ENOBUFS);
}

void sockets_copy_pair_options(int to, int from)
{
	static const int options[] = {SO_RCVLOWAT, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO};

	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char value[sizeof(struct timeval)];
		socklen_t length = sizeof(value);

		if (system_call(SYS_getsockopt, from, SOL_SOCKET, options[i], value, &length) == 0)
			(void)system_call(SYS_setsockopt, to, SOL_SOCKET, options[i], value,
					  length);
	}
}

static uint32_t doubled(int value, uint32_t least)
{
	uint32_t wanted = value < 0 || value > MOST ? MOST : (uint32_t)value;

	return 2 * wanted < least ? least : 2 * wanted;
}

/* Linux: tcp_set_rcvlowat() wakes readers if there are enough bytes, or the end. */
static void notify_low_water(int fd, struct shim_socket *record)
{
	int bytes = 0;

	if (record->datagram || record->state != SOCKET_CONNECTED)
		return;
	(void)system_call(SYS_ioctl, fd, FIONREAD, &bytes);
	socket_state_count(fd, record);
	if (record->ended || (bytes > 0 && !shim_socket_is_low(record)))
		epoll_wake(record, WAKE_INPUT);
}

static int set_of_socket(int fd, struct shim_socket *record, int option, const void *value,
			 socklen_t length)
{
	int number = 0;
	int result;

	if (length >= sizeof(number) && value)
		memcpy(&number, value, sizeof(number));
	switch (option) {
	case SO_SNDBUF:
	case SO_SNDBUFFORCE:
		if (length < sizeof(number))
			return fail(EINVAL);
		record->send_buffer = doubled(number, SEND_LEAST);
		epoll_wake(record, WAKE_OUTPUT);
		return 0;
	case SO_RCVBUF:
	case SO_RCVBUFFORCE:
		if (length < sizeof(number))
			return fail(EINVAL);
		record->receive_buffer = doubled(number, RECEIVE_LEAST);
		return 0;
	case SO_ZEROCOPY: /* as Linux before 4.14 */
		return fail(ENOPROTOOPT);
	case SO_BINDTODEVICE:
		return !length || strncmp(value, "eth0", length) == 0 ||
				       strncmp(value, "lo", length) == 0
			       ? 0
			       : fail(ENODEV);
	case SO_RCVLOWAT:
		if (!record->datagram && (number < 0 || number > LOW_WATER_MOST))
			number = LOW_WATER_MOST;
		value = &number;
		break;
	default:
		break;
	}
	result = (int)system_call(SYS_setsockopt, fd, SOL_SOCKET, option, value, length);
	if (result == 0 && option == SO_RCVLOWAT) {
		record->low_water = (uint32_t)number;
		notify_low_water(fd, record);
	}
	if (result == 0 && option == SO_LINGER) {
		struct linger linger;

		memcpy(&linger, value, sizeof(linger));
		record->aborts = linger.l_onoff && linger.l_linger == 0;
	}
	return result;
}

static int set_congestion(struct shim_socket *record, const char *name, socklen_t length)
{
	char text[sizeof(record->congestion)] = "";

	memcpy(text, name, length < sizeof(text) ? length : sizeof(text) - 1);
	if (strcmp(text, "cubic") != 0 && strcmp(text, "reno") != 0)
		return fail(ENOENT);
	memcpy(record->congestion, text, sizeof(text));
	return 0;
}

static int value_of(struct shim_socket *record, int level, int option)
{
	return shim_socket_option_value(record, level, option, known[find(level, option)].value);
}

/* Returns the SO_PRIORITY that IP_TOS sets. It follows rt_tos2priority() of Linux. */
static int priority_of(int tos)
{
	static const int priorities[] = {0, 2, 6, 4};

	return priorities[(tos & 0x18) >> 3];
}

/* Returns the value that Linux keeps. For some options, Linux changes a value in place of an
 * error. */
static int as_linux_keeps(const struct shim_socket *record, int level, int option, int value)
{
	if (level == IPPROTO_IP && option == IP_TOS) /* ECN bits are those of TCP */
		return value & (record->datagram ? 0xff : 0xfc);
	if (level == IPPROTO_TCP && option == TCP_LINGER2)
		return value < 0              ? -1
		       : value == 0           ? LINGER2_DEFAULT
		       : value > LINGER2_MOST ? LINGER2_MOST
					      : value;
	if (level == IPPROTO_IPV6 && option == IPV6_TCLASS && value == -1)
		return 0; /* RFC 3542 6.5 */
	if (level == IPPROTO_IPV6 && option == IPV6_TCLASS && !record->datagram && value >= 0)
		return value & ~3;
	if (value == -1 && ((level == IPPROTO_IP && option == IP_TTL) ||
			    (level == IPPROTO_IPV6 && option == IPV6_UNICAST_HOPS)))
		return SHIM_TTL_DEFAULT;
	return value;
}

int sockets_set_option(int fd, struct shim_socket *record, int level, int option, const void *value,
		       socklen_t length)
{
	int place = find(level, option), number, result;

	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	if (record->family == AF_PACKET)
		return packet_sockets_set_option(record, level, option, value, length);
	if (level == IPPROTO_TCP && record->datagram)
		return fail(ENOPROTOOPT);
	if (level == SOL_SOCKET && place < 0)
		return set_of_socket(fd, record, option, value, length);
	if (level == IPPROTO_TCP && option == TCP_CONGESTION)
		return length ? set_congestion(record, value, length) : fail(EINVAL);
	if (level == IPPROTO_TCP && option == TCP_MAXSEG) {
		if (length < sizeof(number))
			return fail(EINVAL);
		memcpy(&number, value, sizeof(number));
		return number && (number < 88 || number > 32767) ? fail(EINVAL) : 0;
	}
	if (socket_groups_set(record, level, option, value, length, &result))
		return result;
	if (place < 0 || (level == IPPROTO_IPV6 && record->family != AF_INET6))
		return fail(ENOPROTOOPT);
	if (length < sizeof(number) && !(level == IPPROTO_IP && length >= 1))
		return fail(EINVAL);
	number = *(const uint8_t *)value;
	if (length >= sizeof(number))
		memcpy(&number, value, sizeof(number));
	number = as_linux_keeps(record, level, option, number);
	if (known[place].high == 1)
		number = number != 0;
	if (number < known[place].low || number > known[place].high)
		return fail(EINVAL);
	if (option == IPV6_V6ONLY && level == IPPROTO_IPV6) {
		if (record->held)
			return fail(EINVAL);
		record->only_six = number != 0;
	}
	if (level == SOL_SOCKET && option == SO_REUSEADDR)
		record->reuse = number != 0;
	if (level == SOL_SOCKET && option == SO_REUSEPORT)
		record->reuse_port = number != 0;
	if (level == SOL_SOCKET && option == SO_BROADCAST)
		record->has_route = 0;
	if (level == IPPROTO_IP && option == IP_TOS && number != value_of(record, level, option))
		(void)socket_options_keep(record, SOL_SOCKET, SO_PRIORITY, priority_of(number));
	result = socket_options_keep(record, level, option, number);
	if (!record->datagram && ((level == SOL_SOCKET && option == SO_KEEPALIVE) ||
				  (level == IPPROTO_TCP && option == TCP_KEEPIDLE)))
		(void)sockets_call_number(SOCKET_FOLLOW, record);
	return result;
}

static int return_option(const void *from, socklen_t bytes, void *value, socklen_t *length)
{
	if (*length > bytes)
		*length = bytes;
	memcpy(value, from, *length);
	return 0;
}

static int return_number(int number, void *value, socklen_t *length)
{
	return return_option(&number, sizeof(number), value, length);
}

static int get_of_socket(int fd, struct shim_socket *record, int option, void *value,
			 socklen_t *length)
{
	int error = record->error;

	switch (option) {
	case SO_DOMAIN:
		return return_number((int)record->family, value, length);
	case SO_PROTOCOL:
		return return_number(record->datagram ? IPPROTO_UDP : IPPROTO_TCP, value, length);
	case SO_TYPE:
		return return_number(record->datagram ? SOCK_DGRAM : SOCK_STREAM, value, length);
	case SO_ACCEPTCONN:
		return return_number(record->state == SOCKET_LISTENING, value, length);
	case SO_ERROR:
		record->error = 0;
		return return_number(error, value, length);
	case SO_RCVLOWAT:
		return return_number(record->low_water ? (int)record->low_water : 1, value, length);
	case SO_SNDBUF:
		return return_number(record->send_buffer ? (int)record->send_buffer
				     : record->datagram  ? DATAGRAM_DEFAULT
							 : SEND_DEFAULT,
				     value, length);
	case SO_RCVBUF:
		return return_number(record->receive_buffer ? (int)record->receive_buffer
				     : record->datagram     ? DATAGRAM_DEFAULT
							    : RECEIVE_DEFAULT,
				     value, length);
	default:
		return (int)system_call(SYS_getsockopt, fd, SOL_SOCKET, option, value, length);
	}
}

static int get_info(const struct shim_socket *record, void *value, socklen_t *length)
{
	/* of sockets without a connection; Linux: TCP_CLOSE, TCP_LISTEN */
	uint8_t unconnected = record->state == SOCKET_LISTENING ? 10 : 7;
	uint32_t segment = record->segment_bytes ? record->segment_bytes : 536;
	uint32_t round_trip_us = (uint32_t)((record->round_trip_ns + 999) / 1000);
	struct tcp_info info = {.tcpi_state = record->tcp_state ? (uint8_t)record->tcp_state
								: unconnected,
				.tcpi_rto = 200000,
				.tcpi_snd_mss = segment,
				.tcpi_rcv_mss = segment,
				.tcpi_advmss = segment,
				.tcpi_pmtu = shim.memory->socket_costs.mtu_bytes,
				.tcpi_rtt = round_trip_us,
				.tcpi_min_rtt = round_trip_us,
				.tcpi_snd_cwnd = (uint32_t)(record->window_bytes / segment),
				.tcpi_total_retrans = record->retransmissions,
				.tcpi_snd_ssthresh = INT32_MAX,
				.tcpi_bytes_acked = record->bytes_sent,
				.tcpi_bytes_sent = record->bytes_sent,
				.tcpi_bytes_received = record->bytes_received};

	return return_option(&info, sizeof(info), value, length);
}

int sockets_get_option(int fd, struct shim_socket *record, int level, int option, void *value,
		       socklen_t *length)
{
	int place = find(level, option), number;
	const char *congestion = record->congestion[0] ? record->congestion : "cubic";

	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	if ((int)*length < 0)
		return fail(EINVAL);
	if (record->family == AF_PACKET)
		return packet_sockets_get_option(fd, record, level, option, value, length);
	if (level == IPPROTO_TCP && record->datagram)
		return fail(record->family == AF_INET6 ? ENOPROTOOPT : EOPNOTSUPP);
	if (level == SOL_SOCKET && place < 0)
		return get_of_socket(fd, record, option, value, length);
	if (level == IPPROTO_TCP && option == TCP_INFO)
		return get_info(record, value, length);
	if (level == IPPROTO_TCP && option == TCP_CONGESTION)
		return return_option(congestion, sizeof(record->congestion), value, length);
	if (level == IPPROTO_TCP && option == TCP_MAXSEG)
		return return_number(record->segment_bytes ? (int)record->segment_bytes : 536,
				     value, length);
	if (level == IPPROTO_IPV6 && record->family != AF_INET6)
		return fail(EOPNOTSUPP);
	if (socket_groups_get(record, level, option, &number))
		return return_number(number, value, length);
	if (place < 0)
		return fail(ENOPROTOOPT);
	return return_number(value_of(record, level, option), value, length);
}
