/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics: results of a workload as single named numbers, which `expect` bounds, the summary prints
 * and a sweep tabulates.
 *
 *     goodput_gbps                     metric of the whole run: first list
 *     flow3.fct_us                     metric of flow 3: second list
 *     switch0.port2.queue_mean_bytes   metric of a port: third list; queues need
 *                                      `record: {series: ...}`
 *     storage.fct_p99_us               metric of the workload `storage` of several: fourth list
 *     iops, storage.iops               metric of operations (pattern: storage): fifth list
 */
#ifndef HCASIM_SCHEMA_METRICS_H
#define HCASIM_SCHEMA_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "traffic/load/load.h"

/* clang-format off */
/* X(name, unit, meaning). "Measured" means: from run.warm_up, or the first flow, to
 * run.measure_until, or the end of the last flow, or run.until if flows are incomplete. Times of
 * flows include only flows that are ready at run.warm_up or later. A metric of nothing, such as the
 * time of no flow, is NaN. */
#define METRICS(X) \
	X(flows, "flows", \
	  "Flows of the workload, without barriers.") \
	X(flows_done, "flows", \
	  "Flows that finished.") \
	X(flows_failed, "flows", \
	  "Flows that ran out of retries.") \
	X(duration_us, "us", "measured") \
	X(goodput_gbps, "Gb/s", \
	  "Payload that reached its destination while measured, each packet counted once, sum " \
	  "of all flows.") \
	X(jain, "", \
	  "Jain's fairness index of the throughput of the queue pairs while measured. 1: all " \
	  "equal.") \
	X(fct_mean_us, "us", \
	  "Mean time of a flow, from post to completion.") \
	X(fct_p50_us, "us", \
	  "Median time of a flow.") \
	X(fct_p99_us, "us", \
	  "99th percentile of the time of a flow.") \
	X(wait_mean_us, "us", \
	  "Mean of the time of a flow minus its ideal time.") \
	X(slowdown_mean, "", \
	  "Mean slowdown: time of a flow divided by its ideal time.") \
	X(slowdown_p50, "", \
	  "Median slowdown.") \
	X(slowdown_p95, "", \
	  "95th percentile of the slowdown.") \
	X(slowdown_p99, "", \
	  "99th percentile of the slowdown.") \
	X(small_fct_p50_us, "us", \
	  "Median time of flows of up to run.small bytes, without incast flows.") \
	X(small_fct_p90_us, "us", \
	  "90th percentile of the time of these small flows.") \
	X(small_fct_p95_us, "us", \
	  "95th percentile of the time of small flows.") \
	X(small_fct_p99_us, "us", \
	  "99th percentile of the time of small flows.") \
	X(small_arrival_p50_us, "us", \
	  "Median time until all data of a small flow have arrived, before the acknowledgement.") \
	X(small_arrival_p90_us, "us", \
	  "90th percentile of the time until all data of a small flow have arrived.") \
	X(small_slowdown_p50, "", \
	  "Median slowdown of small flows.") \
	X(small_slowdown_p95, "", \
	  "95th percentile of the slowdown of small flows.") \
	X(small_slowdown_p99, "", \
	  "99th percentile of the slowdown of small flows.") \
	X(large_fct_mean_us, "us", \
	  "Mean time of flows of run.large bytes or more, without incast flows.") \
	X(large_slowdown_p50, "", \
	  "Median slowdown of large flows.") \
	X(large_slowdown_p95, "", \
	  "95th percentile of the slowdown of large flows.") \
	X(peak_slowdown_p95, "", \
	  "95th percentile of the slowdown in the worst of 20 groups of flows by size " \
	  "(slowdowns.csv).") \
	X(pattern_fct_mean_us, "us", \
	  "Mean time of a flow, without incast flows.") \
	X(pattern_arrival_mean_us, "us", \
	  "Mean time until all data of a flow have arrived, without incast flows.") \
	X(incast_fct_mean_us, "us", \
	  "Mean time of an incast flow (workload.incast_load).") \
	X(incast_fct_p99_us, "us", \
	  "99th percentile of the time of incast flows.") \
	X(incast_fct_p999_us, "us", \
	  "99.9th percentile of the time of incast flows.") \
	X(incast_arrival_p999_us, "us", \
	  "99.9th percentile of the time until all data of an incast flow have arrived.") \
	X(incast_sent_p999_us, "us", \
	  "99.9th percentile of the time of incast flows from their first packet on.") \
	X(pattern_sent_mean_us, "us", \
	  "Mean time of a flow from its first packet on, without incast flows.") \
	X(joined_after_us, "us", \
	  "Time from the start of the last flow of record.series_flows to the end of the first " \
	  "sample in which its data are within 10 % of the mean of the others'.") \
	X(packets_sent, "packets", \
	  "Data packets sent, summed over all ports (packet-hops).") \
	X(packets_retransmitted, "packets", \
	  "Packets retransmitted by HCAs.") \
	X(timeouts, "times", \
	  "Timeouts of HCAs that waited for a response.") \
	X(drops, "packets", \
	  "Packets lost for any reason, faults included.") \
	X(lossless_drops, "packets", "Packets lost in lossless VLs without a fault.") \
	X(pauses, "packets", \
	  "PFC frames sent, repetitions and resumes included.") \
	X(pause_us, "us", \
	  "Time for which priorities were paused, sum over all ports.") \
	X(pause_share, "", \
	  "Share of the measured time for which a port was paused, mean over all ports; " \
	  "priorities are summed.") \
	X(pauses_deep_share, "", \
	  "Share of the pauses by switches with a shared buffer that had two or more switches " \
	  "between the sender and the congestion.") \
	X(paused_hosts_max, "", \
	  "Largest share of hosts paused in one sample (record: {series: ...}).") \
	X(paused_hosts_wide, "", \
	  "Share of samples with more than 3 % of the hosts paused, among samples with a " \
	  "paused host.") \
	X(ecn_marks, "packets", \
	  "Packets marked by switches: CE or FECN.") \
	X(reroutes, "times", \
	  "Times that a flow was moved to another path (balance: letflow, conga, conweave).") \
	X(out_of_order, "packets", \
	  "Request packets that reached an HCA before an expected earlier one.") \
	X(reorder_packets, "packets", \
	  "Packets that waited in leaf switches for packets of the previous path (balance: " \
	  "conweave).") \
	X(reorder_packets_max, "packets", \
	  "Largest number of packets of one flow that waited in leaf switches at the same " \
	  "time: the depth of reordering.") \
	X(cnps, "packets", \
	  "CNPs and BECNs that HCAs received.") \
	X(connections, "connections", \
	  "Queue pairs and TCP connections of the endpoint adapter that has the most memory for " \
	  "them.") \
	X(connection_state_bytes, "bytes", \
	  "Memory of that adapter or its host for the state of a connection, mean: context of " \
	  "the queue pair, control block of iWARP, or socket of TCP (hca.memory).") \
	X(connection_ring_bytes, "bytes", \
	  "Memory of that host for the send and receive queue of a connection, mean.") \
	X(connection_held_bytes, "bytes", \
	  "Largest number of bytes that all these connections held at once, divided by their " \
	  "number: send buffers, and received bytes that waited for earlier ones.") \
	X(connection_bytes, "bytes", \
	  "Memory of a connection at one end: state, queues and held bytes.") \
	X(deadlocks, "times", \
	  "1: a cycle of full buffers stopped the run.") \
	X(queue_max_bytes, "bytes", \
	  "Longest sampled queue of any recorded port.") \
	X(queue_p50_bytes, "bytes", \
	  "Median of the queue samples of all recorded ports while measured, with a resolution " \
	  "of 1 KB.") \
	X(queue_p95_bytes, "bytes", \
	  "95th percentile of the queue samples while measured.") \
	X(queue_p99_bytes, "bytes",  "99th percentile of the queue samples while measured.")

#define FLOW_METRICS(X) \
	X(goodput_gbps, "Gb/s", \
	  "Payload of its queue pair that reached its destination while measured.") \
	X(rate_gbps, "Gb/s", \
	  "Sending rate that its congestion control allows at the end of the run.") \
	X(fct_us, "us", \
	  "Time from post to completion.") \
	X(slowdown,       "",        "Time divided by the ideal time.")

#define PORT_METRICS(X) \
	X(queue_mean_bytes, "bytes", \
	  "Bytes waiting at the egress: mean of the samples while measured.") \
	X(queue_sd_bytes, "bytes", \
	  "Bytes waiting at the egress: standard deviation of the samples while measured.") \
	X(queue_max_bytes, "bytes", \
	  "Bytes waiting at the egress: largest sample of the run.") \
	X(queue_p90_bytes, "bytes", \
	  "Bytes waiting at the egress: 90th percentile of the samples while measured " \
	  "(estimated by P2).") \
	X(queue_p95_bytes, "bytes", \
	  "Bytes waiting at the egress: 95th percentile of the samples while measured " \
	  "(estimated by P2).") \
	X(queue_p99_bytes, "bytes", \
	  "Bytes waiting at the egress: 99th percentile of the samples while measured " \
	  "(estimated by P2).") \
	X(queue_packets, "packets", \
	  "Packets waiting at the egress: mean of the samples while measured.") \
	X(backlog_us, "us", \
	  "Time to send the waiting bytes and the rest of the current packet: mean of the " \
	  "samples while measured.") \
	X(underused_us, "us", \
	  "Sum of the sampling intervals while measured in which less than 0.9 of the rate was " \
	  "used.") \
	X(rate_gbps, "Gb/s", \
	  "Rate of data packets sent while measured, exact to the bit.") \
	X(utilisation, "", \
	  "Rate of data packets sent divided by the rate of the port.") \
	X(pause_share, "", \
	  "Share of the measured time for which the port was paused; priorities are summed.")

/* Metrics of one of several workloads. */
#define WORKLOAD_METRICS(X) \
	X(flows, "flows", \
	  "Flows of the workload, without barriers.") \
	X(flows_done, "flows", \
	  "Flows that finished.") \
	X(flows_failed, "flows", \
	  "Flows that ran out of retries.") \
	X(flows_stopped, "flows", \
	  "Flows that `post_until` ended before all their messages were posted.") \
	X(goodput_gbps, "Gb/s", \
	  "Payload of the workload that reached its destination while the run was measured, " \
	  "divided by that time.") \
	X(jain, "", \
	  "Jain's fairness index of the throughput of the workload's queue pairs while measured.") \
	X(fct_mean_us, "us", \
	  "Mean time of a flow, from post to completion.") \
	X(fct_p50_us, "us", \
	  "Median time of a flow.") \
	X(fct_p95_us, "us", \
	  "95th percentile of the time of a flow.") \
	X(fct_p99_us, "us", \
	  "99th percentile of the time of a flow.") \
	X(fct_p999_us, "us", \
	  "99.9th percentile of the time of a flow.") \
	X(slowdown_mean, "", \
	  "Mean slowdown: time of a flow divided by its ideal time.") \
	X(slowdown_p50, "", \
	  "Median slowdown.") \
	X(slowdown_p95, "", \
	  "95th percentile of the slowdown.") \
	X(slowdown_p99, "", \
	  "99th percentile of the slowdown.") \
	X(slowdown_p999, "", "99.9th percentile of the slowdown.")

/* Metrics of pattern storage, of the run or of one of several workloads. They are measured from
 * run.warm_up, or the first operation, to run.measure_until, or the end of the last operation, or
 * run.until if operations are incomplete. Latencies are of operations that begin while measured. */
#define STORAGE_METRICS(X) \
	X(operations, "operations", \
	  "Operations of the workload.") \
	X(operations_done, "operations", \
	  "Operations that ended.") \
	X(operations_failed, "operations", \
	  "Operations that did not end, because a message of them ran out of retries.") \
	X(iops, "1/s", \
	  "Operations that end while measured, per second.") \
	X(data_gbps, "Gb/s", \
	  "Data of operations that end while measured, per second.") \
	X(latency_mean_us, "us", \
	  "Mean time of operations at their initiator, from begin to end.") \
	X(latency_p50_us, "us", \
	  "Median time of operations.") \
	X(latency_p95_us, "us", \
	  "95th percentile of the time of operations.") \
	X(latency_p99_us, "us", \
	  "99th percentile of the time of operations.") \
	X(latency_p999_us, "us", \
	  "99.9th percentile of the time of operations.") \
	X(read_iops, "1/s", \
	  "Reads that end while measured, per second.") \
	X(read_data_gbps, "Gb/s", \
	  "Data of reads that end while measured, per second.") \
	X(read_latency_mean_us, "us", \
	  "Mean time of reads at their initiator, from begin to end.") \
	X(read_latency_p50_us, "us", \
	  "Median time of reads.") \
	X(read_latency_p95_us, "us", \
	  "95th percentile of the time of reads.") \
	X(read_latency_p99_us, "us", \
	  "99th percentile of the time of reads.") \
	X(read_latency_p999_us, "us", \
	  "99.9th percentile of the time of reads.") \
	X(write_iops, "1/s", \
	  "Writes that end while measured, per second.") \
	X(write_data_gbps, "Gb/s", \
	  "Data of writes that end while measured, per second.") \
	X(write_latency_mean_us, "us", \
	  "Mean time of writes at their initiator, from begin to end.") \
	X(write_latency_p50_us, "us", \
	  "Median time of writes.") \
	X(write_latency_p95_us, "us", \
	  "95th percentile of the time of writes.") \
	X(write_latency_p99_us, "us", \
	  "99th percentile of the time of writes.") \
	X(write_latency_p999_us, "us", \
	  "99.9th percentile of the time of writes.") \
	X(cpu_us, "us", \
	  "Time of the cores of both hosts for an operation: a model of their cost " \
	  "(workload.operation_cpu), not a measurement.") \
	X(initiator_cpu_us, "us", \
	  "Part of cpu_us at the initiator.") \
	X(target_cpu_us, "us", \
	  "Part of cpu_us at the target.") \
	X(operation_messages, "messages", \
	  "SENDs, WRITEs and READs of an operation, or messages of its TCP connection. Mean.") \
	X(operation_message_bytes, "bytes", \
	  "Bytes of these messages, with the headers of the protocol and without those of the " \
	  "transport. Mean.") \
	X(operation_wire_bytes, "bytes", \
	  "Bytes of all packets that hosts sent, divided by the operations done. ACKs and " \
	  "retransmissions count, preambles and gaps do not. Of the whole run only.")

#define METRIC_ENUM(name, unit, meaning) METRIC_##name,
enum metric { METRICS(METRIC_ENUM) METRIC_COUNT };
#define FLOW_METRIC_ENUM(name, unit, meaning) FLOW_METRIC_##name,
enum flow_metric { FLOW_METRICS(FLOW_METRIC_ENUM) FLOW_METRIC_COUNT };
#define PORT_METRIC_ENUM(name, unit, meaning) PORT_METRIC_##name,
enum port_metric { PORT_METRICS(PORT_METRIC_ENUM) PORT_METRIC_COUNT };
#define WORKLOAD_METRIC_ENUM(name, unit, meaning) WORKLOAD_METRIC_##name,
enum workload_metric { WORKLOAD_METRICS(WORKLOAD_METRIC_ENUM) WORKLOAD_METRIC_COUNT };
#define STORAGE_METRIC_ENUM(name, unit, meaning) STORAGE_METRIC_##name,
enum storage_metric { STORAGE_METRICS(STORAGE_METRIC_ENUM) STORAGE_METRIC_COUNT };
/* clang-format on */

struct metric_info {
	const char *name, *unit, *meaning;
};
extern const struct metric_info metric_list[], metric_flow_list[], metric_port_list[];
extern const struct metric_info metric_workload_list[]; /* of one of several workloads */
extern const struct metric_info metric_storage_list[];  /* of the run, or of one of several */
extern const struct metric_info metric_load_list[];     /* metrics of a load: LOAD_METRICS */

/* Checks that a name can be a metric. Whether its flow or port exists is known only after the
 * build. Returns false and writes the reason to *error if not. */
bool metric_name_valid(const char *name, char *error, size_t error_bytes);

/* Checks that a name is a metric of a load. Returns false and writes the reason to *error if
 * not. */
bool metric_load_name_valid(const char *name, char *error, size_t error_bytes);

/* Returns the metric with this index in metric_load_list. */
double metric_of_load(const struct load_result *result, int index);

/* Returns the index in a list, or -1. */
int metric_index(const struct metric_info *list, const char *name);

#endif
