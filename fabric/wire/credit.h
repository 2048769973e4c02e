/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credit: the flow control packet of an InfiniBand link. It carries two totals of one virtual lane
 * in blocks of 64 bytes, modulo 4096: sent (FCTBS) and allowed (FCCL). IBTA vol. 1, 7.9.4.
 */
#ifndef FABRIC_WIRE_CREDIT_H
#define FABRIC_WIRE_CREDIT_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define CREDIT_BYTES 6

/* packet->opcode holds the Op field. */
enum credit_op { CREDIT_NORMAL, CREDIT_INITIALIZE };

/* Convert packet->vl, credit_total (FCTBS) and credit_limit (FCCL) to CREDIT_BYTES bytes with their
 * LPCRC, and back. credit_parse() returns the first error. */
void credit_build(const struct packet *packet, uint8_t *bytes);
enum parse_status credit_parse(const uint8_t *bytes, size_t length, struct packet *packet);

#endif
