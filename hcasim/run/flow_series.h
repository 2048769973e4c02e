/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_series: selected flows of a workload over time: limits of their congestion control, data in
 * flight, and arrived data. One line per flow and sample (record.series, record.series_flows).
 *
 *     flow driver --flow_series_sample()--> lines --flow_series_write()--> flow_series.csv
 */
#ifndef HCASIM_RUN_FLOW_SERIES_H
#define HCASIM_RUN_FLOW_SERIES_H

#include <stdio.h>

#include "traffic/workload/flow_driver.h"

/* X(column, meaning). Empty fields: there is no limit, or the value is not known yet. */
#define FLOW_SERIES_COLUMNS(X)                                                       \
	X(time_us, "Time of the sample.")                                            \
	X(flow, "Number of the flow.")                                               \
	X(goodput_gbps, "Payload that arrived since the previous line of the flow.") \
	X(rate_gbps, "Rate that congestion control allows, at most the link rate.")  \
	X(cwnd_bytes, "Congestion window. Empty: no limit.")                         \
	X(inflight_bytes, "Payload that was sent and is not acknowledged.")          \
	X(rtt_us, "Round-trip time of the latest ACK that measured one. Empty: none so far.")

struct flow_series;

/* Chooses the flows. Returns NULL if there is no room for a temporary file. The numbers are copied.
 * Each is a flow of the driver. */
struct flow_series *flow_series_create(const struct flow_driver *driver, const uint32_t *flows,
				       uint32_t count);
void flow_series_destroy(struct flow_series *series); /* NULL: nothing */

/* Adds a line for each selected flow that is or was in progress in the last interval. */
void flow_series_sample(struct flow_series *series, sim_time now);

/* Returns the time from the start of the flow that began last to the end of the first sample in
 * which its data are within 10 % of the mean of the others'. SIM_NEVER: not yet. */
sim_time flow_series_joined_after(const struct flow_series *series);

/* Copies all lines. Returns false on failure, with errno. */
bool flow_series_write(const struct flow_series *series, FILE *out);

#endif
