/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: the parameters of TCP connections. Linux values come from Linux 6.1, with the name of the
 * constant or the sysctl.
 */
#ifndef TCP_PARAMS_H
#define TCP_PARAMS_H

#include "sim/block.h"

enum tcp_nagle { TCP_NAGLE_OFF, TCP_NAGLE_CLASSIC, TCP_NAGLE_MINSHALL };
enum tcp_ecn { TCP_ECN_AUTO, TCP_ECN_OFF, TCP_ECN_CLASSIC, TCP_ECN_DCTCP };

/* clang-format off */
#define TCP_PARAMS(X)                                                                              \
	X(timestamps, FLAG, "true", "",                                                            \
	  "Offers the time stamps option. It takes 12 bytes of each segment.", "RFC 7323 3")       \
	X(timestamp_clock, TIME, "1ms", "1us..1s",                                                 \
	  "Tick of the time stamps.", "RFC 7323 5.4; Linux: HZ = 1000")                            \
	X(window_scale, FLAG, "true", "", "Offers the window scale option.", "RFC 7323 2")         \
	X(sack, FLAG, "true", "", "Offers selective acknowledgments.", "RFC 2018")                 \
	X(receive_buffer, BYTES, "6MiB", "2KiB..1GiB",                                             \
	  "Largest receive window. It does not grow or shrink by itself.",                         \
	  "Linux tcp_rmem[2]")                                                                     \
	X(delayed_ack, TIME, "40ms", "0ps..500ms",                                                 \
	  "Longest delay of an ACK. `0`: each segment is acknowledged at once.",                   \
	  "RFC 9293 3.8.6.3; Linux TCP_DELACK_MIN")                                                \
	X(ack_every, COUNT, "2", "1..64",                                                          \
	  "Full segments after which an ACK is sent at once.", "RFC 9293 3.8.6.3")                 \
	X(quick_acks, COUNT, "16", "0..1000",                                                      \
	  "Segments at the start of a connection that are acknowledged at once.",                  \
	  "Linux TCP_MAX_QUICKACKS")                                                               \
	X(nagle, CHOICE, "minshall", "off|classic|minshall",                                       \
	  "When a segment below the MSS waits. `classic`: while any byte is unacknowledged. "      \
	  "`minshall`: while an earlier small segment is unacknowledged. `off`: never "            \
	  "(TCP_NODELAY).", "RFC 9293 3.7.4; minshall: Linux tcp_nagle_check()")                   \
	X(initial_window, COUNT, "10", "1..1000",                                                  \
	  "Congestion window at the start, in segments of the MSS.",                               \
	  "RFC 6928; Linux TCP_INIT_CWND")                                                         \
	X(idle_restart, FLAG, "true", "",                                                          \
	  "After an idle RTO the congestion window restarts from the initial window.",             \
	  "RFC 5681 4.1; Linux tcp_slow_start_after_idle")                                         \
	X(rto_initial, TIME, "1s", "1us..60s", "RTO before the first RTT sample.", "RFC 6298 2.1") \
	X(rto_min, TIME, "200ms", "1us..60s", "Smallest RTO. RFC 6298 says 1 s.",                  \
	  "Linux TCP_RTO_MIN")                                                                     \
	X(rto_max, TIME, "120s", "1ms..1000s",                                                     \
	  "Largest RTO, and largest interval of window probes.",                                   \
	  "RFC 6298 2.5; Linux TCP_RTO_MAX")                                                       \
	X(retries, COUNT, "15", "1..255",                                                          \
	  "Timeouts in a row after which a connection fails. Also the number of unanswered "       \
	  "probes of a closed window after which it fails.", "RFC 9293 3.8.3; Linux tcp_retries2") \
	X(orphan_retries, COUNT, "8", "0..255",                                                    \
	  "As `retries`, after the application has closed the connection. The connection also "    \
	  "fails when the interval of window probes has reached "                                  \
	  "`rto_max`.", "Linux tcp_orphan_retries()")                                              \
	X(user_timeout, TIME, "0ps", "0ps..1000000s",                                              \
	  "Time from the first timeout or window probe after which a connection without "          \
	  "progress fails. `0`: no limit.", "RFC 5482; Linux TCP_USER_TIMEOUT")                    \
	X(keepalive, FLAG, "false", "",                                                            \
	  "Sends probes on a connection that has been idle for `keepalive_idle`.",                 \
	  "RFC 9293 3.8.4; Linux SO_KEEPALIVE")                                                    \
	X(keepalive_idle, TIME, "7200s", "1us..1000000s",                                          \
	  "Time since the last segment of the peer after which the first probe is sent.",          \
	  "RFC 9293 3.8.4; Linux tcp_keepalive_time")                                              \
	X(keepalive_interval, TIME, "75s", "1us..1000000s",                                        \
	  "Time between probes without an ACK.", "Linux tcp_keepalive_intvl")                      \
	X(keepalive_probes, COUNT, "9", "1..127",                                                  \
	  "Probes without an ACK after which a connection fails. If `user_timeout` is set, it "    \
	  "decides instead.", "Linux tcp_keepalive_probes")                                        \
	X(fin_timeout, TIME, "60s", "0ps..1000000s",                                               \
	  "Time that a connection without an application waits in FIN-WAIT-2 for the peer's "      \
	  "FIN, at least 3.5 RTO. `0`: it is reset at once (TCP_LINGER2 below 0).",                \
	  "Linux tcp_fin_timeout, tcp_fin_time()")                                                 \
	X(syn_retries, COUNT, "6", "0..255",                                                       \
	  "Timeouts in a row after which opening a connection fails.", "Linux tcp_syn_retries")    \
	X(rack, FLAG, "true", "",                                                                  \
	  "Losses are found by the time of transmission. `false`: by duplicate ACKs or SACKed "    \
	  "segments (`dup_threshold`).", "RFC 8985; false: RFC 6675, 5681")                        \
	X(dup_threshold, COUNT, "3", "1..127",                                                     \
	  "Duplicate ACKs, or SACKed segments above a segment, that show a loss. With `rack`, "    \
	  "such a number ends the reordering window.",                                             \
	  "RFC 5681 3.2; 1: TLT's public TCP simulator (row D-18)")                                \
	X(reorder_window, RATIO, "0.25", "0..4",                                                   \
	  "Start value of the RACK reordering window, as a share of the smallest RTT.",            \
	  "RFC 8985 6.2")                                                                          \
	X(tail_probe, FLAG, "true", "",                                                            \
	  "Sends a tail loss probe after two RTTs without an ACK.", "RFC 8985 7")                  \
	X(probe_ack_delay, TIME, "200ms", "0ps..1s",                                               \
	  "Added to the probe timeout of a flight of one segment, whose ACK may be delayed.",      \
	  "RFC 8985 7.2: TLP.max_ack_delay; Linux TCP_RTO_MIN")                                    \
	X(ecn, CHOICE, "auto", "auto|off|classic|dctcp",                                           \
	  "ECN. `classic`: ECE until CWR. `dctcp`: ECE follows each CE mark. `auto`: `dctcp` if "  \
	  "the congestion control needs marks, else off.", "RFC 3168; RFC 8257; Linux tcp_ecn")    \
	X(time_wait, TIME, "60s", "0ps..240s",                                                     \
	  "2 MSL: time for which the side that closed first remembers the connection.",            \
	  "RFC 9293 3.4.2; Linux TCP_TIMEWAIT_LEN")
/* clang-format on */

struct tcp_params {
	TCP_PARAMS(PARAM_FIELD)
};

extern const struct param tcp_param_list[];

#endif
