/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpa: see mpa.h. FPDUs and markers have lengths that are multiples of four, so a marker is never
 * inside the CRC.
 */
#include "fabric/wire/mpa.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/crc32c.h"

/* ---- FPDUs ---- */

uint32_t mpa_pad_bytes(uint32_t ulpdu_bytes)
{
	return -(MPA_LENGTH_BYTES + ulpdu_bytes) & 3;
}

/* Returns the bytes before the CRC, without markers. */
static uint32_t content_bytes(uint32_t ulpdu_bytes)
{
	return MPA_LENGTH_BYTES + ulpdu_bytes + mpa_pad_bytes(ulpdu_bytes);
}

/* Returns the bytes from a position to the next marker, 0 for a marker there. */
static uint32_t marker_distance(struct mpa_place place)
{
	return (uint32_t)(-place.position % MPA_MARKER_EVERY);
}

uint32_t mpa_fpdu_bytes(struct mpa_place place, uint32_t ulpdu_bytes)
{
	uint32_t bytes = content_bytes(ulpdu_bytes) + MPA_CRC_BYTES;
	uint32_t first = marker_distance(place);

	if (!place.markers || first >= bytes)
		return bytes;
	/* each marker is followed by 508 bytes of the FPDU */
	return bytes +
	       MPA_MARKER_BYTES * (1 + (bytes - first - 1) / (MPA_MARKER_EVERY - MPA_MARKER_BYTES));
}

/* Subtracts, by RFC 5044 4.1 and 5.1, the FPDU without ULPDU, the markers, and the rest of four
 * bytes. */
uint32_t mpa_ulpdu_max(uint32_t emss, bool markers)
{
	uint32_t taken = MPA_LENGTH_BYTES + MPA_CRC_BYTES + emss % 4;

	if (markers)
		taken += MPA_MARKER_BYTES * ((emss + MPA_MARKER_EVERY - 1) / MPA_MARKER_EVERY);
	return emss > taken ? emss - taken : 0;
}

/* State of writing or reading an FPDU. */
struct cursor {
	struct mpa_place place; /* of the next byte */
	uint64_t start;         /* position of the ULPDU length */
	uint32_t at;            /* offset of the next byte in the FPDU */
};

static struct cursor cursor_at(struct mpa_place place)
{
	struct cursor cursor = {.place = place, .start = place.position};

	if (place.markers && marker_distance(place) == 0)
		cursor.start += MPA_MARKER_BYTES;
	return cursor;
}

static void cursor_move(struct cursor *cursor, uint32_t bytes)
{
	cursor->place.position += bytes;
	cursor->at += bytes;
}

static bool marker_due(const struct cursor *cursor)
{
	return cursor->place.markers && marker_distance(cursor->place) == 0;
}

/* Returns FPDUPTR: the bytes from the ULPDU length to the marker. */
static uint32_t marker_value(const struct cursor *cursor)
{
	return cursor->place.position < cursor->start
		       ? 0
		       : (uint32_t)(cursor->place.position - cursor->start);
}

/* Returns the bytes that come next without a marker, at most `bytes`. */
static uint32_t run_bytes(const struct cursor *cursor, uint32_t bytes)
{
	uint32_t left = marker_distance(cursor->place);

	return cursor->place.markers && left < bytes ? left : bytes;
}

static void put(struct cursor *cursor, uint8_t *bytes, const uint8_t *from, uint32_t count)
{
	while (count > 0) {
		uint32_t run;

		if (marker_due(cursor)) {
			be32_put(bytes + cursor->at, marker_value(cursor));
			cursor_move(cursor, MPA_MARKER_BYTES);
		}
		run = run_bytes(cursor, count);
		memcpy(bytes + cursor->at, from, run);
		cursor_move(cursor, run);
		from += run;
		count -= run;
	}
}

void mpa_fpdu_build(struct mpa_place place, const uint8_t *ulpdu, uint32_t ulpdu_bytes,
		    uint8_t *bytes)
{
	static const uint8_t zeros[4];
	struct cursor cursor = cursor_at(place);
	uint8_t length[MPA_LENGTH_BYTES];

	assert(ulpdu_bytes <= MPA_ULPDU_MAX && place.position % 4 == 0);
	be16_put(length, (uint16_t)ulpdu_bytes);
	put(&cursor, bytes, length, MPA_LENGTH_BYTES);
	put(&cursor, bytes, ulpdu, ulpdu_bytes);
	put(&cursor, bytes, zeros, mpa_pad_bytes(ulpdu_bytes));
	if (marker_due(&cursor)) {
		be32_put(bytes + cursor.at, marker_value(&cursor));
		cursor_move(&cursor, MPA_MARKER_BYTES);
	}
	le32_put(bytes + cursor.at, crc32c(0, bytes, cursor.at));
}

/* Reads `count` bytes. Returns false if a marker is wrong. */
static bool get(struct cursor *cursor, const uint8_t *bytes, uint8_t *to, uint32_t count)
{
	while (count > 0) {
		uint32_t run;

		if (marker_due(cursor)) {
			if (be32_get(bytes + cursor->at) != marker_value(cursor))
				return false;
			cursor_move(cursor, MPA_MARKER_BYTES);
		}
		run = run_bytes(cursor, count);
		memcpy(to, bytes + cursor->at, run);
		cursor_move(cursor, run);
		to += run;
		count -= run;
	}
	return true;
}

enum parse_status mpa_fpdu_parse(struct mpa_place place, const uint8_t *bytes, size_t length,
				 uint8_t *ulpdu, uint32_t *ulpdu_bytes, size_t *fpdu_bytes)
{
	struct cursor cursor = cursor_at(place);
	uint8_t rest[4];
	uint32_t first = (uint32_t)(cursor.start - place.position);

	assert(place.position % 4 == 0);
	if (length < first + MPA_LENGTH_BYTES)
		return PARSE_TRUNCATED;
	*ulpdu_bytes = be16_get(bytes + first);
	*fpdu_bytes = mpa_fpdu_bytes(place, *ulpdu_bytes);
	if (length < *fpdu_bytes)
		return PARSE_TRUNCATED;
	if (le32_get(bytes + *fpdu_bytes - MPA_CRC_BYTES) !=
	    crc32c(0, bytes, *fpdu_bytes - MPA_CRC_BYTES))
		return PARSE_MPA_CRC;
	if (!get(&cursor, bytes, rest, MPA_LENGTH_BYTES) ||
	    !get(&cursor, bytes, ulpdu, *ulpdu_bytes) ||
	    !get(&cursor, bytes, rest, mpa_pad_bytes(*ulpdu_bytes)) ||
	    !get(&cursor, bytes, rest, MPA_CRC_BYTES))
		return PARSE_MPA_MARKER;
	return PARSE_OK;
}

/* ---- startup frames ---- */

enum {
	KEY_BYTES = 16,
	FLAGS_AT = 16,
	REVISION_AT = 17,
	PRIVATE_LENGTH_AT = 18,
	FLAG_MARKERS = 0x80,
	FLAG_CRC = 0x40,
	FLAG_REJECT = 0x20,
	FLAG_ENHANCED = 0x10, /* S, RFC 6581 7 */
	/* RFC 6581 9.1: A and B beside IRD, C and D beside ORD */
	DEPTH_FIRST = 0x8000,
	DEPTH_SECOND = 0x4000,
};

static const char keys[2][KEY_BYTES + 1] = {"MPA ID Req Frame", "MPA ID Rep Frame"};

static uint32_t depths_bytes(const struct mpa_startup *startup)
{
	return startup->enhanced ? MPA_DEPTHS_BYTES : 0;
}

uint32_t mpa_startup_bytes(const struct mpa_startup *startup)
{
	return MPA_STARTUP_BYTES + depths_bytes(startup) + startup->private_bytes;
}

void mpa_startup_build(const struct mpa_startup *startup, uint8_t *bytes)
{
	uint32_t depths = depths_bytes(startup), private_bytes = depths + startup->private_bytes;

	assert(private_bytes <= MPA_PRIVATE_DATA_MAX);
	assert(startup->ird <= MPA_DEPTH_MAX && startup->ord <= MPA_DEPTH_MAX);
	memcpy(bytes, keys[startup->reply], KEY_BYTES);
	bytes[FLAGS_AT] =
		(uint8_t)((startup->markers ? FLAG_MARKERS : 0) | (startup->crc ? FLAG_CRC : 0) |
			  (startup->reject ? FLAG_REJECT : 0) |
			  (startup->enhanced ? FLAG_ENHANCED : 0));
	bytes[REVISION_AT] = startup->revision;
	be16_put(bytes + PRIVATE_LENGTH_AT, (uint16_t)private_bytes);
	bytes += MPA_STARTUP_BYTES;
	if (startup->enhanced) {
		be16_put(bytes,
			 (uint16_t)(startup->ird | (startup->peer_to_peer ? DEPTH_FIRST : 0) |
				    (startup->rtr_empty ? DEPTH_SECOND : 0)));
		be16_put(bytes + 2,
			 (uint16_t)(startup->ord | (startup->rtr_write ? DEPTH_FIRST : 0) |
				    (startup->rtr_read ? DEPTH_SECOND : 0)));
	}
	if (startup->private_bytes)
		memcpy(bytes + depths, startup->private_data, startup->private_bytes);
}

static void depths_parse(const uint8_t *bytes, struct mpa_startup *startup)
{
	uint16_t ird = be16_get(bytes), ord = be16_get(bytes + 2);

	startup->ird = ird & MPA_DEPTH_MAX;
	startup->peer_to_peer = ird & DEPTH_FIRST;
	startup->rtr_empty = ird & DEPTH_SECOND;
	startup->ord = ord & MPA_DEPTH_MAX;
	startup->rtr_write = ord & DEPTH_FIRST;
	startup->rtr_read = ord & DEPTH_SECOND;
}

enum parse_status mpa_startup_parse(const uint8_t *bytes, size_t length,
				    struct mpa_startup *startup)
{
	uint32_t private_bytes, depths;

	memset(startup, 0, sizeof(*startup));
	if (length < MPA_STARTUP_BYTES)
		return PARSE_TRUNCATED;
	startup->reply = memcmp(bytes, keys[1], KEY_BYTES) == 0;
	if (!startup->reply && memcmp(bytes, keys[0], KEY_BYTES) != 0)
		return PARSE_MPA_STARTUP;
	startup->markers = bytes[FLAGS_AT] & FLAG_MARKERS;
	startup->crc = bytes[FLAGS_AT] & FLAG_CRC;
	startup->reject = bytes[FLAGS_AT] & FLAG_REJECT;
	startup->revision = bytes[REVISION_AT];
	if (startup->revision != 1 && startup->revision != 2)
		return PARSE_MPA_STARTUP;
	startup->enhanced = startup->revision == 2 && bytes[FLAGS_AT] & FLAG_ENHANCED;
	private_bytes = be16_get(bytes + PRIVATE_LENGTH_AT);
	depths = depths_bytes(startup);
	if (private_bytes > MPA_PRIVATE_DATA_MAX || private_bytes < depths)
		return PARSE_MPA_STARTUP;
	if (length < MPA_STARTUP_BYTES + private_bytes)
		return PARSE_TRUNCATED;
	bytes += MPA_STARTUP_BYTES;
	if (startup->enhanced)
		depths_parse(bytes, startup);
	startup->private_bytes = (uint16_t)(private_bytes - depths);
	startup->private_data = bytes + depths;
	return PARSE_OK;
}
