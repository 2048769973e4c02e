/* SPDX-License-Identifier: Apache-2.0 */
/* igmp: see igmp.h. */
#include "fabric/wire/igmp.h"

#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/ip.h"

#define IPV4_BYTES       20
#define IPV4_ALERT_BYTES 24 /* with Router Alert: RFC 2113 */
#define IPV6_BYTES       40
#define HOP_BYTES        8 /* hop-by-hop options with Router Alert: RFC 2711 */
#define NETWORK_CONTROL  0xc0
#define DONT_FRAGMENT    0x4000
#define ROUTER_ALERT     0x94040000
#define NEXT_HOP_BY_HOP  0
#define NEXT_ICMPV6      58

#define IGMP_V2_REPORT 0x16
#define IGMP_V2_LEAVE  0x17
#define IGMP_V3_REPORT 0x22
#define MLD_V1_REPORT  131
#define MLD_V1_DONE    132
#define MLD_V2_REPORT  143
#define SHORT_BYTES    8 /* of a report without its address of 4 or 16 bytes */

/* Types of records: RFC 3376 4.2.12, RFC 3810 5.2.12 */
enum record_type {
	MODE_IS_INCLUDE = 1,
	MODE_IS_EXCLUDE,
	CHANGE_TO_INCLUDE,
	CHANGE_TO_EXCLUDE,
	ALLOW_NEW_SOURCES,
};

static const uint8_t ipv4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static bool is_six(const uint8_t gid[16])
{
	return gid[0] == 0xff;
}

void igmp_destination(const struct igmp_report *report, enum igmp_version version,
		      uint8_t destination[16])
{
	bool six = is_six(report->group);

	if (version == IGMP_V2 && !report->leaves) {
		memcpy(destination, report->group, 16);
		return;
	}
	memset(destination, 0, 16);
	if (six) { /* all MLDv2-capable routers, all routers */
		destination[0] = 0xff;
		destination[1] = 2;
	} else {
		memcpy(destination, ipv4_prefix, sizeof(ipv4_prefix));
		destination[12] = 224;
	}
	destination[15] = version == IGMP_V2 ? 2 : six ? 0x16 : 22;
}

/* Writes the message without its checksum. Returns its length. */
static size_t message_build(const struct igmp_report *report, enum igmp_version version,
			    uint8_t *bytes)
{
	bool six = is_six(report->group), two = version == IGMP_V2;
	size_t address_bytes = six ? 16 : 4, at = SHORT_BYTES;

	memset(bytes, 0, IGMP_PACKET_MAX - IPV6_BYTES - HOP_BYTES);
	if (two) {
		bytes[0] = six ? (report->leaves ? MLD_V1_DONE : MLD_V1_REPORT)
			       : (report->leaves ? IGMP_V2_LEAVE : IGMP_V2_REPORT);
		at = six ? 8 : 4;
	} else {
		bytes[0] = six ? MLD_V2_REPORT : IGMP_V3_REPORT;
		be16_put(bytes + 6, 1);
		bytes[at] = report->leaves ? CHANGE_TO_INCLUDE : CHANGE_TO_EXCLUDE;
		at += 4;
	}
	memcpy(bytes + at, report->group + 16 - address_bytes, address_bytes);
	return at + address_bytes;
}

static size_t build_four(const uint8_t source[16], const uint8_t destination[16], uint8_t *bytes,
			 size_t message_bytes)
{
	uint8_t *message = bytes + IPV4_ALERT_BYTES;

	be16_put(message + 2, (uint16_t)~ip_sum(message, message_bytes, 0));
	memset(bytes, 0, IPV4_ALERT_BYTES);
	bytes[0] = 0x46;
	bytes[1] = NETWORK_CONTROL;
	be16_put(bytes + 2, (uint16_t)(IPV4_ALERT_BYTES + message_bytes));
	be16_put(bytes + 6, DONT_FRAGMENT);
	bytes[8] = 1;
	bytes[9] = IP_IGMP;
	memcpy(bytes + 12, source + 12, 4);
	memcpy(bytes + 16, destination + 12, 4);
	be32_put(bytes + IPV4_BYTES, ROUTER_ALERT);
	be16_put(bytes + 10, (uint16_t)~ip_sum(bytes, IPV4_ALERT_BYTES, 0));
	return IPV4_ALERT_BYTES + message_bytes;
}

static size_t build_six(const uint8_t source[16], const uint8_t destination[16], uint8_t *bytes,
			size_t message_bytes)
{
	static const uint8_t options[HOP_BYTES] = {NEXT_ICMPV6, 0, 5, 2, 0, 0, 1, 0};
	uint8_t *message = bytes + IPV6_BYTES + HOP_BYTES;
	uint32_t sum;

	memset(bytes, 0, IPV6_BYTES);
	bytes[0] = 0x60;
	be16_put(bytes + 4, (uint16_t)(HOP_BYTES + message_bytes));
	bytes[6] = NEXT_HOP_BY_HOP;
	bytes[7] = 1;
	memcpy(bytes + 8, source, 16);
	memcpy(bytes + 24, destination, 16);
	memcpy(bytes + IPV6_BYTES, options, HOP_BYTES);
	sum = ip_sum(bytes + 8, 32, NEXT_ICMPV6 + (uint32_t)message_bytes);
	be16_put(message + 2, (uint16_t)~ip_sum(message, message_bytes, sum));
	return IPV6_BYTES + HOP_BYTES + message_bytes;
}

size_t igmp_build(const struct igmp_report *report, enum igmp_version version,
		  const uint8_t source[16], uint8_t *bytes)
{
	uint8_t destination[16];
	bool six = is_six(report->group);
	uint8_t *message = bytes + (six ? IPV6_BYTES + HOP_BYTES : IPV4_ALERT_BYTES);
	size_t message_bytes = message_build(report, version, message);

	igmp_destination(report, version, destination);
	return six ? build_six(source, destination, bytes, message_bytes)
		   : build_four(source, destination, bytes, message_bytes);
}

/* ---- parsing ---- */

static void set_group(struct igmp_report *report, const uint8_t *address, size_t address_bytes)
{
	memset(report->group, 0, 16);
	if (address_bytes == 4)
		memcpy(report->group, ipv4_prefix, sizeof(ipv4_prefix));
	memcpy(report->group + 16 - address_bytes, address, address_bytes);
}

/* Returns 1 if the record tells whether the host is in the group. */
static unsigned parse_record(const uint8_t *record, uint32_t sources, size_t address_bytes,
			     struct igmp_report *report)
{
	set_group(report, record + 4, address_bytes);
	report->leaves = record[0] == CHANGE_TO_INCLUDE && sources == 0;
	if (record[0] == MODE_IS_EXCLUDE || record[0] == CHANGE_TO_EXCLUDE)
		return 1;
	return report->leaves ||
	       (sources > 0 && (record[0] == MODE_IS_INCLUDE || record[0] == CHANGE_TO_INCLUDE ||
				record[0] == ALLOW_NEW_SOURCES));
}

static unsigned parse_records(const uint8_t *message, size_t length, size_t address_bytes,
			      struct igmp_report *reports, unsigned most)
{
	unsigned records = be16_get(message + 6), count = 0;
	size_t at = SHORT_BYTES;

	for (; records > 0 && count < most; records--) {
		uint32_t sources;
		size_t bytes;

		if (length < at + 4 + address_bytes)
			break;
		sources = be16_get(message + at + 2);
		bytes = 4 + (1 + sources) * address_bytes + 4u * message[at + 1];
		if (length < at + bytes)
			break;
		count += parse_record(message + at, sources, address_bytes, &reports[count]);
		at += bytes;
	}
	return count;
}

/* One group, at the end of the message. */
static unsigned parse_one(const uint8_t *message, size_t address_bytes, bool leaves,
			  struct igmp_report *reports)
{
	set_group(&reports[0], message + (address_bytes == 4 ? 4 : 8), address_bytes);
	reports[0].leaves = leaves;
	return 1;
}

static unsigned parse_four(const uint8_t *bytes, size_t length, struct igmp_report *reports,
			   unsigned most)
{
	size_t header = (bytes[0] & 15u) * 4, whole = be16_get(bytes + 2);

	if (bytes[9] != IP_IGMP || header < IPV4_BYTES || whole > length ||
	    whole < header + SHORT_BYTES)
		return 0;
	bytes += header;
	switch (bytes[0]) {
	case IGMP_V2_REPORT:
	case IGMP_V2_LEAVE:
		return parse_one(bytes, 4, bytes[0] == IGMP_V2_LEAVE, reports);
	case IGMP_V3_REPORT:
		return parse_records(bytes, whole - header, 4, reports, most);
	default:
		return 0;
	}
}

static unsigned parse_six(const uint8_t *bytes, size_t length, struct igmp_report *reports,
			  unsigned most)
{
	size_t whole = IPV6_BYTES + be16_get(bytes + 4), at = IPV6_BYTES;

	if (bytes[6] != NEXT_HOP_BY_HOP || whole > length || whole < at + HOP_BYTES ||
	    bytes[at] != NEXT_ICMPV6)
		return 0;
	at += HOP_BYTES + bytes[at + 1] * 8u;
	if (whole < at + SHORT_BYTES)
		return 0;
	bytes += at;
	switch (bytes[0]) {
	case MLD_V1_REPORT:
	case MLD_V1_DONE:
		return whole - at < SHORT_BYTES + 16
			       ? 0
			       : parse_one(bytes, 16, bytes[0] == MLD_V1_DONE, reports);
	case MLD_V2_REPORT:
		return parse_records(bytes, whole - at, 16, reports, most);
	default:
		return 0;
	}
}

unsigned igmp_parse(const uint8_t *bytes, size_t length, struct igmp_report *reports, unsigned most)
{
	if (length < IPV4_BYTES || most == 0)
		return 0;
	if (bytes[0] >> 4 == 4)
		return parse_four(bytes, length, reports, most);
	return bytes[0] >> 4 == 6 && length >= IPV6_BYTES ? parse_six(bytes, length, reports, most)
							  : 0;
}
