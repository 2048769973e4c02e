/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_table: outcome of each flow of a workload, as an array and as CSV. One list defines the
 * columns with their units and meanings.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_TABLE_H
#define TRAFFIC_WORKLOAD_FLOW_TABLE_H

#include <stdio.h>

#include "traffic/workload/workload.h"

/* clang-format off */
#define FLOW_STATUSES(X) X(not_started) X(under_way) X(done) X(failed) X(stopped)
#define FLOW_STATUS_ENUM(name) FLOW_##name,
enum flow_status { FLOW_STATUSES(FLOW_STATUS_ENUM) FLOW_STATUS_COUNT };

/* Condition under which a column of a flow is not empty. KNOWN: after its event has happened. */
enum flow_known { FLOW_ALWAYS, FLOW_BEGUN, FLOW_KNOWN };

/* X(column, C type, printed as, known when, unit, meaning) */
#define FLOW_COLUMNS(X) \
	X(flow, uint32_t, NUMBER, ALWAYS, "", \
	  "Number of the flow in the workload.") \
	X(source, uint32_t, NUMBER, ALWAYS, "", \
	  "Host that provides the data.") \
	X(destination, uint32_t, NUMBER, ALWAYS, "", \
	  "Host that receives the data.") \
	X(operation, uint32_t, VERB, ALWAYS, "", \
	  "write, send, read or atomic.") \
	X(queue_pair, uint32_t, NUMBER, ALWAYS, "", \
	  "Number of the queue pair among the queue pairs of the pair of hosts.") \
	X(hops, uint32_t, NUMBER, ALWAYS, "", \
	  "Links on the path.") \
	X(bytes, uint64_t, NUMBER, ALWAYS, "B", "payload") \
	X(ready, sim_time, TIME, BEGUN, "us", \
	  "Time at which the flow was posted, because nothing delays it any more.") \
	X(started, sim_time, TIME, KNOWN, "us", \
	  "Time at which the first packet was handed to the port.") \
	X(arrived, sim_time, TIME, KNOWN, "us", \
	  "Time at which all data were at the destination.") \
	X(finished, sim_time, TIME, KNOWN, "us", \
	  "Time at which the requester saw the completion.") \
	X(ideal, sim_time, TIME, ALWAYS, "us", \
	  "Time from ready to finished in an otherwise idle fabric.") \
	X(packets, uint64_t, NUMBER, BEGUN, "", \
	  "Request packets sent, retransmissions included.") \
	X(retransmitted, uint64_t, NUMBER, BEGUN, "", \
	  "Retransmitted request packets.") \
	X(marked, uint32_t, NUMBER, BEGUN, "", \
	  "Packets with ECN CE or FECN that its queue pair received during the flow.") \
	X(cnps, uint32_t, NUMBER, BEGUN, "", \
	  "CNPs and BECNs that its queue pair received during the flow.") \
	X(paused, sim_time, TIME, BEGUN, "us", \
	  "Time for which the sender's priority was paused during the flow.") \
	X(incast, uint32_t, NUMBER, ALWAYS, "", \
	  "1: flow of an incast in addition to the pattern's own flows (workload.incast_load).") \
	X(status,      uint32_t, STATUS, ALWAYS, "", \
	  "not_started, under_way, done, failed, or stopped (workload.post_until).")

#define FLOW_COLUMN_FIELD(column, type, printed, known, unit, meaning) type column;
struct flow_record {
	FLOW_COLUMNS(FLOW_COLUMN_FIELD)
	uint32_t part; /* of the workload: workload->parts[] */
};
/* clang-format on */

struct flow_column {
	const char *name, *unit, *meaning;
};
extern const struct flow_column
	/* ends with an entry whose name is NULL; fct and slowdown follow in the file */
	flow_table_columns[];

static inline sim_time flow_fct(const struct flow_record *record)
{
	return record->finished - record->ready;
}

static inline double flow_slowdown(const struct flow_record *record)
{
	return record->ideal ? (double)flow_fct(record) / (double)record->ideal : 0;
}

/* Writes a header line, then one line per flow. Times are in microseconds, to the picosecond.
 * Barriers are omitted. `parts` has the names of the workload's parts, which are the last column.
 * Without that column it is NULL. */
void flow_table_write(const struct flow_record *records, uint32_t count, const char *const *parts,
		      FILE *out);

struct flow_summary {
	uint32_t flows, done, failed, stopped;
	uint64_t bytes;       /* of the flows done */
	sim_time first, last; /* first ready, and last finished, of the flows done */
	sim_time ended;       /* last finished, failed and stopped flows included */
	double fct_mean_us, fct_p50_us, fct_p90_us, fct_p95_us, fct_p99_us, fct_p999_us;
	/* from ready until all data have arrived */
	double arrival_mean_us, arrival_p50_us, arrival_p90_us, arrival_p999_us;
	double sent_mean_us, sent_p999_us; /* from the first packet until finished */
	double slowdown_mean, slowdown_p50, slowdown_p95, slowdown_p99, slowdown_p999;
};

/* Selects flows of `low` to `high` bytes that are ready at `from` or later. `kinds` selects flows
 * of the pattern, of its incasts, or both. `part` selects one part of the workload, or all
 * parts. */
enum flow_kinds { FLOW_ALL, FLOW_OF_PATTERN, FLOW_OF_INCAST };
struct flow_choice {
	uint64_t low, high;
	sim_time from;
	enum flow_kinds kinds;
	uint32_t part; /* its number, from 1 on; 0: all */
};

/* Summarises the selected flows. Counts cover all of them. Times and slowdowns cover the flows
 * done, and are NaN if there are none. */
struct flow_summary flow_table_summarise(const struct flow_record *records, uint32_t count,
					 const struct flow_choice *choice);

/* Number of groups into which the flows are divided by size, with equal numbers of flows. */
#define FLOW_GROUPS 20

/* X(column, printed, unit, meaning) */
/* clang-format off */
#define FLOW_GROUP_COLUMNS(X) \
	X(bytes_max, "%.0f", "B", "Size of the largest flow of the group.") \
	X(flows, "%.0f", "", \
	  "Flows of the group that are done.") \
	X(fct_p50, "%.6f", "us", "Median time from post to completion.") \
	X(fct_p95, "%.6f", "us", \
	  "95th percentile of the time from post to completion.") \
	X(slowdown_p50, "%.4f", "", "Median of the time divided by the ideal time.") \
	X(slowdown_p95, "%.4f", "", \
	  "95th percentile of the time divided by the ideal time.") \
	X(slowdown_p99, "%.4f", "", "99th percentile of the time divided by the ideal time.")
/* clang-format on */

#define FLOW_GROUP_FIELD(column, printed, unit, meaning) double column;
struct flow_group {
	FLOW_GROUP_COLUMNS(FLOW_GROUP_FIELD)
};

/* Fills the groups for which there are flows. Returns their number. */
unsigned flow_table_group(const struct flow_record *records, uint32_t count,
			  const struct flow_choice *choice, struct flow_group groups[FLOW_GROUPS]);
void flow_table_write_groups(const struct flow_group *groups, unsigned count, FILE *out);

#endif
