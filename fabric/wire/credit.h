/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credit: the flow control packet of an InfiniBand link: how many blocks of 64 bytes were sent in total (FCTBS)
 * and may be sent in total (FCCL), modulo 4096, on one virtual lane. IBTA vol. 1, 7.9.4.
 */
#ifndef FABRIC_WIRE_CREDIT_H
#define FABRIC_WIRE_CREDIT_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define CREDIT_BYTES 6

/* packet->opcode is the packet's Op. */
enum credit_op { CREDIT_NORMAL, CREDIT_INITIALIZE };

/* CREDIT_BYTES, from packet->vl, credit_total (FCTBS) and credit_limit (FCCL), with their LPCRC. Back again: what of it is malformed, if anything. */
void credit_build(const struct packet *packet, uint8_t *bytes);
enum parse_status credit_parse(const uint8_t *bytes, size_t length, struct packet *packet);

#endif
