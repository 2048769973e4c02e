/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notification: the notification point of a detailed adapter: packets that came marked, and what is said of them. RoCE: CNPs
 * (IBTA annex A17.9), no more often than the limiter lets pass; InfiniBand: these, or BECN in the next ACK (annex A10). A CNP is made
 * beside the send queues: it waits for no queue pair's grant, and has the pipeline's latency before the port.
 *
 *     receive --notification_marked()--> CNP --> port
 *     responder --notification_asked()--> notification_respond() --> ACK
 */
#ifndef HCA_TRANSPORT_NOTIFICATION_H
#define HCA_TRANSPORT_NOTIFICATION_H

#include "hca/transport/cc_unit.h"
#include "hca/transport/send_segment.h"

/* A request or a read response of that queue pair came with CE or FECN. */
void notification_marked(struct qp *qp, const struct packet *packet);

/* The next ACK responds to a packet that left at asked_at, with that telemetry, which is ours from now on; NULL: none. */
void notification_asked(struct qp *qp, sim_time asked_at, struct telemetry *telemetry);

/* An ACK or NAK, the last packet of the segment, is on its way: what goes with it. */
void notification_respond(struct qp *qp, struct send_segment *segment, bool is_ack);

void notification_init(struct cc_unit *unit);
void notification_fini(struct cc_unit *unit);

#endif
