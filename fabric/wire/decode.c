/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode: reads a file into memory, and applies capture.c to it, codec_parse() to each record, and
 * decode_print.c to each result.
 */
#include "fabric/wire/decode.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/decode_print.h"
#include "fabric/wire/erspan.h"
#include "fabric/wire/vcrc.h"
#include "sim/input.h"

enum decode_status { DECODE_RIGHT, DECODE_WRONG, DECODE_UNREADABLE }; /* exit status */

struct decode_counts {
	uint64_t packets;
	uint64_t judged; /* complete packets with a BTH */
	uint64_t wrong_icrc;
	uint64_t wrong_vcrc;
	uint64_t malformed;
	uint64_t cut; /* by the capture */
};

/* Returns NULL and sets errno on failure. */
static uint8_t *file_read(const char *path, size_t *length)
{
	FILE *file = input_open(path);
	size_t space = 1 << 16;
	uint8_t *bytes;
	int error = 0;

	if (!file)
		return NULL;
	bytes = malloc(space);
	if (!bytes)
		abort();
	*length = 0;
	for (;;) {
		size_t count = fread(bytes + *length, 1, space - *length, file);

		*length += count;
		if (*length < space)
			break;
		space *= 2;
		bytes = realloc(bytes, space);
		if (!bytes)
			abort();
	}
	if (ferror(file))
		error = errno ? errno : EIO;
	fclose(file);
	if (!error)
		return bytes;
	free(bytes);
	errno = error;
	return NULL;
}

static bool is_malformed(enum parse_status status, const struct capture_record *record)
{
	if (status == PARSE_OK || status == PARSE_NOT_RDMA || status == PARSE_BTH_OPCODE)
		return false;
	return !(record->cut && status == PARSE_TRUNCATED);
}

/* A capture may lack the VCRC. */
static bool has_crcs(const struct capture_record *record)
{
	return !record->cut || record->length + VCRC_BYTES >= record->whole;
}

/* Replaces a frame of a port mirror by the frame in it. */
static bool unwrap(struct capture_record *record, struct erspan *erspan)
{
	size_t whole, start = 0;

	if (record->readable && record->link_layer == LINK_ETHERNET)
		start = erspan_parse(record->bytes, record->length, erspan, &whole);
	if (!start)
		return false;
	record->bytes += start;
	record->length -= start;
	if (record->length > whole)
		record->length = whole;
	record->whole = erspan->truncated ? erspan_whole(record->bytes, record->length) : whole;
	record->cut = record->length < record->whole;
	return true;
}

static void record_decode(struct capture_record *record, FILE *out,
			  const struct decode_options *options, struct decode_counts *counts)
{
	struct packet packet = {0};
	struct path path = {0};
	struct decoded decoded = {.record = record, .packet = &packet};

	counts->packets++;
	decoded.is_mirrored = unwrap(record, &decoded.erspan);
	if (record->readable) {
		decoded.status = codec_parse_cut(record->bytes, record->length, record->whole,
						 record->link_layer, &packet, &path);
		counts->judged += has_crcs(record) && (decoded.status == PARSE_OK ||
						       decoded.status == PARSE_BTH_OPCODE);
		decoded.malformed = is_malformed(decoded.status, record);
		counts->malformed += decoded.malformed;
		counts->cut += record->cut && !decoded.erspan.truncated;
		counts->wrong_icrc += (packet.damage & DAMAGE_ICRC) != 0;
		counts->wrong_vcrc += (packet.damage & DAMAGE_VCRC) != 0;
	}
	if (options->json)
		decode_print_json(out, &decoded);
	else if (options->verbose)
		decode_print_fields(out, &decoded);
	else
		decode_print_line(out, &decoded);
}

static enum decode_status capture_decode(struct capture *capture, const char *path, FILE *out,
					 FILE *err, const struct decode_options *options)
{
	struct decode_counts counts = {0};
	struct capture_record record;
	enum capture_status status;

	while ((status = capture_next(capture, &record)) == CAPTURE_RECORD)
		record_decode(&record, out, options, &counts);
	if (!options->json)
		fprintf(out,
			"%llu packets, %llu checked: %llu wrong ICRC, %llu wrong VCRC, %llu "
			"malformed\n",
			(unsigned long long)counts.packets, (unsigned long long)counts.judged,
			(unsigned long long)counts.wrong_icrc,
			(unsigned long long)counts.wrong_vcrc,
			(unsigned long long)counts.malformed);
	if (counts.cut)
		fprintf(err,
			"%s: %llu packets are cut short by the capture (record.snap of a run); "
			"their headers are shown, their CRCs are not checked\n",
			path, (unsigned long long)counts.cut);
	if (status == CAPTURE_BROKEN) {
		fprintf(err, "%s: after packet %llu: %s\n", path,
			(unsigned long long)counts.packets, capture_error(capture));
		return DECODE_UNREADABLE;
	}
	return counts.wrong_icrc || counts.wrong_vcrc || counts.malformed ? DECODE_WRONG
									  : DECODE_RIGHT;
}

int decode_file(const char *path, FILE *out, FILE *err, const struct decode_options *options)
{
	enum decode_status status;
	struct capture *capture;
	size_t length;
	uint8_t *bytes = file_read(path, &length);

	if (!bytes) {
		fprintf(err, "%s: %s\n", path, input_error());
		return DECODE_UNREADABLE;
	}
	capture = capture_create(bytes, length);
	if (!capture) {
		fprintf(err, "%s: neither a pcap nor a pcapng file\n", path);
		free(bytes);
		return DECODE_UNREADABLE;
	}
	status = capture_decode(capture, path, out, err, options);
	if (fflush(out) != 0 || ferror(out)) {
		fprintf(err, "%s: the packets cannot be written: %s\n", path, strerror(errno));
		status = DECODE_UNREADABLE;
	}
	capture_destroy(capture);
	free(bytes);
	return (int)status;
}
