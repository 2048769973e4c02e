/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: reads pcap and pcapng capture files of either byte order. Each record is an Ethernet
 * frame or an InfiniBand packet. Link types: Ethernet (1), ERF (197; types Ethernet, InfiniBand and
 * its link packets) and InfiniBand (247).
 */
#ifndef FABRIC_WIRE_CAPTURE_H
#define FABRIC_WIRE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/wire/path.h"

struct capture;

struct capture_record {
	uint64_t number;  /* in the file, from 1 */
	uint64_t seconds; /* since the start of the file's clock */
	uint32_t nanoseconds;
	uint32_t interface;      /* number in the file */
	char interface_name[32]; /* "" if the file has no name */
	bool readable;           /* false if the link type or ERF type is unknown */
	enum link_layer link_layer;
	const uint8_t *bytes; /* bytes of the packet alone, in the memory of the capture */
	size_t length;
	bool cut; /* the capture has fewer bytes than the packet */
	/* fields of a congestion control in a comment, as pcapng_write() writes it */
	bool has_fields;
	uint32_t fields[4];
	size_t whole; /* bytes of the packet, cut or not */
};

enum capture_status { CAPTURE_RECORD, CAPTURE_END, CAPTURE_BROKEN };

/* Opens a capture. The caller owns `bytes`, which must outlive the capture. Returns NULL if the
 * file is neither pcap nor pcapng. */
struct capture *capture_create(const uint8_t *bytes, size_t length);
void capture_destroy(struct capture *capture);

/* Reads the next record. Returns CAPTURE_BROKEN if the file is damaged from here on;
 * capture_error() then returns the reason. */
enum capture_status capture_next(struct capture *capture, struct capture_record *record);
const char *capture_error(const struct capture *capture);

#endif
