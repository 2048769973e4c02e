/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng: writes packets to a file that Wireshark and tshark read: an interface a port, with its name, and
 * simulated time in nanoseconds (what is below is cut off). RoCE as Ethernet (link type 1), InfiniBand as ERF
 * (197). The same packets give the same bytes. IETF draft-ietf-opsawg-pcapng.
 *
 *     tap --pcapng_write(interface, time, packet)--> packet_build() --> file
 */
#ifndef FABRIC_WIRE_PCAPNG_H
#define FABRIC_WIRE_PCAPNG_H

#include "fabric/wire/packet.h"

struct pcapng;

/* NULL: the file cannot be made; errno says why. */
struct pcapng *pcapng_create(const char *path);

/* Of each packet no more bytes than `snap` are kept, 0: all; packets with which the file would be larger than max_bytes are left
 * out. Before the first interface. */
void pcapng_limit(struct pcapng *pcapng, uint32_t snap, uint64_t max_bytes);

/* 0, or the errno of the first write that failed. */
int pcapng_destroy(struct pcapng *pcapng);

/* Number of the new interface, from 0. */
uint32_t pcapng_interface_add(struct pcapng *pcapng, const char *name, enum link_layer link_layer);

/* Allocates nothing. comment: NULL, or a text for this packet, cut at 255 bytes. `at` never goes back in time by
 * itself: records come in the order of the calls. */
void pcapng_write(struct pcapng *pcapng, uint32_t interface, sim_time at,
		  const struct packet *packet, const char *comment);

uint64_t pcapng_packets(const struct pcapng *pcapng);

/* The time of the first packet that was left out; SIM_NEVER: none was. */
sim_time pcapng_full_since(const struct pcapng *pcapng);

#endif
