/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_params: the parameters of one end of a link; its own header because others (an HCA, a switch) embed the
 * struct in theirs.
 */
#ifndef FABRIC_PORT_PARAMS_H
#define FABRIC_PORT_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PORT_PARAMS(X)                                                                                     \
	X(rate,          RATE,   "100Gbps", "1Mbps..3.2Tbps", "data rate after encoding, unless speed says it", "choice") \
	X(speed,         CHOICE, "explicit", "explicit|SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR",             \
	  "InfiniBand lane speed: with width, sets the rate", "IBTA vol. 2, 5")                            \
	X(width,         COUNT,  "4", "1..12", "lanes of the cable: with speed, sets the rate; the symbol time", "IBTA vol. 2, 5") \
	X(length,        METRES, "0.5m", "0m..100km", "of the cable towards the other end", "choice")      \
	X(propagation,   TIME,   "5ns", "0ps..100ns", "per metre of cable", "ground truth C-12")           \
	X(fec_latency,   TIME,   "0ps", "0ps..10us", "added to each packet by error correction (RS-FEC at 100 Gb/s: 51.2 ns)", "ground truth C-11") \
	X(vls,           COUNT,  "8", "1..15", "data virtual lanes, or priorities in Ethernet (8 at most)", "IBTA vol. 1, 7.6.3") \
	X(mtu,           BYTES,  "4096B", "256B..4096B", "largest payload of a packet", "ground truth C-02") \
	X(transmit_depth, COUNT, "4", "1..1000000", "packets that may wait a VL, without the one that leaves", "assumed: small, so that the QP scheduler decides late") \
	X(input_buffer,  BYTES,  "128KiB", "4KiB..128MiB", "a VL; InfiniBand: at most 2048 blocks of 64 B", "ground truth C-07") \
	X(credit_batch,  BYTES,  "0B", "0B..128KiB", "InfiniBand: input space to gather before a credit packet is sent; at once if the sender is short of it. 0: so that no sender ever runs out of what is free here", "choice: credits that a sender has no need of yet change nothing") \
	X(pfc_priorities, COUNT, "255", "0..255", "Ethernet: one bit a priority that pause frames protect", "choice") \
	X(xoff,          BYTES,  "0B", "0B..128MiB", "Ethernet: input bytes of a priority that make it pause the sender, 0: the buffer less the headroom of C-14", "ground truth C-14") \
	X(xon,           BYTES,  "0B", "0B..128MiB", "Ethernet: input bytes that let it go on, 0: xoff less 9216 B", "ground truth C-14") \
	X(pause_quanta,  COUNT,  "65535", "1..65535", "Ethernet: time a pause frame asks for, of 512 bit times; repeated after half of it", "IEEE 802.3 annex 31B") \
	X(pause_reaction, TIME,  "300ns", "0ps..100us", "from the end of a pause frame until it holds", "assumed: 802.3 annex 31B allows 60 quanta at 100 Gb/s, 307 ns") \
	X(pfc_watchdog,  TIME,   "200ms", "0ps..100s", "Ethernet, of a switch: a priority paused for so long with packets waiting is given up, 0: never", "ground truth D-21: 200 ms") \
	X(hoq_life,      TIME,   "0ps", "0ps..100s", "InfiniBand, of a switch: a packet first in its VL for so long is dropped, 0: never", "IBTA vol. 1, 18.2.5.4: 4.096 us * 2^n") \
	X(vl_stall_count, COUNT,  "0", "0..7", "InfiniBand, of a switch: after so many drops in a row for hoq_life the VL is stalled, and all of it dropped for 8 lifetimes; 0: never", "IBTA vol. 1, 18.2.5.4: VLStallCount") \
	X(schedule,      CHOICE, "turns", "turns|weighted", "VLs with a packet ready: in turn, or strict ones first and the rest by weight", "choice") \
	X(strict,        COUNT,  "0", "0..65535", "schedule: weighted: one bit a VL that goes before all others, the highest first", "IEEE 802.1Qaz") \
	X(weight0,       COUNT,  "1", "0..255", "schedule: weighted: share of bytes of VL 0; 0: only when no other has any", "IEEE 802.1Qaz: bandwidth of the class") \
	X(weight1,       COUNT,  "1", "0..255", "... of VL 1", "IEEE 802.1Qaz")                          \
	X(weight2,       COUNT,  "1", "0..255", "... of VL 2", "IEEE 802.1Qaz")                          \
	X(weight3,       COUNT,  "1", "0..255", "... of VL 3", "IEEE 802.1Qaz")                          \
	X(weight4,       COUNT,  "1", "0..255", "... of VL 4", "IEEE 802.1Qaz")                          \
	X(weight5,       COUNT,  "1", "0..255", "... of VL 5", "IEEE 802.1Qaz")                          \
	X(weight6,       COUNT,  "1", "0..255", "... of VL 6", "IEEE 802.1Qaz")                          \
	X(weight7,       COUNT,  "1", "0..255", "... of VL 7", "IEEE 802.1Qaz")

struct port_params { PORT_PARAMS(PARAM_FIELD) };
/* clang-format on */

enum port_schedule { SCHEDULE_TURNS, SCHEDULE_WEIGHTED };

/* For the parsers of those who embed it. */
extern const struct param port_param_list[];

/* What is given replaces the values of a port; bit i of `given`: entry i of port_param_list. */
void port_params_override(struct port_params *params, const struct port_params *values,
			  uint64_t given);

#endif
