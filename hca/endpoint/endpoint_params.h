/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_params: parameters of an endpoint HCA. Its port and its congestion control have their
 * own parameters (fabric/port_params.h, hca/congestion). endpoint_param_list lists the parameters.
 */
#ifndef HCA_ENDPOINT_ENDPOINT_PARAMS_H
#define HCA_ENDPOINT_ENDPOINT_PARAMS_H

#include "hca/congestion/cnp_limiter.h"
#include "hca/transport/read_recoveries.h"

/* clang-format off */
#define ENDPOINT_PARAMS(X) \
	X(transport, CHOICE, "rdma", "rdma|tcp|iwarp", \
	  "Transport of the messages that the host sends: reliable queue pairs, TCP " \
	  "connections with the parameters of `tcp`, or iWARP over such connections.", \
	  "choice") \
	X(send_latency, TIME, "600ns", "0ps..1ms", \
	  "Host time from the post of a work request until its first packet may leave.", \
	  "calibrated: A1-09, half of a write's round trip less the wire") \
	X(receive_latency, TIME, "100ns", "0ps..1ms", \
	  "Time from the last bit of a packet until the adapter has processed it: an ACK is " \
	  "made, or a window moves.", \
	  "calibrated: A1-09") \
	X(complete_latency, TIME, "100ns", "0ps..1ms", \
	  "Host time from the processing of the last ACK until the program sees the completion.", \
	  "calibrated: A1-09") \
	X(read_latency, TIME, "600ns", "0ps..1ms", \
	  "Host time from the arrival of a READ request until its first response may leave.", \
	  "pciebench, SIGCOMM 2018 (row B1-01): one DMA read") \
	X(atomic_latency, TIME, "400ns", "0ps..1ms", \
	  "Time from the arrival of an atomic request until its response may leave.", \
	  "Kalia et al., ATC 2016 (row A6-01): 370 ns on a ConnectX-3") \
	X(send_rate, RATE, "3.2Tbps", "1Mbps..3.2Tbps", \
	  "Maximum rate at which the host reads the packets to be sent from memory.", \
	  "choice: faster than the link, so no limit") \
	X(receive_rate, RATE, "3.2Tbps", "1Mbps..3.2Tbps", \
	  "Maximum rate at which the host frees input space. A rate below the link's rate makes " \
	  "the port pause the fabric.", \
	  "choice") \
	X(grant_order, CHOICE, "time", "time|number|burst", \
	  "Queue pair of a service level that sends next. `time`: the queue pair whose pace has " \
	  "allowed it to send for the longest time. `number`: the allowed queue pair with the " \
	  "next number. `burst`: as `time`, but it sends all that its window and pace allow at " \
	  "once, as a host's TCP hands segments to one queue in order.", \
	  "assumed: the order of adapters is not known; number: HPCC's simulator (row D-10); " \
	  "burst: TLT's public TCP simulator (row D-18)") \
	X(ets_share, RATIO, "1", "0.01..1", \
	  "Maximum share of the link that one service level uses, also while other service " \
	  "levels are idle. `1`: no limit.", \
	  "Lumina, SIGCOMM 2023 (row D-33): queues of a ConnectX-6 Dx keep what they do not use") \
	X(window_packets, COUNT, "32768", "1..4194304", \
	  "Maximum number of sent packets of one queue pair that are not acknowledged.", \
	  "IBTA vol. 1, 9.7.2: below half of the PSN space") \
	X(cwnd_fill, CHOICE, "whole", "whole|part", \
	  "Condition to send a packet under a congestion window. `whole`: all of the packet fits " \
	  "the window. `part`: any part of the window is open.", \
	  "whole: RFC 5681, 2; part: HPCC's simulator (row D-10)") \
	X(pace_from, CHOICE, "due", "due|departure", \
	  "Start of the pacing interval of the congestion control rate. `due`: when the packet " \
	  "was allowed to leave, if that was at most one packet time ago. A new rate then " \
	  "applies to the rest of the interval. `departure`: when the packet left. A new rate " \
	  "then applies to the whole interval.", \
	  "due: assumed, as virtual clocks do; departure: HPCC's simulator (row D-10)") \
	X(pace_update, CHOICE, "waiting", "waiting|next", \
	  "First packet to which a new rate of congestion control applies. `waiting`: the packet " \
	  "that waits for its pace. `next`: the packet behind it.", \
	  "waiting: assumed; HPCC's simulator (row D-10): waiting for HPCC, next for other " \
	  "algorithms") \
	X(grant_at, CHOICE, "queued", "queued|free", \
	  "Time at which the adapter chooses the next data packet. `queued`: while another " \
	  "packet leaves, as soon as the port can queue one. `free`: when the link is free and " \
	  "no ACK, NAK or CNP waits.", \
	  "queued: assumed, as adapters fetch data ahead; free: HPCC's simulator (row D-10)") \
	X(max_rd_atomic, COUNT, "16", "1..255", \
	  "Maximum number of outstanding READs and atomics of one queue pair.", \
	  "HERD, SIGCOMM 2014 (row F-03)") \
	X(ack_interval, COUNT, "0", "0..1048576", \
	  "Packets of one message between two ACK requests. The last packet always requests an " \
	  "ACK. `0`: as congestion control needs (HPCC, Swift, DCTCP: 1; TIMELY: its segment), " \
	  "otherwise 64.", \
	  "HPCC, Swift, DCTCP, TIMELY; ns-3 of DCQCN and of HPCC (row C-28): 256 and 1 are both " \
	  "published") \
	X(recovery, CHOICE, "go_back_n", "go_back_n|selective_repeat|go_back_0", \
	  "Retransmission after a loss: from the lost packet on, the lost packets alone, or the " \
	  "whole message.", \
	  "IBTA vol. 1, 9.7; IRN, SIGCOMM'18; RCE16, 4.1") \
	X(nak, FLAG, "true", "", \
	  "Send a NAK when a packet arrives out of order. `false`: only the timeout detects a " \
	  "loss.", \
	  "Kalia's PhD thesis, table 6.3 (row E-07)") \
	X(repeat_nak, FLAG, "false", "", \
	  "Send another NAK when a retransmitted packet is lost. `false`: only the timeout " \
	  "recovers it.", \
	  "IBTA vol. 1, 9.7.5.1.2: one NAK until the expected packet comes; true: law of " \
	  "go-back-N (row E-01)") \
	X(nak_interval, TIME, "0ps", "0ps..1s", \
	  "go_back_n: time after a NAK, in steps of 1 us, from which on a further packet out of " \
	  "order causes the NAK again. `0ps`: never.", \
	  "IBTA vol. 1, 9.7.5.1.2: one NAK until the expected packet comes; public simulators of " \
	  "HPCC and TLT, rdma-hw.cc: 500 us") \
	X(cumulative_ack, FLAG, "true", "", \
	  "An ACK acknowledges its packet and all earlier ones. `false`: an ACK acknowledges its " \
	  "packet alone, and only in order. Then only the timeout detects a lost ACK, as in " \
	  "software transports.", \
	  "Kalia's PhD thesis, table 6.3 (row E-07): eRPC's credit returns") \
	X(nak_delay, TIME, "0ps", "0ps..100ms", \
	  "Time from the arrival of an out-of-order packet to the NAK, in addition to " \
	  "receive_latency.", \
	  "Lumina, SIGCOMM 2023 (row E-02): ConnectX-5 1.2 us, ConnectX-4 Lx 1.4 us, E810 3.8 us") \
	X(nak_reaction, TIME, "0ps", "0ps..100ms", \
	  "Time from the arrival of a NAK to the first retransmitted packet.", \
	  "Lumina, SIGCOMM 2023 (row E-03): ConnectX-5 2.8 us, ConnectX-4 Lx 160 us, E810 12 us") \
	X(read_loss_delay, TIME, "0ps", "0ps..1s", \
	  "Time from a gap in the READ responses to the new request, in addition to " \
	  "receive_latency.", \
	  "Lumina, SIGCOMM 2023 (row E-04): ConnectX-5 2 us, ConnectX-4 Lx 150 us, E810 83 ms") \
	READ_RECOVERY_PARAMS(X) \
	X(timeout_mode, CHOICE, "spec", "spec|adaptive|fixed", \
	  "Length of the ACK timeout. `spec`: 4.096 us * 2^timeout. `adaptive`: the table of " \
	  "NVIDIA's adaptive retransmission. `fixed`: timeout_fixed.", \
	  "rdma-core, rdma_set_option(3) (rows C-26, C-27)") \
	X(timeout, COUNT, "14", "0..31", \
	  "Exponent of the local ACK timeout. `0`: no timeout.", \
	  "rdma-core, rdma_set_option(3) (row C-26)") \
	X(timeout_fixed, TIME, "5ms", "1us..10s", \
	  "ACK timeout with timeout_mode `fixed`.", \
	  "Kalia's PhD thesis, table 6.3 (row E-07)") \
	X(retry_count, COUNT, "7", "0..8", \
	  "Timeouts in a row before the queue pair fails. `8`: it never fails.", \
	  "rdma-core, rdma_set_option(3) (row C-26); 8: the simulators of rows D-12, D-27, D-32") \
	X(adaptive_extra, COUNT, "6", "0..6", \
	  "Retries beyond retry_count with timeout_mode `adaptive`.", \
	  "Lumina, SIGCOMM 2023 (row C-27): 8 to 13 in all") \
	X(rto_low, TIME, "100us", "1us..1s", \
	  "selective_repeat: timeout while at most rto_low_packets packets are in flight.", \
	  "IRN, SIGCOMM 2018 (row D-27)") \
	X(rto_high, TIME, "320us", "1us..1s", \
	  "selective_repeat: timeout while more than rto_low_packets packets are in flight.", \
	  "IRN, SIGCOMM 2018 (row D-27)") \
	X(rto_low_packets, COUNT, "3", "0..1000", \
	  "selective_repeat: largest number of packets in flight for which rto_low applies.", \
	  "IRN, SIGCOMM 2018 (row D-27)") \
	X(timeout_restart, CHOICE, "progress", "progress|nak", \
	  "selective_repeat: events that restart the timer. `progress`: an ACK of new packets. " \
	  "`nak`: in addition each NAK.", \
	  "progress: RFC 6298, 5.3; nak: IBTA vol. 1, 9.7.6.1.3, as ConWeave's simulator " \
	  "(row D-32) does") \
	X(timeout_retransmits, CHOICE, "first", "first|all", \
	  "selective_repeat: packets that a timeout declares lost. `first`: the first missing " \
	  "packet. `all`: all packets not known to have arrived. They are retransmitted within " \
	  "the window.", \
	  "IRN, SIGCOMM'18, 3.1; all: RFC 6675, 5.1, as TCP does") \
	X(partial_ack, CHOICE, "since", "since|any", \
	  "selective_repeat: ACKs of less than the packets in flight that declare the next " \
	  "packet lost. `since`: responses to packets sent after the last retransmission. `any`: " \
	  "all such ACKs.", \
	  "since: RFC 3522, by the time stamp that ACKs carry; any: the circuit of IRN's " \
	  "authors, which has no time stamps") \
	X(notify, CHOICE, "cnp", "cnp|ack|none", \
	  "Response to a congestion mark. `cnp`: a CNP. `ack`: BECN in the next ACK. `none`: no " \
	  "response, and data packets are not ECN-capable.", \
	  "IBTA annex A17.9; annex A10") \
	CNP_PARAMS(X) \
	X(ack_priority, COUNT, "16", "0..16", \
	  "Service level of ACKs and NAKs. `16`: the service level of the queue pair.", \
	  "choice; HPCC's simulator (row D-10) has a separate one for DCQCN and TIMELY") \
	X(hop_limit, COUNT, "64", "1..255", \
	  "Hop limit of sent packets. Each switch that routes a packet decrements it.", \
	  "choice: initial value of operating systems") \
	X(telemetry_bytes, BYTES, "42B", "0B..1KB", \
	  "Bytes that in-band telemetry adds to each packet and ACK that carries it.", \
	  "HPCC, SIGCOMM 2019 (row C-23): INT of five switches") \
	X(data_header_extra, BYTES, "0B", "0B..256B", \
	  "Bytes added to the RoCE headers of each packet of a WRITE or SEND.", \
	  "IRN, SIGCOMM'18, 6.3: 16 B, a RETH in each packet of a WRITE") \
	X(base_rtt, TIME, "auto", "auto|1ns..100ms", \
	  "Round-trip time of an empty path, for algorithms that use it. `auto`: computed per " \
	  "queue pair over the route with the fewest links. It covers a full packet, its ACK and " \
	  "the receive_latency of both ends.", \
	  "auto: published simulators use the time of each path; a value: choice")
/* clang-format on */

enum endpoint_transport { ENDPOINT_RDMA, ENDPOINT_TCP, ENDPOINT_IWARP };
enum notify_mode { NOTIFY_CNP, NOTIFY_ACK, NOTIFY_NONE };
enum endpoint_pace { PACE_DUE, PACE_DEPARTURE };
enum endpoint_pace_update { PACE_UPDATE_WAITING, PACE_UPDATE_NEXT };
enum endpoint_grant { GRANT_QUEUED, GRANT_FREE };

struct endpoint_params {
	ENDPOINT_PARAMS(PARAM_FIELD)
};

extern const struct param endpoint_param_list[];

#endif
