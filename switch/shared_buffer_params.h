/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_buffer_params: the parameters of a switch's shared packet memory. They have their own
 * header because other parameters embed them.
 */
#ifndef SWITCH_SHARED_BUFFER_PARAMS_H
#define SWITCH_SHARED_BUFFER_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define SHARED_BUFFER_PARAMS(X)                                                                   \
	X(size, BYTES, "0B", "0B..64GiB",                                                         \
	  "Packet memory of the switch. `0`: each port has its own memory (port: input_buffer).", \
	  "TLT, EuroSys 2021 (row C-15): 12 MB; C-16")                                            \
	X(reserved, BYTES, "0B", "0B..1GiB",                                                      \
	  "Part of `size` reserved for each port and priority.",                                  \
	  "choice")                                                                               \
	X(lossless, COUNT, "1", "0..255",                                                         \
	  "Lossless priorities, one bit per priority. A lossless priority pauses its senders, "   \
	  "and no packet is dropped while headroom is left.",                                     \
	  "choice: priority 0, which traffic without a priority uses")                            \
	X(alpha, RATIO, "1", "0.001..1024",                                                       \
	  "Pause threshold: a lossless (port, priority) of ingress is paused above alpha * free " \
	  "shared memory.",                                                                       \
	  "TLT, EuroSys 2021 (row C-15); mlx5 devices take up to 32")                             \
	X(alpha_per_rate, RATE, "0bps", "0bps..3.2Tbps",                                          \
	  "Port rate for which `alpha` holds. Alpha grows with the rate of the port, up to 1. "   \
	  "`0bps`: alpha is the same for all ports.",                                             \
	  "HPCC's simulator (row D-10): 1/8 at the NIC's rate")                                   \
	X(alpha_lossy, RATIO, "1", "0.001..1024",                                                 \
	  "Drop threshold: a lossy (port, priority) of egress drops packets above alpha_lossy * " \
	  "free shared memory.",                                                                  \
	  "TLT, EuroSys 2021 (row C-15)")                                                         \
	X(xon_below, BYTES, "9216B", "0B..1GiB",                                                  \
	  "Resume hysteresis: a paused (port, priority) resumes when its shared usage is this "   \
	  "far below its pause threshold, or when it uses no shared memory.",                     \
	  "Linux mlx5, port_buffer.c (row C-14): a jumbo frame")                                  \
	X(headroom, BYTES, "0B", "0B..1GiB",                                                      \
	  "Headroom of each port and lossless priority for packets that arrive after its pause. " \
	  "`0`: (301 + 2.16 * m) * Gb/s + 2.72 * MTU.",                                           \
	  "Linux mlx5, port_buffer.c (row C-14)")                                                 \
	X(headroom_pool, BYTES, "0B", "0B..64GiB",                                                \
	  "Total headroom of the switch. `0`: sum of all per-priority headrooms. A smaller "      \
	  "value oversubscribes headroom. Lossless packets that find it exhausted are dropped "   \
	  "(`headroom_drops`).",                                                                  \
	  "choice")                                                                               \
	X(headroom_from, CHOICE, "pause", "pause|full",                                           \
	  "Packets that take headroom. `pause`: those above the pause threshold. `full`: those "  \
	  "that find the shared memory full, which also takes packets above the threshold.",      \
	  "choice; full: TLT's and ConWeave's public simulators, switch-mmu.cc")

struct shared_buffer_params { SHARED_BUFFER_PARAMS(PARAM_FIELD) };
/* clang-format on */

/* Values of headroom_from, in the same order. */
enum { BUFFER_HEADROOM_FROM_PAUSE, BUFFER_HEADROOM_FROM_FULL };

extern const struct param shared_buffer_param_list[];

#endif
