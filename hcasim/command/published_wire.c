/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_wire: driver wire: quantities that follow from formats and rates of links, computed
 * with the code of the models. Keys: measure, and the arguments of the measure.
 */
#include <string.h>

#include "fabric/encoding.h"
#include "fabric/port.h"
#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/packet.h"
#include "fabric/wire/path.h"
#include "hcasim/command/published.h"

enum { ETHERNET_PREAMBLE_BYTES = 8, ETHERNET_GAP_BYTES = 12 };

static struct path path_of(const struct published_settings *settings)
{
	const char *kind = published_text(settings, "path", "infiniband");
	struct path path = {0};

	if (strcmp(kind, "infiniband") == 0) {
		path.link_layer = LINK_INFINIBAND;
	} else {
		path.link_layer = LINK_ETHERNET;
		path.has_grh = true;
		path.roce_version = strcmp(kind, "roce-ipv6") == 0 ? ROCE_V2_IPV6 : ROCE_V2_IPV4;
	}
	return path;
}

static double line_bytes(const struct published_settings *settings, uint8_t opcode, double payload)
{
	struct path path = path_of(settings);
	struct packet packet = {
		.path = &path, .opcode = opcode, .payload_bytes = (uint32_t)payload};
	double bytes = packet_wire_bytes(&packet);

	if (path.link_layer == LINK_ETHERNET)
		bytes += ETHERNET_PREAMBLE_BYTES + ETHERNET_GAP_BYTES;
	return bytes;
}

static double link_gbps(const struct published_settings *settings)
{
	static const char *const speeds[] = {
#define SPEED_NAME(name, kilobaud, bits, of) [SPEED_##name] = #name,
		INFINIBAND_SPEEDS(SPEED_NAME)
#undef SPEED_NAME
	};
	const char *name = published_text(settings, "speed", "");

	for (unsigned i = 1; i < SPEED_COUNT; i++)
		if (strcmp(speeds[i], name) == 0)
			return (double)encoding_rate_bps(
				       (enum infiniband_speed)i,
				       (uint64_t)published_number(settings, "width", 4)) /
			       1e9;
	return published_number(settings, "gbps", 0);
}

static double measure_link_gbps(const struct published_settings *settings)
{
	return link_gbps(settings);
}

/* Returns the payload share of the middle packets of a message, including everything that they take
 * on the line. */
static double measure_goodput_percent(const struct published_settings *settings)
{
	double mtu = published_number(settings, "mtu", 4096);

	return 100 * mtu / line_bytes(settings, RC_WRITE_MIDDLE, mtu);
}

static double measure_goodput_gbps(const struct published_settings *settings)
{
	return link_gbps(settings) * measure_goodput_percent(settings) / 100;
}

/* Writes of one packet each. */
static double measure_write_mpps(const struct published_settings *settings)
{
	double bytes = published_number(settings, "bytes", 64);

	return link_gbps(settings) * 1e3 / 8 / line_bytes(settings, RC_WRITE_ONLY, bytes);
}

static double measure_packet_bytes(const struct published_settings *settings)
{
	const char *name = published_text(settings, "opcode", "");

#define OPCODE_BYTES(code, opcode_name, transport, operation, segment, headers, payload) \
	if (strcmp(name, #opcode_name) == 0)                                             \
		return line_bytes(settings, code, published_number(settings, "bytes", 0));
	OPCODES(OPCODE_BYTES)
#undef OPCODE_BYTES
	return 0;
}

static double measure_header_bytes(const struct published_settings *settings)
{
	const char *name = published_text(settings, "header", "");

#define HEADER_BYTES(with, header, bytes) \
	if (strcmp(name, #header) == 0)   \
		return bytes;
	HEADERS(HEADER_BYTES, _)
#undef HEADER_BYTES
	return 0;
}

static double measure_rnr_us(const struct published_settings *settings)
{
	unsigned code = (unsigned)published_number(settings, "code", 0) % 32;

	return (double)aeth_rnr_delay(code) / (double)US;
}

static double measure_headroom_bytes(const struct published_settings *settings)
{
	return (double)pause_headroom((uint64_t)(published_number(settings, "gbps", 100) * 1e9),
				      published_number(settings, "metres", 0),
				      (uint64_t)published_number(settings, "mtu", 4096));
}

static const struct {
	const char *name;
	double (*measure)(const struct published_settings *settings);
} measures[] = {
	{"link_gbps", measure_link_gbps},
	{"goodput_percent", measure_goodput_percent},
	{"goodput_gbps", measure_goodput_gbps},
	{"write_mpps", measure_write_mpps},
	{"packet_bytes", measure_packet_bytes},
	{"header_bytes", measure_header_bytes},
	{"rnr_us", measure_rnr_us},
	{"headroom_bytes", measure_headroom_bytes},
};

bool published_wire(const struct published_settings *settings, double *ours, char *error)
{
	const char *name = published_text(settings, "measure", "");

	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (strcmp(measures[i].name, name) != 0)
			continue;
		*ours = measures[i].measure(settings);
		return true;
	}
	snprintf(error, PUBLISHED_ERROR_BYTES, "no measure \"%s\"", name);
	return false;
}
