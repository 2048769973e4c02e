/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pcapng: parses any bytes as a capture file, pcap or pcapng. No record extends beyond the
 * file, and each can be parsed and printed.
 */
#include <assert.h>
#include <stdio.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/decode_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct capture_record *record)
{
	static FILE *nowhere;
	struct packet packet = {0};
	struct path path = {0};
	struct decoded decoded = {.record = record, .packet = &packet};

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	assert(nowhere);
	if (record->readable)
		decoded.status = codec_parse_cut(record->bytes, record->length, record->whole,
						 record->link_layer, &packet, &path);
	decode_print_fields(nowhere, &decoded);
	decode_print_json(nowhere, &decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture *capture = capture_create(data, size);
	struct capture_record record;

	if (!capture)
		return 0;
	while (capture_next(capture, &record) == CAPTURE_RECORD) {
		assert(record.bytes >= data && record.bytes + record.length <= data + size);
		assert(record.nanoseconds < 1000000000);
		print(&record);
	}
	capture_destroy(capture);
	return 0;
}
