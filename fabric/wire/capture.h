/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: reads capture files, pcap and pcapng, of either byte order, record by record, as an Ethernet frame or
 * an InfiniBand packet each. Link types Ethernet (1), ERF (197; types Ethernet, InfiniBand and its link packets)
 * and InfiniBand (247).
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
	uint64_t seconds; /* since whatever the file's clock began */
	uint32_t nanoseconds;
	uint32_t interface;      /* number in the file */
	char interface_name[32]; /* "" if the file does not say */
	bool readable;           /* false: a link type or ERF type that is not known here */
	enum link_layer link_layer;
	const uint8_t *bytes; /* in the capture's memory; of the packet alone */
	size_t length;
	bool cut; /* the capture holds less than was on the wire */
};

enum capture_status { CAPTURE_RECORD, CAPTURE_END, CAPTURE_BROKEN };

/* bytes stay the caller's, and outlive the capture. NULL: neither pcap nor pcapng. */
struct capture *capture_create(const uint8_t *bytes, size_t length);
void capture_destroy(struct capture *capture);

/* BROKEN: the file is damaged from here on; capture_error() says how. */
enum capture_status capture_next(struct capture *capture, struct capture_record *record);
const char *capture_error(const struct capture *capture);

#endif
