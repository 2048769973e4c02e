/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_packet: parses any bytes as a packet; the first byte selects the link layer. A parsed packet
 * must rebuild to bytes that parse to the same packet.
 */
#include <assert.h>
#include <string.h>

#include "fabric/wire/codec.h"
#include "fabric/wire/erspan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A frame in an ERSPAN packet begins within the bytes, and its length can be told from them. */
static void check_mirrored(const uint8_t *frame, size_t length)
{
	struct erspan erspan;
	size_t inner_bytes, start = erspan_parse(frame, length, &erspan, &inner_bytes);

	assert(start <= length);
	if (start)
		(void)erspan_whole(frame + start, length - start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct payload payload_one, payload_two;
	struct packet one = {.payload = &payload_one}, two = {.payload = &payload_two};
	struct path path_one, path_two;
	uint8_t bytes[PACKET_BYTES_MAX];
	enum link_layer link_layer;
	enum parse_status status;
	size_t length;

	if (size == 0)
		return 0;
	check_mirrored(data + 1, size - 1);
	link_layer = data[0] & 1 ? LINK_ETHERNET : LINK_INFINIBAND;
	if (codec_parse(data + 1, size - 1, link_layer, &one, &path_one) != PARSE_OK)
		return 0;
	length = codec_build(&one, bytes, sizeof(bytes));
	status = codec_parse(bytes, length, link_layer, &two, &path_two);
	assert(status == PARSE_OK);
	assert(memcmp(payload_one.bytes, payload_two.bytes, one.payload_bytes) == 0);
	/* A capture may lack the VCRC, which is built anew; pointers are each packet's own. */
	one.payload = two.payload = NULL;
	one.path = two.path = NULL;
	assert(memcmp(&one, &two, sizeof(one)) == 0);
	assert(memcmp(&path_one, &path_two, sizeof(path_one)) == 0);
	return 0;
}
