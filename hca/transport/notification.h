/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notification: the notification point of a detailed adapter, which responds to marked packets.
 * RoCE uses CNPs (IBTA annex A17.9), which the CNP limiter limits. InfiniBand uses CNPs, or BECN in
 * the next ACK (annex A10). CNPs bypass the send queues: a CNP waits for no grant, and only takes
 * the latency of the pipeline before the port.
 *
 *     receive --notification_marked()--> CNP --> port
 *     responder --notification_asked()--> notification_respond() --> ACK
 */
#ifndef HCA_TRANSPORT_NOTIFICATION_H
#define HCA_TRANSPORT_NOTIFICATION_H

#include "hca/transport/cc_unit.h"
#include "hca/transport/send_segment.h"

/* Reports that a request or READ response of that queue pair arrived with CE or FECN. */
void notification_marked(struct qp *qp, const struct packet *packet);

/* Records the departure time and telemetry of the packet that the next ACK acknowledges. Takes
 * ownership of `telemetry`, which may be NULL. */
void notification_asked(struct qp *qp, sim_time asked_at, struct telemetry *telemetry);

/* Adds feedback to an ACK or NAK, the last packet of the segment. */
void notification_respond(struct qp *qp, struct send_segment *segment, bool is_ack);

void notification_init(struct cc_unit *unit);
void notification_fini(struct cc_unit *unit);

#endif
