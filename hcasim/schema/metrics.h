/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics: what a run of a workload comes to, as single numbers by name, which `expect` bounds, the summary prints
 * and a sweep tabulates.
 *
 *     goodput_gbps          of the whole run: one of the list below
 *     flow3.fct_us          of flow 3: of the second list
 *     switch0.port2.queue_mean_bytes      of a port: of the third; queues need `record: {series: ...}`
 */
#ifndef HCASIM_SCHEMA_METRICS_H
#define HCASIM_SCHEMA_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "traffic/load/load.h"

/* clang-format off */
/* X(name, unit, meaning). "measured": from run.warm_up, or the first flow, to run.measure_until, run.until, or the last
 * flow's end. Times of flows are of those that are ready from run.warm_up on. */
#define METRICS(X)                                                                                         \
	X(flows,          "flows",   "of the workload, without barriers")                                  \
	X(flows_done,     "flows",   "that were finished")                                                 \
	X(flows_failed,   "flows",   "that ran out of retries")                                            \
	X(duration_us,    "us",      "measured")                                                           \
	X(goodput_gbps,   "Gb/s",    "payload that came to its destination while measured, once each packet, all flows together")            \
	X(jain,           "",        "Jain's index of what the queue pairs got through while measured; 1: all the same") \
	X(fct_mean_us,    "us",      "mean time of a flow, post to completion")                            \
	X(fct_p50_us,     "us",      "its median")                                                         \
	X(fct_p99_us,     "us",      "its 99th percentile")                                                \
	X(wait_mean_us,   "us",      "mean of that time less the ideal one")                               \
	X(slowdown_mean,  "",        "mean of that time over the ideal one")                               \
	X(slowdown_p50,   "",        "its median")                                                         \
	X(slowdown_p95,   "",        "its 95th percentile")                                                \
	X(slowdown_p99,   "",        "its 99th percentile")                                                \
	X(small_fct_p50_us, "us",    "median time of the flows of run.small bytes or less, without those of incasts") \
	X(small_fct_p90_us, "us",    "its 90th percentile")                                                \
	X(small_fct_p95_us, "us",    "its 95th percentile")                                                \
	X(small_fct_p99_us, "us",    "its 99th percentile")                                                \
	X(small_arrival_p50_us, "us", "median of their times until all data are there, not yet acknowledged") \
	X(small_arrival_p90_us, "us", "its 90th percentile")                                               \
	X(small_slowdown_p50, "",    "median of their slowdown")                                           \
	X(small_slowdown_p95, "",    "its 95th percentile")                                                \
	X(small_slowdown_p99, "",    "its 99th percentile")                                                \
	X(large_fct_mean_us, "us",   "mean time of the flows of run.large bytes or more, without those of incasts") \
	X(large_slowdown_p50, "",    "median of their slowdown")                                           \
	X(large_slowdown_p95, "",    "its 95th percentile")                                                \
	X(peak_slowdown_p95, "",     "95th percentile of slowdown, the worst of 20 groups of flows by size (slowdowns.csv)") \
	X(pattern_fct_mean_us, "us", "mean time of a flow, without those of incasts")                      \
	X(incast_fct_mean_us, "us",  "mean time of a flow of an incast (workload.incast_load)")            \
	X(incast_fct_p99_us, "us",   "its 99th percentile")                                                \
	X(incast_fct_p999_us, "us",  "its 99.9th percentile")                                              \
	X(packets_sent,   "packets", "data packets that left any port: packet-hops")                       \
	X(packets_retransmitted, "packets", "retransmitted by HCAs")                                       \
	X(timeouts,       "times",   "of HCAs that waited for a response")                                 \
	X(drops,          "packets", "lost for any reason, faults included")                               \
	X(lossless_drops, "packets", "of them in VLs that are to lose none, without a fault")            \
	X(pauses,         "packets", "PFC frames sent, repetitions and resumes included")                  \
	X(pause_us,       "us",      "that priorities were paused, all ports together")                    \
	X(pause_share,    "",        "of the measured time, that a port was paused, mean of all ports, priorities added up") \
	X(pauses_deep_share, "",     "of the times that switches with a shared buffer paused a sender, those with two or more switches between it and the congestion") \
	X(paused_hosts_max, "",      "largest share of the hosts that were paused in a sample (record: {series: ...})") \
	X(paused_hosts_wide, "",     "of the samples with a paused host, those with more than 3 % of them paused") \
	X(ecn_marks,      "packets", "marked by switches: CE or FECN")                                     \
	X(reroutes,       "times",   "a flow was given another path than before (balance: letflow, conga, conweave)") \
	X(out_of_order,   "packets", "requests that came to an HCA ahead of the expected one")            \
	X(reorder_packets, "packets", "that waited in leaf switches for those of the path before (balance: conweave)") \
	X(reorder_packets_max, "packets", "of them, most of one flow at once: the depth of reordering")        \
	X(cnps,           "packets", "CNPs and BECNs that HCAs got")                                       \
	X(deadlocks,      "times",   "1: a cycle of full buffers has stopped the run")                    \
	X(queue_max_bytes, "bytes",  "longest sampled queue of any recorded port")                         \
	X(queue_p50_bytes, "bytes",  "median of the samples of all recorded ports while measured, to 1 KB") \
	X(queue_p95_bytes, "bytes",  "their 95th percentile")                                              \
	X(queue_p99_bytes, "bytes",  "their 99th percentile")

#define FLOW_METRICS(X)                                                                                    \
	X(goodput_gbps,   "Gb/s",    "payload of its queue pair that came to its destination while measured") \
	X(rate_gbps,      "Gb/s",    "that its congestion control allows at the run's end")                \
	X(fct_us,         "us",      "post to completion")                                                 \
	X(slowdown,       "",        "over the ideal")

#define PORT_METRICS(X)                                                                                    \
	X(queue_mean_bytes, "bytes", "waiting at the egress: mean of the samples while measured")          \
	X(queue_max_bytes,  "bytes", "the largest sample of the run")                                      \
	X(queue_p90_bytes,  "bytes", "the samples' 90th percentile while measured (estimated by P2)")      \
	X(queue_p95_bytes,  "bytes", "their 95th")                                                         \
	X(queue_p99_bytes,  "bytes", "their 99th")                                                         \
	X(queue_packets,    "packets", "waiting at the egress: mean of the samples while measured")        \
	X(backlog_us,       "us",    "to send what waits and what is left of the packet that leaves: mean of the samples while measured") \
	X(underused_us,     "us",    "intervals while measured in which less than 0.9 of the rate left, added up") \
	X(rate_gbps,        "Gb/s",  "data packets that left while measured, to the bit")                  \
	X(utilisation,      "",      "that over the port's rate")                                          \
	X(pause_share,      "",      "of the measured time that it was paused, priorities added up")

#define METRIC_ENUM(name, unit, meaning) METRIC_##name,
enum metric { METRICS(METRIC_ENUM) METRIC_COUNT };
#define FLOW_METRIC_ENUM(name, unit, meaning) FLOW_METRIC_##name,
enum flow_metric { FLOW_METRICS(FLOW_METRIC_ENUM) FLOW_METRIC_COUNT };
#define PORT_METRIC_ENUM(name, unit, meaning) PORT_METRIC_##name,
enum port_metric { PORT_METRICS(PORT_METRIC_ENUM) PORT_METRIC_COUNT };
/* clang-format on */

struct metric_info {
	const char *name, *unit, *meaning;
};
extern const struct metric_info metric_list[], flow_metric_list[], port_metric_list[];
extern const struct metric_info load_metric_list[]; /* those of a load: LOAD_METRICS */

/* May it be the name of a metric? Whether there is such a flow or port is known when it is built. false: *error. */
bool metric_name_valid(const char *name, char *error, size_t error_bytes);

/* The same of a load. */
bool load_metric_name_valid(const char *name, char *error, size_t error_bytes);

/* One of load_metric_list. */
double load_metric(const struct load_result *result, int index);

/* Index in a list, -1: not there. */
int metric_index(const struct metric_info *list, const char *name);

#endif
