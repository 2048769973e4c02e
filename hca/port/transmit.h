/*
 * transmit: packets with all their bytes go through a pipeline to the port, lane by lane as the
 * port has room; what is for the adapter itself turns round here.
 *
 *     send_unit --transmit_push()--> pipeline --> lanes --port_send()--> port
 *                                            \--> receive (loopback)
 */
#ifndef HCA_PORT_TRANSMIT_H
#define HCA_PORT_TRANSMIT_H

#include "hca/device/adapter.h"

/* clang-format off */
#define TRANSMIT_COUNTERS(X)                                                                       \
	X(packets,       "packets", "handed to the port")                                          \
	X(payload_bytes, "bytes",   "of them")                                                     \
	X(loopback,      "packets", "turned round inside")                                         \
	X(waits,         "packets", "that found no room in the port")

#define TRANSMIT_TRACE(X)                                                                          \
	X(SEND, "psn", "opcode", "a packet was handed to the port")
/* clang-format on */

struct transmit_counters {
	TRANSMIT_COUNTERS(COUNTER_FIELD)
};

#define LOOPBACK_INGRESS UINT16_MAX /* packet->ingress of what turned round */

struct transmit;

struct transmit *transmit_create(struct hca *hca, const char *name);
void transmit_destroy(struct transmit *transmit);
void transmit_push(struct transmit *transmit, struct packet *packet);
void transmit_room(struct transmit *transmit, unsigned lane);
const struct transmit_counters *transmit_counters(const struct transmit *transmit);

#endif
