/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_params: what requesters and responders of all transports share. List: transport_param_list.
 */
#ifndef HCA_TRANSPORT_TRANSPORT_PARAMS_H
#define HCA_TRANSPORT_TRANSPORT_PARAMS_H

#include "hca/transport/read_recoveries.h"
#include "sim/block.h"

/* clang-format off */
#define TRANSPORT_PARAMS(X) \
	X(segment_bytes,   BYTES,  "4096B", "256B..4096B",   "of a message that are gathered, or scattered, as one", "calibrated: A1-03, latency flat over the MTU") \
	X(window_packets,  COUNT,  "32768", "1..8388608",    "sent and not acknowledged, at most",                    "IBTA vol. 1, 9.7.2: below half of the PSN space") \
	X(dc_handshake,    CHOICE, "half",  "half|full",     "DC: requests follow their connect at once, or when it is accepted", "half: UCX, UCX_DC_MLX5_DCI_FULL_HANDSHAKE=n; recalled") \
	X(dc_idle,         TIME,   "100us", "100ns..10s",    "DC: an initiator with nothing to do disconnects after this", "assumed: connections last while they are active (MLNX_OFED manual)") \
	X(dc_responders,   COUNT,  "18432", "1..1048576",    "DC: responder contexts, each for one initiator that is connected", "mlxconfig: 2^LOG_DCR_HASH_TABLE_SIZE + DCR_LIFO_SIZE, 2048 + 16384") \
	X(dc_lifetime,     TIME,   "1ms",   "100ns..10s",    "DC: a responder context that was not used for so long may be taken for another initiator", "assumed: ten times dc_idle") \
	X(ack_interval,    COUNT,  "0",     "0..65536",      "packets of one message between two requests for an ACK. 0: as congestion control lives by them (HPCC, Swift, DCTCP: 1; TIMELY: its segment), else 64", "HPCC, Swift, DCTCP, TIMELY; 64: assumed") \
	X(ack_when,        CHOICE, "early", "early|late|posted", "a request is acknowledged once it is accepted, or its data is visible, or is translated and with PCIe", "assumed: early as A1-09 suggests") \
	X(ack_delay,       TIME,   "20ns",  "1ps..1ms",      "from acceptance to the ACK; what is accepted meanwhile shares it", "assumed") \
	X(atomic_latency,  TIME,   "20ns",  "1ps..1ms",      "of the arithmetic unit, between read and write",        "assumed") \
	X(atomic_locks,    COUNT,  "4096",  "1..4096",       "atomics whose addresses are alike modulo this wait for each other", "A6-02: Connect-IB; assumed for its successors") \
	X(atomic_interval, TIME,   "19200ps", "0ps..1ms",    "at least, between two atomics that start",              "calibrated: A6-02, 52 M/s") \
	X(recovery,        CHOICE, "go_back_n", "go_back_n|selective_repeat|go_back_0", "what is retransmitted after a loss; detailed adapters have go_back_n alone and refuse the others, which fidelity endpoint has", "IBTA vol. 1, 9.7") \
	X(nak_delay,       TIME,  "0ps",   "0ps..100ms",    "from a packet out of order, once it is checked, to the NAK, beyond what an ACK takes", "choice: nothing added; ground truth E-02: ConnectX-5 1.2 us, ConnectX-4 Lx 1.4 us, E810 3.8 us") \
	X(nak_reaction,    TIME,  "0ps",   "0ps..100ms",    "from a NAK to the first packet retransmitted, beyond what any grant takes", "choice: nothing added; ground truth E-03: ConnectX-5 2.8 us, ConnectX-4 Lx 160 us, E810 12 us") \
	X(read_loss_delay, TIME,  "0ps",   "0ps..1s",       "from a gap in read responses to the new request, beyond what any grant takes", "choice: nothing added; ground truth E-04: ConnectX-5 2 us, ConnectX-4 Lx 150 us, E810 83 ms") \
	READ_RECOVERY_PARAMS(X) \
	X(timeout_least,   COUNT,  "0",     "0..31",         "smallest local ACK timeout exponent that is honoured",  "choice: ConnectX honours 16 or more") \
	X(scatter_buffers, COUNT,  "128",   "4..4096",       "receive buffers of segment_bytes each",                    "assumed: 512 KiB") \
	X(response_buffers, COUNT,  "128",   "4..4096",       "packets of read and atomic responses on their way to memory; others wait in the port's input space", "assumed: as scatter_segments")
/* clang-format on */

enum transport_recovery { TRANSPORT_GO_BACK_N };   /* first of the list; the others are refused */
enum ack_when { ACK_EARLY, ACK_LATE, ACK_POSTED }; /* in the order of the list */

struct transport_params {
	TRANSPORT_PARAMS(PARAM_FIELD)
};

enum dc_handshake { DC_HALF, DC_FULL }; /* in the order of the list */

extern const struct param transport_param_list[];

#endif
