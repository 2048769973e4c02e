/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnic_params: parameters of an adapter whose transport is iWARP (device.driver: siw).
 */
#ifndef HCA_IWARP_RNIC_PARAMS_H
#define HCA_IWARP_RNIC_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define RNIC_PARAMS(X) \
	X(mtu, BYTES, "1500B", "576B..9216B", \
	  "Largest IP packet of a segment.", \
	  "RFC 894: 1500; jumbo frames: 9000") \
	X(send_buffer, BYTES, "128KiB", "16KiB..64MiB", \
	  "Bytes of a connection that the adapter holds until they are acknowledged.", \
	  "Linux iw_cxgb4: snd_win is 128 KiB") \
	X(receive_buffer, BYTES, "256KiB", "16KiB..64MiB", \
	  "Largest receive window of TCP.", \
	  "Linux iw_cxgb4: rcv_win is 256 KiB") \
	X(timestamps, FLAG, "false", "", \
	  "Offer TCP time stamps.", \
	  "Linux iw_cxgb4: enable_tcp_timestamps is 0") \
	X(sack, FLAG, "false", "", \
	  "Offer selective acknowledgments.", \
	  "Linux iw_cxgb4: enable_tcp_sack is 0") \
	X(delayed_ack, TIME, "0ps", "0ps..500ms", \
	  "Longest delay of an ACK. `0`: each segment is acknowledged at once.", \
	  "Linux iw_cxgb4, patch \"disable delayed ack by default\", 2020") \
	X(rto_min, TIME, "200ms", "1us..60s", \
	  "Smallest retransmission timeout.", \
	  "assumed: the value of Linux, TCP_RTO_MIN") \
	X(congestion, CHOICE, "newreno", "newreno|cubic|dctcp", \
	  "Congestion control of TCP.", \
	  "assumed: iw_cxgb4 asks for Tahoe (recalled)") \
	X(priority, COUNT, "0", "0..7", \
	  "Priority (PCP) of segments, which selects their traffic class.", \
	  "choice") \
	X(context, BYTES, "128B", "1B..64KiB", \
	  "TCP control block of a connection, in the adapter's memory.", \
	  "Chelsio's cxgbe driver: TCB_SIZE") \
	X(receive_entry, BYTES, "64B", "0B..1KiB", \
	  "Memory of the adapter for each entry of a receive queue.", \
	  "Linux iw_cxgb4: c4iw_rqtpool_alloc(), rqt_size << 6") \
	X(wqes, COUNT, "32", "1..1024", \
	  "Work requests of a queue pair that the adapter holds until they are complete.", \
	  "assumed") \
	X(receives, COUNT, "64", "1..4096", \
	  "FPDUs of a queue pair that are written to host memory at a time.", \
	  "assumed")
/* clang-format on */

enum rnic_congestion { RNIC_NEWRENO, RNIC_CUBIC, RNIC_DCTCP, RNIC_CONGESTION_COUNT };

struct rnic_params {
	RNIC_PARAMS(PARAM_FIELD)
};

extern const struct param rnic_param_list[];

#endif
