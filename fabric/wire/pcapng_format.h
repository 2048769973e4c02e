/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng_format: constants of the pcap and pcapng formats, for pcapng.c and capture.c. IETF
 * draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap; link types: the registry at tcpdump.org.
 */
#ifndef FABRIC_WIRE_PCAPNG_FORMAT_H
#define FABRIC_WIRE_PCAPNG_FORMAT_H

#define BYTE_ORDER_MAGIC  0x1a2b3c4du
#define PCAP_MAGIC_MICRO  0xa1b2c3d4u
#define PCAP_MAGIC_NANO   0xa1b23c4du
#define PCAP_HEADER_BYTES 24
#define PCAP_RECORD_BYTES 16

enum block_type_code {
	BLOCK_INTERFACE = 1,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a, /* a palindrome, which reads the same in both byte orders */
};

enum block_option {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_INTERFACE_NAME = 2,
	OPTION_SECTION_APPLICATION = 4,
	OPTION_INTERFACE_RESOLUTION = 9,
	OPTION_INTERFACE_OFFSET = 14,
};

/* Comment of a packet with fields of a congestion control: words of struct congestion_fields */
#define FIELDS_FORMAT     "congestion fields 0x%08x 0x%08x 0x%08x 0x%08x"
#define FIELDS_SCAN       "congestion fields 0x%8x 0x%8x 0x%8x 0x%8x"
#define FIELDS_TEXT_BYTES 64

enum link_type { LINKTYPE_ETHERNET = 1, LINKTYPE_ERF = 197, LINKTYPE_INFINIBAND = 247 };

#endif
