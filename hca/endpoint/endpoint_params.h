/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_params: the parameters of an endpoint HCA. Its port has its own (fabric/port_params.h), and so has its
 * congestion control (hca/congestion).
 */
#ifndef HCA_ENDPOINT_ENDPOINT_PARAMS_H
#define HCA_ENDPOINT_ENDPOINT_PARAMS_H

#include "hca/congestion/cnp_limiter.h"
#include "hca/transport/read_recoveries.h"

/* clang-format off */
#define ENDPOINT_PARAMS(X)                                                                                 \
	X(send_latency,    TIME,  "600ns", "0ps..1ms",    "host: from a post until its first packet may leave",        "calibrated: A1-09, half of a write's round trip less the wire") \
	X(receive_latency, TIME,  "100ns", "0ps..1ms",    "from a packet's last bit until it has had its effect: an ACK made, a window moved", "calibrated: A1-09") \
	X(complete_latency, TIME, "100ns", "0ps..1ms",    "host: from the last ACK's effect until the program sees the completion", "calibrated: A1-09") \
	X(read_latency,    TIME,  "600ns", "0ps..1ms",    "host: from a read request until its first response may leave", "ground truth B1-01: one DMA read") \
	X(atomic_latency,  TIME,  "400ns", "0ps..1ms",    "from an atomic request until its response",                 "ground truth A6-01: 370 ns on a ConnectX-3") \
	X(send_rate,       RATE,  "3.2Tbps", "1Mbps..3.2Tbps", "host: packets are read from memory no faster",         "choice: faster than the link, so no limit") \
	X(receive_rate,    RATE,  "3.2Tbps", "1Mbps..3.2Tbps", "host: input space is given back no faster: a slow receiver pauses the fabric", "choice") \
	X(grant_order,     CHOICE, "time", "time|number", "which queue pair of a service level is next: the one that has waited longest since its pace allowed it, or the next by number that its pace allows", "assumed: which one adapters do is not known; number: the simulator of ground truth D-10") \
	X(ets_share,       RATIO, "1",     "0.01..1",     "a service level sends no more than this share of the link, whether others use theirs or not; 1: no such limit", "ground truth D-33: queues of a ConnectX-6 Dx keep what they do not use") \
	X(window_packets,  COUNT, "32768", "1..4194304",  "sent and not acknowledged, of one queue pair",              "IBTA vol. 1, 9.7.2: below half of the PSN space") \
	X(cwnd_fill,       CHOICE, "whole", "whole|part", "a packet goes if all of it fits the window of congestion control, or if any of the window is open", "whole: RFC 5681, 2; part: the simulator of ground truth D-10") \
	X(pace_from,       CHOICE, "due", "due|departure", "congestion control's rate: the next packet may leave when this one is paid for. due: paid from when it was allowed to leave, if that is no more than a packet's time ago, and a new rate is for what is still owed; departure: paid from when it left, and a new rate is for all of it", "due: assumed, as virtual clocks do; departure: the simulator of ground truth D-10") \
	X(reads_max,       COUNT, "16",    "1..255",      "reads and atomics outstanding, of one queue pair",          "ground truth F-03") \
	X(ack_interval,    COUNT, "0",     "0..1048576",  "packets of one message between two requests for an ACK; the last always asks. 0: as congestion control lives by them (HPCC, Swift, DCTCP: 1; TIMELY: its segment), else 64", "HPCC, Swift, DCTCP, TIMELY; ground truth C-28: 256 and 1 are both published") \
	X(recovery,        CHOICE, "go_back_n", "go_back_n|selective_repeat|go_back_0", "what is retransmitted after a loss", "IBTA vol. 1, 9.7; IRN, SIGCOMM'18; RCE16, 4.1") \
	X(nak,             FLAG,  "true",  "",            "a gap leads to a NAK; else only timeouts find it",    "ground truth E-07")       \
	X(repeat_nak,      FLAG,  "false", "",            "a NAK again when what was retransmitted is lost again; else only the timeout finds that", "IBTA vol. 1, 9.7.5.1.2: one NAK until the expected packet comes; true: ground truth E-01") \
	X(cumulative_ack,  FLAG,  "true", "",            "an ACK is for its own packet alone and counts only in order: one that is lost is found by the timeout, as in software", "ground truth E-07: eRPC's credit returns")  \
	X(nak_delay,       TIME,  "0ps",   "0ps..100ms",  "from a packet out of order to the NAK, beyond receive_latency", "ground truth E-02: ConnectX-5 1.2 us, ConnectX-4 Lx 1.4 us, E810 3.8 us") \
	X(nak_reaction,    TIME,  "0ps",   "0ps..100ms",  "from a NAK to the first packet retransmitted",                 "ground truth E-03: ConnectX-5 2.8 us, ConnectX-4 Lx 160 us, E810 12 us") \
	X(read_loss_delay, TIME,  "0ps",   "0ps..1s",     "from a gap in read responses to the new request, beyond receive_latency", "ground truth E-04: ConnectX-5 2 us, ConnectX-4 Lx 150 us, E810 83 ms") \
	READ_RECOVERY_PARAMS(X)                                                                                 \
	X(timeout_mode,    CHOICE, "spec", "spec|adaptive|fixed", "how long an ACK may take: 4.096 us * 2^timeout; NVIDIA's table; `timeout_fixed`", "ground truth C-26, C-27") \
	X(timeout,         COUNT, "14",    "0..31",       "local ACK timeout, 0: never",                               "ground truth C-26") \
	X(timeout_fixed,   TIME,  "5ms",   "1us..10s",    "for timeout_mode fixed",                                    "ground truth E-07") \
	X(retry_count,     COUNT, "7",     "0..8",        "timeouts in a row before the queue pair fails; 8: it never does", "ground truth C-26; 8: the simulators of ground truth D-12, D-27 and D-32") \
	X(adaptive_extra,  COUNT, "6",     "0..6",        "retries beyond retry_count in adaptive mode",               "ground truth C-27: 8 to 13 in all") \
	X(rto_low,         TIME,  "100us", "1us..1s",     "selective_repeat: timeout while rto_low_packets or fewer are in flight", "ground truth D-27") \
	X(rto_high,        TIME,  "320us", "1us..1s",     "selective_repeat: timeout, else",                           "ground truth D-27") \
	X(rto_low_packets, COUNT, "3",     "0..1000",     "see rto_low",                                               "ground truth D-27") \
	X(timeout_restart, CHOICE, "progress", "progress|nak", "selective_repeat: the timer starts anew when something is acknowledged, or with every NAK, too", "progress: RFC 6298, 5.3; nak: IBTA vol. 1, 9.7.6.1.3, as the simulator of ground truth D-32 does") \
	X(timeout_retransmits, CHOICE, "first", "first|all",   "selective_repeat: lost by a timeout is the first packet that is missing, or all that are not known to have come, retransmitted within the window", "IRN, SIGCOMM'18, 3.1; all: RFC 6675, 5.1, as TCP does") \
	X(partial_ack,     CHOICE, "since", "since|any",  "selective_repeat: an ACK of less than what was under way shows that the next packet is lost, if it responds to a packet that left since the last one was retransmitted, or in any case", "since: RFC 3522, by the time stamp that ACKs carry; any: the circuit of IRN's authors, which has no time stamps") \
	X(notify,          CHOICE, "cnp",  "cnp|ack|none", "how a congestion mark comes back: a CNP, or BECN in the next ACK; none: data packets are not ECN-capable either", "IBTA annex A17.9; annex A10") \
	CNP_PARAMS(X)                                                                                           \
	X(ack_priority,    COUNT, "16",    "0..16",       "service level of ACKs and NAKs, 16: the queue pair's own",  "choice; the simulator of ground truth D-10 has one of their own for DCQCN and TIMELY") \
	X(hop_limit,       COUNT, "64",    "1..255",      "of packets: switches that route take one off each",         "choice: what operating systems begin with") \
	X(telemetry_bytes, BYTES, "42B",   "0B..1KB",     "added to packets and ACKs that carry in-band telemetry",     "ground truth C-23: INT of five switches") \
	X(data_header_extra, BYTES, "0B",  "0B..256B",    "added to each packet of a write or send beyond RoCE's headers", "IRN, SIGCOMM'18, 6.3: 16 B, a RETH in each packet of a WRITE") \
	X(base_rtt,        TIME,  "auto",  "auto|1ns..100ms", "of an empty path, for algorithms that ask; auto: of each queue pair's own path, by the route with the fewest links: a full packet there, its ACK back, and what either end adds to that (receive_latency)", "auto: published simulators take each path's own; a value: choice")
/* clang-format on */

enum notify_mode { NOTIFY_CNP, NOTIFY_ACK, NOTIFY_NONE };
enum endpoint_pace { PACE_DUE, PACE_DEPARTURE };

struct endpoint_params {
	ENDPOINT_PARAMS(PARAM_FIELD)
};

extern const struct param endpoint_param_list[];

#endif
