/* SPDX-License-Identifier: Apache-2.0 */
/* hw_counters: see hw_counters.h. Counters of events that hcasim does not simulate (symbol errors,
 * violations) are absent. */
#include "hca/device/hw_counters.h"

#include <stddef.h>

#include "fabric/port.h"
#include "hca/device/adapter.h"
#include "hca/transport/cc_unit.h"
#include "hca/transport/transport.h"

enum { DATA_UNIT = 4, VCRC_BYTES = 2 };

static const struct port_counters *port(const struct hca *hca)
{
	return port_counters(hca->port);
}

static const struct transport_counters *transport(const struct hca *hca)
{
	return transport_counters(hca->transport);
}

/* Returns the counters of congestion control, which are all 0 if it is off. */
static const struct cc_unit_counters *congestion(const struct hca *hca)
{
	static const struct cc_unit_counters none;

	return hca->transport->congestion ? cc_unit_counters(hca->transport->congestion) : &none;
}

static uint64_t data(const struct hca *hca, uint64_t bytes, uint64_t packets)
{
	uint64_t behind = hca->link_layer == LINK_INFINIBAND ? VCRC_BYTES : 0;

	return (bytes - behind * packets) / DATA_UNIT;
}

/* clang-format off */
#define HW_COUNTERS(X) \
	X(port_xmit_data, true, false, \
	  data(hca, port(hca)->bytes_sent, port(hca)->packets_sent)) \
	X(port_rcv_data, true, false, \
	  data(hca, port(hca)->bytes_received, port(hca)->packets_received)) \
	X(port_xmit_packets, true, false, port(hca)->packets_sent) \
	X(port_rcv_packets, true, false, port(hca)->packets_received) \
	X(unicast_xmit_packets, true, false, port(hca)->packets_sent) \
	X(unicast_rcv_packets, true, false, port(hca)->packets_received) \
	X(port_rcv_errors, true, false, port(hca)->damage_drops) \
	X(port_xmit_discards, true, false, \
	  port(hca)->hoq_life_drops + port(hca)->pfc_watchdog_drops + port(hca)->down_drops) \
	X(rx_write_requests, false, false, transport(hca)->rx_write_requests) \
	X(rx_read_requests, false, false, transport(hca)->rx_read_requests) \
	X(rx_atomic_requests, false, false, transport(hca)->rx_atomic_requests) \
	X(out_of_buffer, false, false, \
	  transport(hca)->rnr_nak_sent + transport(hca)->no_receive_wqe) \
	X(out_of_sequence, false, false, transport(hca)->out_of_sequence) \
	X(duplicate_request, false, false, transport(hca)->duplicate_request) \
	X(rnr_nak_retry_err, false, false, transport(hca)->rnr_nak_received) \
	X(packet_seq_err, false, false, transport(hca)->packet_seq_err) \
	X(implied_nak_seq_err, false, false, transport(hca)->implied_nak_seq_err) \
	X(local_ack_timeout_err, false, false, transport(hca)->local_ack_timeouts) \
	X(np_cnp_sent, false, true, congestion(hca)->cnp_sent) \
	X(np_ecn_marked_roce_packets, false, true, congestion(hca)->ecn_marked_packets) \
	X(rp_cnp_handled, false, true, \
	  congestion(hca)->cnp_received - congestion(hca)->cnp_ignored) \
	X(rp_cnp_ignored, false, true, congestion(hca)->cnp_ignored)

#define READ(name, of_port, of_roce, value) \
	static uint64_t name(const struct hca *hca) { return value; }
#define ROW(name, of_port, of_roce, value)  {#name, of_port, of_roce, name},
HW_COUNTERS(READ)
/* clang-format on */

const struct hw_counter hw_counters[] = {HW_COUNTERS(ROW){NULL, false, false, NULL}};
