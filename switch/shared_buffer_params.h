/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_buffer_params: the parameters of a switch's shared packet memory, for those who embed them.
 */
#ifndef SWITCH_SHARED_BUFFER_PARAMS_H
#define SWITCH_SHARED_BUFFER_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define SHARED_BUFFER_PARAMS(X)                                                                            \
	X(size,          BYTES, "0B", "0B..64GiB", "packet memory of the switch, 0: each port has its own (port: input_buffer)", "ground truth C-15: 12 MB; C-16") \
	X(reserved,      BYTES, "0B", "0B..1GiB",  "of it for each port and priority alone", "choice")        \
	X(lossless,      COUNT, "1",  "0..255",    "one bit a priority that pauses its senders and is not dropped while headroom is left", "choice: priority 0, where all goes that names none") \
	X(alpha,         RATIO, "1",  "0.001..1024", "a lossless (port, priority) of ingress is paused beyond alpha * free", "ground truth C-15; mlx5 devices take up to 32") \
	X(alpha_per_rate, RATE, "0bps", "0bps..3.2Tbps", "alpha is for a port of this rate and grows with the port's, up to 1; 0bps: it is the same for all", "the simulator of ground truth D-10: 1/8 at the NIC's rate") \
	X(alpha_lossy,   RATIO, "1",  "0.001..1024", "a lossy (port, priority) of egress drops beyond alpha_lossy * free", "ground truth C-15") \
	X(xon_below,     BYTES, "9216B", "0B..1GiB", "a paused one goes on so much below its threshold, or when it holds nothing shared", "ground truth C-14: a jumbo frame") \
	X(headroom,      BYTES, "0B", "0B..1GiB",  "for each port and lossless priority after its pause, 0: (301 + 2.16 * m) * Gb/s + 2.72 * MTU", "ground truth C-14") \
	X(headroom_pool, BYTES, "0B", "0B..64GiB", "headroom of all ports together, 0: the sum of theirs; less is a bet", "choice")

struct shared_buffer_params { SHARED_BUFFER_PARAMS(PARAM_FIELD) };
/* clang-format on */

extern const struct param shared_buffer_param_list[];

#endif
