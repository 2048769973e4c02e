/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge: a second implementation of the standard's CRCs, bit by bit, which shares nothing with
 * fabric/wire: no table, no zlib, no mask list. It is slow and simple, so that it can be compared
 * with the text.
 */
#ifndef TESTS_WIRE_SUPPORT_JUDGE_H
#define TESTS_WIRE_SUPPORT_JUDGE_H

#include <stddef.h>
#include <stdint.h>

/* Calculates the correct ICRC of an Ethernet frame with RoCE, which has no tag and ends with its
 * ICRC. */
void judge_roce_icrc(const uint8_t *frame, size_t length, uint8_t icrc[4]);

/* Calculates the correct ICRC and VCRC of a packet, which begins with its LRH and ends with its
 * VCRC. */
void judge_infiniband_crcs(const uint8_t *packet, size_t length, uint8_t crcs[6]);

/* Calculates the two bytes of the CRC that follow the four bytes of a link packet. */
void judge_link_crc(const uint8_t bytes[4], uint8_t crc[2]);

#endif
