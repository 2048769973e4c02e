/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_status: errors of codec_parse() and the layers below it, one line each: X(name, meaning). A
 * wrong ICRC, VCRC or FCS is not a parse error. packet->damage reports it.
 */
#ifndef FABRIC_WIRE_PARSE_STATUS_H
#define FABRIC_WIRE_PARSE_STATUS_H

/* clang-format off */
#define PARSE_STATUSES(X)                                                      \
	X(OK,              "well formed")                                      \
	X(NOT_RDMA,        "not an InfiniBand transport packet")               \
	X(TRUNCATED,       "ends before the length in its headers")            \
	X(LRH_VERSION,     "LRH link version is not 0")                        \
	X(GRH_VERSION,     "GRH IP version is not 6")                          \
	X(GRH_NEXT_HEADER, "GRH next header is not 0x1b")                      \
	X(GRH_LENGTH,      "GRH payload length disagrees with the packet")     \
	X(IP_HEADER,       "IP header of another version or with options")     \
	X(IP_FRAGMENT,     "IP fragment")                                      \
	X(IP_CHECKSUM,     "IPv4 header checksum is wrong")                    \
	X(UDP_LENGTH,      "UDP length disagrees with IP")                     \
	X(UDP_CHECKSUM,    "UDP checksum is neither 0 nor right")              \
	X(TCP_HEADER,      "TCP data offset is below 5 or beyond the segment") \
	X(TCP_OPTION,      "TCP option is longer than the header")             \
	X(TCP_CHECKSUM,    "TCP checksum is wrong")                            \
	X(BTH_VERSION,     "BTH transport version is not 0")                   \
	X(BTH_OPCODE,      "BTH opcode is unknown")                            \
	X(BTH_LENGTH,      "length does not fit the opcode and the pad count") \
	X(PAYLOAD_LENGTH,  "payload is longer than 4096 bytes")                \
	X(PFC_OPCODE,      "MAC control frame other than PFC")                 \
	X(LPCRC,           "link packet CRC is wrong")                         \
	X(MPA_CRC,         "CRC of the FPDU is wrong")                         \
	X(MPA_MARKER,      "MPA marker does not point to its FPDU")            \
	X(MPA_STARTUP,     "neither an MPA request nor an MPA reply")          \
	X(DDP_VERSION,     "DDP version is not 1")                             \
	X(RDMAP_OPCODE,    "RDMAP version is not 1, or opcode is unknown")     \
	X(RDMAP_QUEUE,     "DDP segment does not fit the RDMAP opcode")        \
	X(RDMAP_TERMINATE, "Terminate does not fit its header control bits")

#define PARSE_STATUS_ENUM(name, meaning) PARSE_##name,
enum parse_status { PARSE_STATUSES(PARSE_STATUS_ENUM) PARSE_STATUS_COUNT };
/* clang-format on */

const char *parse_status_meaning(enum parse_status status);

#endif
