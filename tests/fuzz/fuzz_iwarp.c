/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_iwarp: parses any bytes as a startup frame of MPA, as headers and payload of RDMAP, and as
 * an FPDU. What is parsed must rebuild to bytes that parse to the same.
 *
 * Input: the format, the place of an FPDU in its stream, and the bytes. The CRC of an FPDU is put
 * in before it is parsed, so that the input gets past it.
 */
#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/crc32c.h"
#include "fabric/wire/mpa.h"
#include "fabric/wire/rdmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_startup(const uint8_t *data, size_t size)
{
	uint8_t bytes[MPA_STARTUP_BYTES + MPA_PRIVATE_DATA_MAX];
	struct mpa_startup one, two;

	if (mpa_startup_parse(data, size, &one) != PARSE_OK)
		return;
	mpa_startup_build(&one, bytes);
	assert(mpa_startup_parse(bytes, mpa_startup_bytes(&one), &two) == PARSE_OK);
	assert(memcmp(one.private_data, two.private_data, one.private_bytes) == 0);
	one.private_data = two.private_data = NULL;
	assert(memcmp(&one, &two, sizeof(one)) == 0);
}

static void try_header(const uint8_t *data, size_t size)
{
	uint8_t bytes[DDP_HEADER_MAX];
	struct rdmap_header one, two;

	if (rdmap_header_parse(data, size, &one) != PARSE_OK)
		return;
	rdmap_header_build(&one, bytes);
	assert(rdmap_header_parse(bytes, rdmap_header_bytes(one.opcode), &two) == PARSE_OK);
	assert(memcmp(&one, &two, sizeof(one)) == 0);
}

static void try_terminate(const uint8_t *data, size_t size)
{
	uint8_t bytes[RDMAP_TERMINATE_BYTES_MAX];
	struct rdmap_terminate one, two;

	if (rdmap_terminate_parse(data, size, &one) != PARSE_OK)
		return;
	rdmap_terminate_build(&one, bytes);
	assert(rdmap_terminate_parse(bytes, rdmap_terminate_bytes(&one), &two) == PARSE_OK);
	assert(memcmp(&one, &two, sizeof(one)) == 0);
}

static void try_fpdu(struct mpa_place place, const uint8_t *data, size_t size)
{
	static uint8_t bytes[1 << 17], ulpdu[MPA_ULPDU_MAX], again[MPA_ULPDU_MAX];
	uint32_t ulpdu_bytes, again_bytes,
		first = place.markers && place.position % 512 == 0 ? 4 : 0;
	size_t length, fpdu_bytes;

	if (size < first + 2 || size > sizeof(bytes))
		return;
	memcpy(bytes, data, size);
	length = mpa_fpdu_bytes(place, be16_get(bytes + first));
	if (length <= size)
		le32_put(bytes + length - 4, crc32c(0, bytes, length - 4));
	if (mpa_fpdu_parse(place, bytes, size, ulpdu, &ulpdu_bytes, &fpdu_bytes) != PARSE_OK)
		return;
	assert(fpdu_bytes == length);
	mpa_fpdu_build(place, ulpdu, ulpdu_bytes, bytes);
	assert(mpa_fpdu_parse(place, bytes, length, again, &again_bytes, &fpdu_bytes) == PARSE_OK);
	assert(fpdu_bytes == length && again_bytes == ulpdu_bytes);
	assert(memcmp(ulpdu, again, ulpdu_bytes) == 0);
	try_header(ulpdu, ulpdu_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	switch (data[0] & 3) {
	case 0:
		try_startup(data + 2, size - 2);
		break;
	case 1:
		try_header(data + 2, size - 2);
		break;
	case 2:
		try_terminate(data + 2, size - 2);
		break;
	default:
		try_fpdu((struct mpa_place){data[0] & 4, 4 * (uint64_t)data[1]}, data + 2,
			 size - 2);
	}
	return 0;
}
