/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_params: parameters that the requesters and responders of all transports share.
 * transport_param_list lists the parameters.
 */
#ifndef HCA_TRANSPORT_TRANSPORT_PARAMS_H
#define HCA_TRANSPORT_TRANSPORT_PARAMS_H

#include "hca/transport/read_recoveries.h"
#include "sim/block.h"

/* clang-format off */
#define TRANSPORT_PARAMS(X)                                                                        \
	X(segment_bytes, BYTES, "4096B", "256B..4096B",                                            \
	  "Largest part of a message that the adapter gathers or scatters as one segment.",        \
	  "calibrated: A1-03, latency flat over the MTU")                                          \
	X(window_packets, COUNT, "32768", "1..8388608",                                            \
	  "Maximum number of sent packets of a queue pair that are not acknowledged.",             \
	  "IBTA vol. 1, 9.7.2: below half of the PSN space")                                       \
	X(dc_handshake, CHOICE, "half", "half|full",                                               \
	  "DC: start of the requests of a connection. `half`: directly after the connect packet. " \
	  "`full`: after the connect is accepted.",                                                \
	  "half: UCX, UCX_DC_MLX5_DCI_FULL_HANDSHAKE=n; recalled")                                 \
	X(dc_idle, TIME, "100us", "100ns..10s",                                                    \
	  "DC: idle time after which an initiator disconnects.",                                   \
	  "assumed: connections last while they are active (MLNX_OFED manual)")                    \
	X(dc_responders, COUNT, "18432", "1..1048576",                                             \
	  "DC: number of responder contexts. Each serves one connected initiator.",                \
	  "mlxconfig: 2^LOG_DCR_HASH_TABLE_SIZE + DCR_LIFO_SIZE, 2048 + 16384")                    \
	X(dc_lifetime, TIME, "1ms", "100ns..10s",                                                  \
	  "DC: unused time after which a responder context may serve another initiator.",          \
	  "assumed: ten times dc_idle")                                                            \
	X(ack_interval, COUNT, "0", "0..65536",                                                    \
	  "Packets of one message between two ACK requests. `0`: as congestion control needs "     \
	  "(HPCC, Swift, DCTCP: 1; TIMELY: its segment), otherwise 64.",                           \
	  "HPCC, Swift, DCTCP, TIMELY; 64: assumed")                                               \
	X(ack_when, CHOICE, "early", "early|late|posted",                                          \
	  "Event that allows the ACK of a request. `early`: the request is accepted. `late`: its " \
	  "data is visible. `posted`: its data is translated and passed to PCIe.",                 \
	  "assumed: early as A1-09 suggests")                                                      \
	X(ack_delay, TIME, "20ns", "1ps..1ms",                                                     \
	  "Time from the acceptance of a request to its ACK. Requests accepted within this time "  \
	  "share the ACK.",                                                                        \
	  "assumed")                                                                               \
	X(atomic_latency, TIME, "20ns", "1ps..1ms",                                                \
	  "Time of the arithmetic unit between the read and the write of an atomic.",              \
	  "assumed")                                                                               \
	X(atomic_locks, COUNT, "4096", "1..4096",                                                  \
	  "Number of locks of atomics. Atomics whose addresses are equal modulo this number wait " \
	  "for each other.",                                                                       \
	  "A6-02: Connect-IB; assumed for its successors")                                         \
	X(atomic_interval, TIME, "19200ps", "0ps..1ms",                                            \
	  "Minimum time between the starts of two atomics.",                                       \
	  "calibrated: A6-02, 52 M/s")                                                             \
	X(recovery, CHOICE, "go_back_n", "go_back_n|selective_repeat|go_back_0",                   \
	  "Retransmission after a loss. Detailed adapters support `go_back_n` only and refuse "    \
	  "the other values, which fidelity `endpoint` supports.",                                 \
	  "IBTA vol. 1, 9.7")                                                                      \
	X(nak_delay, TIME, "0ps", "0ps..100ms",                                                    \
	  "Time from the check of an out-of-order packet to the NAK, in addition to the time of "  \
	  "an ACK.",                                                                               \
	  "choice: nothing added; Lumina, SIGCOMM 2023 (row E-02): ConnectX-5 1.2 us, ConnectX-4 " \
	  "Lx 1.4 us, "                                                                            \
	  "E810 3.8 us")                                                                           \
	X(nak_reaction, TIME, "0ps", "0ps..100ms",                                                 \
	  "Time from a NAK to the first retransmitted packet, in addition to the time of a "       \
	  "grant.",                                                                                \
	  "choice: nothing added; Lumina, SIGCOMM 2023 (row E-03): ConnectX-5 2.8 us, ConnectX-4 " \
	  "Lx 160 us, "                                                                            \
	  "E810 12 us")                                                                            \
	X(read_loss_delay, TIME, "0ps", "0ps..1s",                                                 \
	  "Time from a gap in the READ responses to the new request, in addition to the time of "  \
	  "a grant.",                                                                              \
	  "choice: nothing added; Lumina, SIGCOMM 2023 (row E-04): ConnectX-5 2 us, ConnectX-4 "   \
	  "Lx 150 us, E810 "                                                                       \
	  "83 ms")                                                                                 \
	READ_RECOVERY_PARAMS(X)                                                                    \
	X(timeout_least, COUNT, "0", "0..31",                                                      \
	  "Smallest exponent of the local ACK timeout that the adapter applies.",                  \
	  "choice: ConnectX honours 16 or more")                                                   \
	X(scatter_buffers, COUNT, "128", "4..4096",                                                \
	  "Number of receive buffers of segment_bytes each.",                                      \
	  "assumed: 512 KiB")                                                                      \
	X(response_buffers, COUNT, "128", "4..4096",                                               \
	  "READ and atomic response packets that may be in transfer to memory. Further packets "   \
	  "wait in the port's input buffer.",                                                      \
	  "assumed: as scatter_buffers")
/* clang-format on */

/* the first value of the list; others are refused */
enum transport_recovery { TRANSPORT_GO_BACK_N };
enum ack_when { ACK_EARLY, ACK_LATE, ACK_POSTED }; /* in the order of the list */

struct transport_params {
	TRANSPORT_PARAMS(PARAM_FIELD)
};

enum dc_handshake { DC_HALF, DC_FULL }; /* in the order of the list */

extern const struct param transport_param_list[];

#endif
