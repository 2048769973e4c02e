/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_table: what became of each flow of a workload: a plain array, and its CSV form. Columns, their units and
 * meanings are one list.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_TABLE_H
#define TRAFFIC_WORKLOAD_FLOW_TABLE_H

#include <stdio.h>

#include "traffic/workload/workload.h"

/* clang-format off */
#define FLOW_STATUSES(X) X(not_started) X(under_way) X(done) X(failed)
#define FLOW_STATUS_ENUM(name) FLOW_##name,
enum flow_status { FLOW_STATUSES(FLOW_STATUS_ENUM) FLOW_STATUS_COUNT };

/* When is a column of a flow more than empty? KNOWN: as soon as that has happened. */
enum flow_known { FLOW_ALWAYS, FLOW_BEGUN, FLOW_KNOWN };

/* X(column, C type, printed as, known when, unit, meaning) */
#define FLOW_COLUMNS(X)                                                                                    \
	X(flow,        uint32_t, NUMBER, ALWAYS, "",   "number in the workload")                               \
	X(source,      uint32_t, NUMBER, ALWAYS, "",   "host that the data comes from")                        \
	X(destination, uint32_t, NUMBER, ALWAYS, "",   "host that it goes to")                                 \
	X(operation,   uint32_t, VERB,   ALWAYS, "",   "write, send, read or atomic")                          \
	X(queue_pair,  uint32_t, NUMBER, ALWAYS, "",   "of the pair of hosts")                                 \
	X(hops,        uint32_t, NUMBER, ALWAYS, "",   "links on the way")                                     \
	X(bytes,       uint64_t, NUMBER, ALWAYS, "B",  "payload")                                              \
	X(ready,       sim_time, TIME,   BEGUN,  "us", "posted: nothing that it waits for is left")            \
	X(started,     sim_time, TIME,   KNOWN,  "us", "the first packet was handed to the port")              \
	X(arrived,     sim_time, TIME,   KNOWN,  "us", "all data are at the destination")                      \
	X(finished,    sim_time, TIME,   KNOWN,  "us", "the completion is seen")                               \
	X(ideal,       sim_time, TIME,   ALWAYS, "us", "from ready to finished with nobody else there")        \
	X(packets,     uint64_t, NUMBER, BEGUN,  "",   "requests sent, those sent again included")             \
	X(retransmitted, uint64_t, NUMBER, BEGUN,  "",   "of them sent again")                                 \
	X(marked,      uint32_t, NUMBER, BEGUN,  "",   "packets of its queue pair that came with ECN CE or FECN meanwhile")\
	X(cnps,        uint32_t, NUMBER, BEGUN,  "",   "CNPs and BECNs that its queue pair got meanwhile")               \
	X(paused,      sim_time, TIME,   BEGUN,  "us", "that the sender's priority was paused meanwhile")      \
	X(incast,      uint32_t, NUMBER, ALWAYS, "",   "1: of an incast beside the pattern's own flows (workload.incast_load)")\
	X(status,      uint32_t, STATUS, ALWAYS, "",   "not_started, under_way, done or failed")

#define FLOW_COLUMN_FIELD(column, type, printed, known, unit, meaning) type column;
struct flow_record { FLOW_COLUMNS(FLOW_COLUMN_FIELD) };
/* clang-format on */

struct flow_column {
	const char *name, *unit, *meaning;
};
extern const struct flow_column
	flow_columns[]; /* ends with a NULL name; behind them: fct, slowdown */

static inline sim_time flow_fct(const struct flow_record *record)
{
	return record->finished - record->ready;
}

static inline double flow_slowdown(const struct flow_record *record)
{
	return record->ideal ? (double)flow_fct(record) / (double)record->ideal : 0;
}

/* One line a flow below a line of names; times in microseconds, to the picosecond. Barriers are left out. */
void flow_table_write(const struct flow_record *records, uint32_t count, FILE *out);

struct flow_summary {
	uint32_t flows, done, failed;
	uint64_t bytes;       /* of those done */
	sim_time first, last; /* of those done: ready, finished */
	sim_time ended;       /* finished, failed ones included */
	double fct_mean_us, fct_p50_us, fct_p90_us, fct_p95_us, fct_p99_us, fct_p999_us;
	double arrival_p50_us, arrival_p90_us; /* from ready until all data are there */
	double slowdown_mean, slowdown_p50, slowdown_p95, slowdown_p99;
};

/* Which flows: of low..high bytes, ready at `from` or later, of the pattern, of its incasts, or both. */
enum flow_kinds { FLOW_ALL, FLOW_OF_PATTERN, FLOW_OF_INCAST };
struct flow_choice {
	uint64_t low, high;
	sim_time from;
	enum flow_kinds kinds;
};

/* Counts all that are chosen; times and slowdowns are of those done, 0 if none is. */
struct flow_summary flow_table_summarise(const struct flow_record *records, uint32_t count,
					 const struct flow_choice *choice);

/* The flows in the order of their sizes, in groups of equally many. */
#define FLOW_GROUPS 20

/* X(column, printed, unit, meaning) */
#define FLOW_GROUP_COLUMNS(X)                                                 \
	X(bytes_max, "%.0f", "B", "size of the largest flow of the group")    \
	X(flows, "%.0f", "", "in it, done")                                   \
	X(fct_p50, "%.6f", "us", "median time, post to completion")           \
	X(fct_p95, "%.6f", "us", "its 95th percentile")                       \
	X(slowdown_p50, "%.4f", "", "median of that time over the ideal one") \
	X(slowdown_p95, "%.4f", "", "its 95th percentile")                    \
	X(slowdown_p99, "%.4f", "", "its 99th percentile")

#define FLOW_GROUP_FIELD(column, printed, unit, meaning) double column;
struct flow_group {
	FLOW_GROUP_COLUMNS(FLOW_GROUP_FIELD)
};

/* Fills as many of the groups as there are flows for; returns how many. */
unsigned flow_table_group(const struct flow_record *records, uint32_t count,
			  const struct flow_choice *choice, struct flow_group groups[FLOW_GROUPS]);
void flow_table_write_groups(const struct flow_group *groups, unsigned count, FILE *out);

#endif
