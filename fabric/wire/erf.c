/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erf: time in 2^-32 s (little-endian), type, flags, record length, losses, wire length
 * (big-endian). pcapng.c and capture.c call these functions.
 */
#include "fabric/wire/erf.h"

#include <assert.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/credit.h"

#define FLAG_INTERFACE      0x03
#define FLAG_VARYING_LENGTH 0x04
#define TYPE_EXTENDED \
	0x80 /* another header of 8 bytes follows, and so on while the first bit is set */
#define EXTENSION_BYTES    8
#define ETHERNET_PAD_BYTES 2

static uint64_t time_of(sim_time at)
{
	uint64_t left = at % SEC; /* < 2^40: shifting by 24 fits, the other 8 follow */
	uint64_t high = (left << 24) / SEC;

	return at / SEC << 32 | high << 8 | ((left << 24) % SEC << 8) / SEC;
}

void erf_build(enum erf_type type, unsigned interface, sim_time at, size_t packet_bytes,
	       uint8_t *bytes)
{
	assert(ERF_BYTES + packet_bytes <= UINT16_MAX);
	le64_put(bytes, time_of(at));
	bytes[8] = (uint8_t)type;
	bytes[9] = (uint8_t)((interface & FLAG_INTERFACE) | FLAG_VARYING_LENGTH);
	be16_put(bytes + 10, (uint16_t)(ERF_BYTES + packet_bytes));
	be16_put(bytes + 12, 0);
	be16_put(bytes + 14, (uint16_t)packet_bytes);
}

bool erf_parse(const uint8_t *bytes, size_t length, unsigned *type, unsigned *interface,
	       size_t *header_bytes, size_t *packet_bytes)
{
	size_t wire_bytes;
	bool more;

	if (length < ERF_BYTES)
		return false;
	*type = bytes[8] & ~TYPE_EXTENDED & 0xff;
	*interface = bytes[9] & FLAG_INTERFACE;
	*header_bytes = ERF_BYTES;
	for (more = bytes[8] & TYPE_EXTENDED; more; *header_bytes += EXTENSION_BYTES) {
		if (length < *header_bytes + EXTENSION_BYTES)
			return false;
		more = bytes[*header_bytes] & TYPE_EXTENDED;
	}
	if (*type == ERF_ETHERNET)
		*header_bytes += ETHERNET_PAD_BYTES;
	if (length < *header_bytes)
		return false;
	wire_bytes = *type == ERF_INFINIBAND_LINK ? CREDIT_BYTES : be16_get(bytes + 14);
	*packet_bytes = length - *header_bytes < wire_bytes ? length - *header_bytes : wire_bytes;
	return true;
}
