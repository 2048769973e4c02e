/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng: writes packets to a file for Wireshark and tshark. Each port is an interface with its
 * name. Time stamps are simulated time in nanoseconds, rounded down. RoCE packets have link type
 * Ethernet (1), InfiniBand packets ERF (197). The same packets give the same bytes. IETF
 * draft-ietf-opsawg-pcapng.
 *
 *     tap --pcapng_write(interface, time, packet)--> codec_build() --> file
 */
#ifndef FABRIC_WIRE_PCAPNG_H
#define FABRIC_WIRE_PCAPNG_H

#include "fabric/wire/packet.h"

struct pcapng;

/* Creates a file. Returns NULL and sets errno on failure. */
struct pcapng *pcapng_create(const char *path);

/* Sets limits, before the first interface. Of each packet, at most `snap` bytes are kept (0: all).
 * Packets that would make the file larger than max_bytes are omitted. */
void pcapng_limit(struct pcapng *pcapng, uint32_t snap, uint64_t max_bytes);

/* Closes the file. Returns 0, or the errno of the first failed write. */
int pcapng_destroy(struct pcapng *pcapng);

/* Adds an interface and returns its number, from 0. */
uint32_t pcapng_interface_add(struct pcapng *pcapng, const char *name, enum link_layer link_layer);

/* Writes a packet, without allocating memory. `comment` is NULL or a text of the packet, cut at 255
 * bytes. Records keep the order of the calls; the caller must pass times that do not decrease. */
void pcapng_write(struct pcapng *pcapng, uint32_t interface, sim_time at,
		  const struct packet *packet, const char *comment);

uint64_t pcapng_packets(const struct pcapng *pcapng);

/* Returns the time of the first packet that was omitted, or SIM_NEVER. */
sim_time pcapng_full_since(const struct pcapng *pcapng);

#endif
