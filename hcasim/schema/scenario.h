/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario: one YAML file as plain values: who is there, how they are joined, what goes wrong, what is recorded,
 * what is expected. Everything is checked here; build.h turns it into simulation objects.
 *
 *     file.yaml --scenario_read()--> struct scenario --build_create()--> hosts, HCAs, switches, links
 *                                         `--scenario_print()--> effective configuration, which reads back the same
 */
#ifndef HCASIM_SCHEMA_SCENARIO_H
#define HCASIM_SCHEMA_SCENARIO_H

#include "fabric/layout.h"
#include "hcasim/schema/composite.h"
#include "hcasim/schema/mpi_params.h"
#include "hcasim/schema/scenario_faults.h"
#include "hcasim/schema/scenario_subnet.h"
#include "hcasim/schema/scenario_vls.h"
#include "traffic/load/load_host_params.h"
#include "traffic/load/load_params.h"
#include "traffic/workload/flow_driver.h"
#include "verbs-shim/kernel/kernel_params.h"
#include "verbs-shim/session/session.h"

enum scenario_topology_kind {
	TOPOLOGY_LINKS,
	TOPOLOGY_BACK_TO_BACK,
	TOPOLOGY_SINGLE_SWITCH,
	TOPOLOGY_DUMBBELL,
	TOPOLOGY_PARKING_LOT,
	TOPOLOGY_LEAF_SPINE,
	TOPOLOGY_FAT_TREE,
	TOPOLOGY_DRAGONFLY,
	TOPOLOGY_TORUS,
	TOPOLOGY_NET_FILE,
};

enum deadlock_judgement { DEADLOCK_ERROR, DEADLOCK_EXPECTED, DEADLOCK_POSSIBLE };
enum partition_enforcement { ENFORCE_BOTH, ENFORCE_IN, ENFORCE_OUT, ENFORCE_OFF };
enum fabric_fidelity { FIDELITY_PACKET, FIDELITY_FLOW };

struct endpoint_device;
struct hca_params;
struct switch_params;
struct port_params;

/* clang-format off */
#define SCENARIO_PARAMS(X)                                                                                 \
	X(seed,       COUNT,  "1",          "",                "of all random streams; the same seed, the same run", "choice")

#define FABRIC_PARAMS(X)                                                                                   \
	X(link_layer, CHOICE, "infiniband", "infiniband|roce", "what the links and switches are", "choice")  \
	X(fidelity,   CHOICE, "packet", "packet|flow", "workload: what goes over the links; flow: rates that flows share max-min fairly, for long flows", "choice") \
	X(partition_enforcement, CHOICE, "both", "both|in|out|off", "partitions: which filters the switches' ports towards hosts have", "choice: OpenSM's default") \
	X(reroute_delay, TIME, "10ms", "0ps..100s", "faults: from a link going down or coming up until all switches use tables that know it; 0: tables stay as they are. A switch's own links are known to it at once", "assumed: loss of signal is seen within milliseconds; PortLand (SIGCOMM 2009) measures 65 ms, RFC 7938 section 7.1 expects below a second, a simulator of ground truth D-10 takes none") \
	X(routing,    CHOICE, "as_built",   "as_built|min_hop|up_down|dimension_order", "which routes packets take; as_built: the topology's own", "choice")

/* Which of them a kind takes: topology_keys[] in scenario_topology.c. */
#define TOPOLOGY_PARAMS(X)                                                                                 \
	X(kind,       CHOICE, "links", "links|back-to-back|single-switch|dumbbell|parking-lot|leaf-spine|fat-tree|dragonfly|torus|net-file", \
	  "links: as the lists `switches` and `links` say; net-file: as a file of ibnetdiscover or ibsim says", "choice") \
	X(left,       COUNT, "2", "1..63",       "dumbbell: hosts at the one switch",                      "choice") \
	X(right,      COUNT, "2", "1..63",       "dumbbell: hosts at the other",                           "choice") \
	X(switches,   COUNT, "2", "2..1000000",  "parking-lot: in a row",                                  "choice") \
	X(hosts,      COUNT, "1", "1..63",       "hosts at a switch: of a row, a torus, a group; at a leaf; at an edge switch", "choice") \
	X(leaves,     COUNT, "2", "1..100000",   "leaf-spine: leaves",                                     "choice") \
	X(spines,     COUNT, "1", "1..100000",   "leaf-spine: spines",                                     "choice") \
	X(parallel,   COUNT, "1", "1..64",       "leaf-spine: links between a leaf and a spine",           "choice") \
	X(rails,      COUNT, "1", "1..64",       "leaf-spine, fat-tree: NICs of a machine, each at a leaf of its own", "choice") \
	X(arity,      COUNT, "4", "0..64",       "fat-tree: ports of each switch, even; 0: the six numbers below", "Al-Fares et al., SIGCOMM 2008") \
	X(pods,       COUNT, "2", "1..64",       "fat-tree: pods",                                         "choice") \
	X(edges,      COUNT, "2", "1..64",       "fat-tree: edge switches of a pod",                       "choice") \
	X(aggregations, COUNT, "2", "1..64",     "fat-tree: aggregation switches of a pod",                "choice") \
	X(uplinks,    COUNT, "2", "1..64",       "fat-tree: links of an aggregation switch to the core",   "choice") \
	X(routers,    COUNT, "4", "1..64",       "dragonfly: switches of a group",                         "Kim et al., ISCA 2008") \
	X(global,     COUNT, "2", "1..64",       "dragonfly: links of a switch to other groups",           "Kim et al., ISCA 2008") \
	X(groups,     COUNT, "0", "0..4097",     "dragonfly: groups, 0: as many as the links allow",       "Kim et al., ISCA 2008") \
	X(size_x,     COUNT, "4", "1..65535",    "torus: switches along the first dimension",              "choice") \
	X(size_y,     COUNT, "4", "1..65535",    "torus: along the second, 1: there is none",              "choice") \
	X(size_z,     COUNT, "1", "1..65535",    "torus: along the third",                                 "choice") \
	X(uplink_rate, RATE, "0bps", "0bps..3.2Tbps", "between the switches of a dumbbell, between leaves and spines, 0: as the other links", "choice") \
	X(uplink_length, METRES, "0m", "0m..100km", "dumbbell: of the link between the switches, 0: as the other links", "choice")

#define RUN_PARAMS(X)                                                                                      \
	X(until,      TIME,   "0ps", "",   "workload: virtual time at which the run ends, 0: when all flows are done", "choice") \
	X(warm_up,    TIME,   "0ps", "",   "workload: means and rates are taken from then on",              "choice") \
	X(measure_until, TIME, "0ps", "", "workload: means and rates are taken until then, 0: to the end; flows that are under way go on", "choice") \
	X(large,      BYTES,  "1MB",   "1B..", "workload: flows from this size on are those of the large_ metrics", "choice") \
	X(small,      BYTES,  "100KB", "1B..", "workload: flows up to this size are those of the small_ metrics", "choice") \
	X(deadlock,   CHOICE, "error", "error|expected|possible", "workload: what a deadlock at the end of the run is; error: routes that can form one are refused before the run; possible: they are not", "choice") \
	X(loss,       CHOICE, "as_vl", "as_vl|expected", "workload: loss in a lossless VL fails the run, unless a fault of this file explains it, or it is expected", "choice") \
	X(failed,     CHOICE, "error", "error|expected", "workload: flows that run out of retries fail the run, unless they are expected: so, or by a bound of flows_failed or flows_done", "choice")

#define RECORD_PARAMS(X)                                                                                   \
	X(packets,    FLAG,   "false", "", "packets.pcapng: every packet that leaves a port, credits and pauses too", "choice") \
	X(max_bytes,  BYTES,  "8GiB", "64KiB..", "largest size of packets.pcapng and of trace.bin, each; what comes later is not recorded, and a message says since when", "choice: less than what disks have left") \
	X(snap,       BYTES,  "0B",   "0B..64KiB", "bytes of each packet in packets.pcapng, of which the whole length is noted; 0B: all", "choice") \
	X(counters,   FLAG,   "true",  "", "counters.json: all counters of all blocks at the end", "choice") \
	X(flows,      FLAG,   "true",  "", "workload: flows.csv, a line a flow", "choice")                        \
	X(series,     TIME,   "0ps",   "", "workload: between two lines a port of series.csv, which queue metrics come from; 0ps: none", "choice")

#define PROGRAM_PARAMS(X)                                                                                  \
	X(start,      TIME,   "0ps",   "", "virtual time before which it does not start", "choice")

struct scenario_fabric { FABRIC_PARAMS(PARAM_FIELD) };
struct scenario_record { RECORD_PARAMS(PARAM_FIELD) };
struct scenario_start  { PROGRAM_PARAMS(PARAM_FIELD) };
struct scenario_topology { TOPOLOGY_PARAMS(PARAM_FIELD) };
struct scenario_run { RUN_PARAMS(PARAM_FIELD) };
/* clang-format on */

struct scenario_host {
	const char *name;
	uint8_t ipv4[4];
	bool alike;                       /* what it has is scenario.every_host's */
	struct hca_params *detailed;      /* NULL: of fidelity endpoint */
	struct endpoint_device *endpoint; /* NULL: of fidelity detailed */
};

struct scenario_switch {
	const char *name;
	uint16_t ports; /* 0: as many as it has links */
	struct switch_params *params;
};

struct scenario_node { /* one end of a link */
	bool is_switch;
	uint32_t number;
};

struct scenario_link {
	struct scenario_node ends[2];
	/* What `given` says replaces the values of both ends' own ports. */
	struct port_params *port;
	uint64_t given;    /* bit i: entry i of port_param_list */
	uint16_t ports[2]; /* of the switches at its ends */
	bool numbered;     /* someone has said which */
};

struct scenario_link_rule {  /* replaces values of those links of a topology whose ends match */
	const char *ends[2]; /* patterns, in either order */
	struct port_params *port;
	uint64_t given;
};

struct scenario_program {
	uint32_t host;
	char **argv; /* ends with NULL */
	sim_time start;
};

struct scenario_expectation { /* at the end, of a counter or a metric */
	/* "block.name.counter"; * stands for any text, and then it is the sum. */
	const char *counter;
	uint64_t low, high;
	const char *metric; /* one of hcasim/schema/metrics.h; NULL: a counter */
	const char *row;    /* of the ground truth; NULL: none */
	double least, most; /* of a metric */
	bool gated;         /* false: reported only */
};

/* One value of an axis. A map sets several keys together. */
struct scenario_sweep_value {
	char *text;  /* as tables show it */
	char **sets; /* "key.path=value", as --set takes them; ends with NULL */
};

struct scenario_sweep_axis {
	const char *path; /* as --set takes it; ".": the top of the file */
	uint32_t line, column;
	struct scenario_sweep_value *values;
	uint32_t count;
};

/* All texts belong to the document, which is kept. */
struct scenario {
	const char *file;
	SCENARIO_PARAMS(PARAM_FIELD)
	struct cpu_params cpu;
	struct session_params session;
	struct kernel_params kernel;
	struct mpi_params mpi;
	struct load_host_params mpi_hosts; /* of detailed adapters */
	struct scenario_fabric fabric;
	struct scenario_vls vls;
	struct scenario_subnet subnet;
	struct scenario_record record;
	struct scenario_topology topology;
	struct scenario_run run;
	bool has_workload;
	struct workload_params workload;
	bool has_load;
	struct load_params load;
	struct flow_driver_params posting;
	struct load_host_params workload_hosts; /* of detailed adapters */
	char *trace_file;     /* of the workload, from where the scenario is; ours; NULL: none */
	struct layout layout; /* of a topology that a builder or file makes; empty: none */
	bool generated;       /* hosts by count, all alike but for exceptions */
	struct scenario_host every_host;
	char (*host_names)[LAYOUT_NAME_BYTES];
	struct scenario_switch every_switch; /* of a generated topology; params NULL: none */
	struct scenario_link every_link;     /* port NULL: none */
	struct scenario_link_rule *link_rules;
	const char **series_ports; /* patterns; none: all */
	struct scenario_sweep_axis *axes;
	struct scenario_host *hosts;
	struct scenario_switch *switches;
	struct scenario_link *links;
	struct scenario_fault *faults;
	struct scenario_program *programs;
	struct scenario_expectation *expectations;
	const char **traces; /* block names to be traced; * stands for any text */
	uint32_t host_count, switch_count, link_count, fault_count, program_count,
		expectation_count, trace_count, link_rule_count, series_port_count, axis_count;
	struct yaml_errors
		warnings; /* what is accepted, and has no effect or not the one that may be meant */
	struct yaml_document *document;
};

/* overrides: `count` texts "key.path=value" that replace single values of the file. NULL: errors says why. */
struct scenario *scenario_read(const char *file, const char *const *overrides, size_t count,
			       struct yaml_errors *errors);
void scenario_destroy(struct scenario *scenario);

/* The effective configuration: every value, as YAML that reads back to an equal scenario. */
void scenario_print(const struct scenario *scenario, FILE *out);

/* A hash of it, with what files hold in place of their names: the same wherever the scenario and they are. */
uint64_t scenario_hash(const struct scenario *scenario);

const char *scenario_node_name(const struct scenario *scenario, const struct scenario_node *node);

/* Puts the place of the key at that path ("fabric.routes.2"; "": the file) in front of `error`, what is wrong with it, or that of the nearest
 * above it. Returns false. */
bool scenario_blame(const struct scenario *scenario, const char *path, char *error,
		    size_t error_bytes);

/* Has any host an adapter of that kind? */
enum adapter_fidelity { FIDELITY_ENDPOINT, FIDELITY_DETAILED };
bool scenario_has(const struct scenario *scenario, enum adapter_fidelity fidelity);

/* NO_HOST: no such host. */
#define NO_HOST UINT32_MAX
uint32_t scenario_find_host(const struct scenario *scenario, const char *name);

/* NULL: none is near. */
const char *scenario_suggest_host(const struct scenario *scenario, const char *name);

/* The lists of the keys that are not part of a composite, by their place in the file; ends with a NULL name. */
struct scenario_section {
	const char *name; /* "" for the top of the file */
	const struct param *list;
	const char *meaning;
};
extern const struct scenario_section scenario_sections[];

#endif
