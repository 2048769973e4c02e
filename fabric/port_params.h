/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_params: the parameters of one end of a link. They have their own header because an HCA
 * and a switch embed the struct in their own parameters.
 */
#ifndef FABRIC_PORT_PARAMS_H
#define FABRIC_PORT_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PORT_PARAMS(X)                                                                           \
	X(rate, RATE, "100Gbps", "1Mbps..3.2Tbps",                                               \
	  "Data rate after encoding, unless `speed` sets it.",                                   \
	  "choice")                                                                              \
	X(speed, CHOICE, "explicit", "explicit|SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR",           \
	  "Speed of an InfiniBand lane. With `width` it sets the rate. `explicit`: `rate` sets " \
	  "it.",                                                                                 \
	  "IBTA vol. 2, 5")                                                                      \
	X(width, COUNT, "4", "1..12",                                                            \
	  "Number of lanes of the cable. Lanes and `speed` together set the rate. The number "   \
	  "also determines the symbol time.",                                                    \
	  "IBTA vol. 2, 5")                                                                      \
	X(length, METRES, "0.5m", "0m..100km",                                                   \
	  "Length of the cable to the other end.",                                               \
	  "choice")                                                                              \
	X(propagation, TIME, "5ns", "0ps..100ns",                                                \
	  "Propagation delay per metre of cable.",                                               \
	  "5 ns/m (row C-12)")                                                                   \
	X(fec_latency, TIME, "0ps", "0ps..10us",                                                 \
	  "Latency that error correction adds to each packet (RS-FEC at 100 Gb/s: 51.2 ns).",    \
	  "code RS(528,514) (row C-11)")                                                         \
	X(vls, COUNT, "8", "1..15",                                                              \
	  "Number of data virtual lanes, or of priorities on Ethernet (at most 8).",             \
	  "IBTA vol. 1, 7.6.3")                                                                  \
	X(mtu, BYTES, "4096B", "256B..4096B",                                                    \
	  "Largest payload of a packet.",                                                        \
	  "rdma-core, enum ibv_mtu (row C-02)")                                                  \
	X(transmit_depth, COUNT, "4", "1..1000000",                                              \
	  "Packets that may wait per VL, not counting the packet that is leaving.",              \
	  "assumed: small, so that the QP scheduler decides late")                               \
	X(input_buffer, BYTES, "128KiB", "4KiB..128MiB",                                         \
	  "Input buffer per VL. InfiniBand: at most 2048 blocks of 64 B.",                       \
	  "IBTA vol. 1, 7.9 (row C-07)")                                                         \
	X(credit_batch, BYTES, "0B", "0B..128KiB",                                               \
	  "InfiniBand: input space to collect before a credit packet is sent. The packet is "    \
	  "sent at once if the sender is short of credits. `0`: chosen so that a sender never "  \
	  "runs out while input space is free.",                                                 \
	  "choice: credits that a sender has no need of yet change nothing")                     \
	X(pfc_priorities, COUNT, "255", "0..255",                                                \
	  "Ethernet: priorities that PFC protects, one bit per priority.",                       \
	  "choice")                                                                              \
	X(xoff, BYTES, "0B", "0B..128MiB",                                                       \
	  "Ethernet: input bytes of a priority at which the port pauses the sender. `0`: the "   \
	  "buffer less the headroom of C-14.",                                                   \
	  "Linux mlx5, port_buffer.c (row C-14)")                                                \
	X(xon, BYTES, "0B", "0B..128MiB",                                                        \
	  "Ethernet: input bytes of a priority at which the port lets the sender resume. `0`: "  \
	  "xoff less 9216 B.",                                                                   \
	  "Linux mlx5, port_buffer.c (row C-14)")                                                \
	X(pause_quanta, COUNT, "65535", "1..65535",                                              \
	  "Ethernet: pause time that a pause frame requests, in units of 512 bit times. The "    \
	  "frame is repeated after half of this time.",                                          \
	  "IEEE 802.3 annex 31B")                                                                \
	X(pause_reaction, TIME, "300ns", "0ps..100us",                                           \
	  "Time from the end of a pause frame until the pause takes effect.",                    \
	  "assumed: 802.3 annex 31B allows 60 quanta at 100 Gb/s, 307 ns")                       \
	X(pfc_watchdog, TIME, "200ms", "0ps..100s",                                              \
	  "Ethernet, switches only: time after which the PFC watchdog drops the packets of a "   \
	  "priority that is paused while packets wait. It drops them until the pause has "       \
	  "ended and no PFC frame for the priority has arrived for the same time. `0`: never.",  \
	  "Guo et al., SIGCOMM 2016 (row D-21): 200 ms")                                         \
	X(hoq_life, TIME, "0ps", "0ps..100s",                                                    \
	  "InfiniBand, switches only: time after which a packet at the head of its VL is "       \
	  "dropped. `0`: never.",                                                                \
	  "IBTA vol. 1, 18.2.5.4: 4.096 us * 2^n")                                               \
	X(vl_stall_count, COUNT, "0", "0..7",                                                    \
	  "InfiniBand, switches only: number of consecutive hoq_life drops after which the VL "  \
	  "is stalled. A stalled VL drops all its packets for 8 lifetimes. `0`: never.",         \
	  "IBTA vol. 1, 18.2.5.4: VLStallCount")                                                 \
	X(schedule, CHOICE, "round_robin", "round_robin|weighted",                              \
	  "Arbitration among the VLs with a packet ready. `round_robin`: one packet of each "    \
	  "VL. `weighted`: strict VLs first, then by weight.",                                   \
	  "choice")                                                                              \
	X(strict, COUNT, "0", "0..65535",                                                        \
	  "With `schedule: weighted`: VLs that precede all others, one bit per VL. The highest " \
	  "precedes.",                                                                           \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight0, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 0. `0`: served only if no other VL "  \
	  "has a packet.",                                                                       \
	  "IEEE 802.1Qaz: bandwidth of the class")                                               \
	X(weight1, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 1, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight2, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 2, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight3, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 3, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight4, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 4, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight5, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 5, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight6, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 6, as weight0.",                      \
	  "IEEE 802.1Qaz")                                                                       \
	X(weight7, COUNT, "1", "0..255",                                                         \
	  "With `schedule: weighted`: share of bytes of VL 7, as weight0.",                      \
	  "IEEE 802.1Qaz")

struct port_params { PORT_PARAMS(PARAM_FIELD) };
/* clang-format on */

enum port_schedule { SCHEDULE_ROUND_ROBIN, SCHEDULE_WEIGHTED };

/* The list of the parameters, for the parsers of the blocks that embed them. */
extern const struct param port_param_list[];

/* Overrides selected values of a port. Bit i of `given` selects entry i of port_param_list. */
void port_params_override(struct port_params *params, const struct port_params *values,
			  uint64_t given);

#endif
