/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets: the TCP and UDP sockets of programs on simulated hosts, in virtual time. Bytes enter and
 * leave a program through a Unix pair (socket_record.h). Each TCP socket has a connection of tcp/.
 *
 *     session --calls--> table, ports, connect --> stream <--segments--> tcp/
 *        ^------------------ ready() -----------------'                   |
 *                                            network: link, or frames of the adapter
 *
 * Hosts on Ethernet send segments and datagrams as frames through their adapter's port. They share
 * links and queues of switches with RDMA packets. Hosts on InfiniBand have a modelled IP link
 * beside RDMA, with the data rate of the host's link and the latency of the path.
 */
#ifndef VERBS_SHIM_SOCKETS_SOCKETS_H
#define VERBS_SHIM_SOCKETS_SOCKETS_H

#include <stdio.h>

#include "fabric/endpoints.h"
#include "sim/block.h"
#include "sim/sim.h"
#include "verbs-shim/cpu_time.h"
#include "verbs-shim/socket_record.h"
#include "verbs-shim/watch_record.h"

/* clang-format off */
#define SOFTIRQ_COUNTERS(X) \
	X(interrupts, "interrupts", "interrupts for received frames") \
	X(polls, "polls", "NAPI polls") \
	X(frames, "frames", "frames that cores processed") \
	X(segments, "segments", "merged segments and datagrams that cores processed") \
	X(squeezed, "times", "softirqs that exceeded their budget and continued in ksoftirqd") \
	X(ring_drops, "frames", "frames that found their receive queue full")

#define RSS_KEY_DEFAULT \
	"6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
#define SOCKET_PARAMS(X) \
	X(mode, CHOICE, "modelled", "modelled|free", \
	  "Sockets of programs. `modelled`: bytes take time on the hosts' links, and runs are " \
	  "repeatable. `free`: sockets of the machine, which take no link time. A run with much " \
	  "socket traffic may then not be repeatable.", \
	  "choice") \
	X(mtu, BYTES, "9000B", "576B..9000B", \
	  "MTU of eth0, with the IP header. Programs see it.", \
	  "choice: jumbo frames, as Linux needs more than 4096 bytes for a RoCE MTU of 4096") \
	X(burst, BYTES, "64KiB", "1KiB..64KiB", \
	  "Longest segment between the host's stack and the adapter (TSO, GRO).", \
	  "Linux: GSO_LEGACY_MAX_SIZE, 65536 bytes") \
	X(send_ring, BYTES, "128KiB", "2KiB..16MiB", \
	  "Frames, in bytes, that wait in the adapter's send queue before a socket waits for " \
	  "room. Ethernet hosts only.", \
	  "Linux: tcp_tsq allows a socket two segments of 64 KiB") \
	X(priority, COUNT, "0", "0..7", \
	  "Priority (PCP) of frames, which selects their traffic class. Ethernet hosts only.", \
	  "Linux: a socket's priority is 0") \
	X(igmp, CHOICE, "v3", "v2|v3", \
	  "Version of the reports of hosts that join and leave multicast groups. `v2`: IGMPv2 " \
	  "and MLDv1. `v3`: IGMPv3 and MLDv2. Ethernet hosts only.", \
	  "Linux: IGMPv3 and MLDv2 unless a querier has an older version") \
	X(igmp_reports, COUNT, "2", "1..7", \
	  "Reports of each join and leave, against loss.", \
	  "Linux: net.ipv4.igmp_qrv; RFC 3376 8.1") \
	X(igmp_interval, TIME, "1s", "1us..60s", \
	  "Longest time between these reports. It is random.", \
	  "RFC 3376 8.11; IGMPv2: 10 s") \
	X(congestion, CHOICE, "cubic", "cubic|newreno|dctcp", \
	  "Congestion control of TCP, unless the program sets TCP_CONGESTION.", \
	  "Linux: tcp_congestion_control is cubic") \
	X(ecn, CHOICE, "auto", "auto|off|classic|dctcp", \
	  "ECN of TCP. `auto`: `dctcp` if the congestion control needs marks, else off.", \
	  "RFC 3168; RFC 8257; Linux: tcp_ecn") \
	X(rto_min, TIME, "200ms", "1us..60s", \
	  "Smallest retransmission timeout of TCP.", \
	  "Linux: TCP_RTO_MIN") \
	X(send_buffer, BYTES, "1MiB", "4KiB..1GiB", \
	  "Bytes that a socket holds until they are acknowledged, beyond 208 KiB in its Unix " \
	  "pair, unless the program sets SO_SNDBUF.", \
	  "choice: Linux grows it from 16 KiB to 4 MiB (tcp_wmem)") \
	X(receive_buffer, BYTES, "1MiB", "4KiB..1GiB", \
	  "Bytes that a socket holds for its reader, beyond 208 KiB in its Unix pair, unless the " \
	  "program sets SO_RCVBUF.", \
	  "choice: Linux grows it from 128 KiB to 6 MiB (tcp_rmem)") \
	X(copy, RATE, "85.6Gbps", "1Gbps..100Tbps", \
	  "Rate at which a core copies between program memory and kernel memory.", \
	  "Cai et al., SIGCOMM 2021: 42 Gb/s on a core that copies half of its time") \
	X(send_segment, TIME, "1050ns", "0ps..1ms", \
	  "Time of a core for each segment that it sends: TCP or UDP, IP, driver.", \
	  "Peter et al. (Arrakis), OSDI 2014, table 1: Linux, network stack, out, 1.05 us") \
	X(receive_segment, TIME, "1260ns", "0ps..1ms", \
	  "Time of a core for each segment that it receives: IP, TCP or UDP.", \
	  "Peter et al. (Arrakis), OSDI 2014, table 1: Linux, network stack, in, 1.26 us") \
	X(receive_page, TIME, "252ns", "0ps..1ms", \
	  "Time of a core for each 4 KiB of received payload: pages, buffers. A part counts in " \
	  "proportion.", \
	  "fitted to Cai et al., SIGCOMM 2021: of 12.5 us for 64 KiB, 6.13 us are the copy, 1.26 " \
	  "us the segment, 0.48 us 8 packets, 0.6 us one interrupt") \
	X(receive_packet, TIME, "60ns", "0ps..1ms", \
	  "Time of a core for each packet of a received segment: driver, GRO.", \
	  "fitted to Cai et al., SIGCOMM 2021: 42 Gb/s on a core, half of it no copy") \
	X(receive_ack, TIME, "300ns", "0ps..1ms", \
	  "Time of a core for each segment that it receives without payload.", \
	  "assumed: a quarter of `receive_segment`, as no buffer reaches a program") \
	X(interrupt, TIME, "1.5us", "0ps..1ms", \
	  "Time from a packet in host memory until an idle core has begun its poll. It contains " \
	  "`interrupt_work` and `poll_work`. It starts again with each packet (CQE-based " \
	  "moderation).", \
	  "assumed: an interrupt and the start of the NAPI poll") \
	X(interrupt_work, TIME, "500ns", "0ps..1ms", \
	  "Time of a core for each interrupt.", \
	  "assumed: a third of `interrupt`") \
	X(poll_work, TIME, "100ns", "0ps..1ms", \
	  "Time of a core for each NAPI poll, without its frames.", \
	  "assumed: a call of the driver, and a doorbell") \
	X(queues, COUNT, "0", "0..256", \
	  "Receive queues of each adapter. Queue i interrupts core i modulo `cpu.cores`. `0`: " \
	  "one for each core, at most 128.", \
	  "Linux mlx5: mlx5e_get_max_num_channels(), MLX5E_MAX_NUM_CHANNELS") \
	X(steering, CHOICE, "arfs", "arfs|rss", \
	  "Choice of the receive queue of a frame. `rss`: by the hash of addresses and ports. " \
	  "`arfs`: the queue of the core that last used the socket, or else by the hash.", \
	  "Cai et al., SIGCOMM 2021, which gives the times of a core, has aRFS; Linux: " \
	  "Documentation/networking/scaling.rst") \
	X(rss_key, TEXT, RSS_KEY_DEFAULT, "", \
	  "Key of the hash (Toeplitz), 80 hexadecimal digits.", \
	  "Microsoft: Verifying the RSS hash calculation") \
	X(ring, COUNT, "1024", "1..65536", \
	  "Frames that a receive queue holds. Further frames are lost. Ethernet hosts only.", \
	  "Linux mlx5: MLX5E_PARAMS_DEFAULT_LOG_RQ_SIZE is 10") \
	X(weight, COUNT, "64", "1..4096", \
	  "Frames that a NAPI poll takes at most.", \
	  "Linux: NAPI_POLL_WEIGHT is 64") \
	X(budget, COUNT, "300", "1..1000000", \
	  "Frames after which polls of a core continue in ksoftirqd, which shares the core with " \
	  "programs.", \
	  "Linux: net.core.netdev_budget is 300") \
	X(budget_time, TIME, "2ms", "1us..1s", \
	  "Time after which polls of a core continue in ksoftirqd.", \
	  "Linux: net.core.netdev_budget_usecs is 2000") \
	X(moderation, TIME, "8us", "0ps..1ms", \
	  "Longest time from the first packet in host memory until the kernel handles it, if it " \
	  "is longer than `interrupt`. Ethernet hosts only.", \
	  "Linux mlx5: rx-usecs is 8") \
	X(backlog, COUNT, "4096", "1..65535", \
	  "Maximum number of connections that wait for accept(). It limits the backlog that " \
	  "listen() requests.", \
	  "Linux: net.core.somaxconn")
/* clang-format on */

struct socket_params {
	SOCKET_PARAMS(PARAM_FIELD)
};

enum socket_mode { SOCKETS_MODELLED, SOCKETS_FREE };
enum socket_steering { STEERING_ARFS, STEERING_RSS };
enum socket_congestion { CONGESTION_CUBIC, CONGESTION_NEWRENO, CONGESTION_DCTCP };

extern const struct param socket_param_list[];

struct sockets;

/* Functions of the session that the sockets need. */
struct socket_services {
	/* Wakes the threads of the host that wait for that socket. */
	void (*ready)(void *context, uint32_t host, uint32_t socket);
	/* A core works on received frames from now on. The times of work are by enum cpu_kind.
	 * threaded: in ksoftirqd. */
	void (*occupy)(void *context, uint32_t host, uint32_t core, const uint64_t *work,
		       bool threaded);
	/* Sends a signal to a process, or to a group if `receiver` is negative. */
	void (*signal)(void *context, int32_t receiver, int number);
	/* Returns true if a thread of a program works on the core. */
	bool (*runs)(void *context, uint32_t host, uint32_t core);
};

/* Returns false and writes the reason to *error if a parameter is invalid. */
bool sockets_are_possible(const struct socket_params *params, char *error, size_t error_bytes);

/* Returns the time until which the core processes frames, or an earlier time. */
sim_time sockets_core_free(const struct sockets *sockets, uint32_t host, uint32_t core);

/* `cores`: of each host. The other arguments must outlive the sockets. */
struct sockets *sockets_create(struct sim *sim, const struct socket_params *params, uint32_t cores,
			       struct shim_socket *records, struct shim_watches *watches,
			       struct endpoints *endpoints, const struct socket_services *services,
			       void *context);
void sockets_destroy(struct sockets *sockets);

/* Adds the next host. Hosts are numbered from 0, in the order of their endpoints. */
struct hca;
void sockets_add_host(struct sockets *sockets, const char *name, const uint8_t ipv4[4],
		      struct hca *hca);

/* Carries out a call of a program. Returns the result that enum shim_socket_call describes, or
 * -errno. *far is a descriptor that the caller must send to the program and close, or -1. */
int64_t sockets_call(struct sockets *sockets, uint32_t host, enum shim_socket_call call,
		     uint32_t number, uint64_t value, int *far);

/* Takes the bytes that programs wrote without a call of the library. Closes sockets whose last
 * descriptor is closed. */
void sockets_look(struct sockets *sockets);

/* Returns true if the only events left are probes of receive windows that are closed because no
 * program reads. Only a program can then change anything. */
bool sockets_are_stuck(struct sockets *sockets);

/* Writes a line for each such socket. name_of() returns the name of a host. */
void sockets_report_stuck(struct sockets *sockets, FILE *out,
			  const char *(*name_of)(void *context, uint32_t host));

#endif
