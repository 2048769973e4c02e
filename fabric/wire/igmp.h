/* SPDX-License-Identifier: Apache-2.0 */
/*
 * igmp: membership reports of hosts, as IP packets. IPv4: IGMPv2 and IGMPv3, RFC 2236 and 3376.
 * IPv6: MLDv1 and MLDv2, RFC 2710 and 3810. A report of the newer version that hosts send here has
 * one record without sources. Addresses are GIDs; IPv4 is ::ffff:a.b.c.d.
 */
#ifndef FABRIC_WIRE_IGMP_H
#define FABRIC_WIRE_IGMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IGMP_PACKET_MAX 96 /* bytes of the longest IP packet that igmp_build() writes */

enum igmp_version { IGMP_V2, IGMP_V3 }; /* IPv6: MLDv1, MLDv2 */

struct igmp_report {
	uint8_t group[16];
	bool leaves; /* the host leaves the group */
};

/* Writes the address to which a host sends the report. */
void igmp_destination(const struct igmp_report *report, enum igmp_version version,
		      uint8_t destination[16]);

/* Writes the IP packet of a host with that address. Returns its length. */
size_t igmp_build(const struct igmp_report *report, enum igmp_version version,
		  const uint8_t source[16], uint8_t *bytes);

/* Parses an IP packet of either version, and writes at most `most` reports. Returns their number,
 * which is 0 for all other packets. */
unsigned igmp_parse(const uint8_t *bytes, size_t length, struct igmp_report *reports,
		    unsigned most);

#endif
