/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario: one YAML file as plain values: hosts, fabric, faults, records, expectations. All checks
 * are made here. build.h creates the simulation objects.
 *
 *     file.yaml --scenario_read()--> struct scenario --build_create()--> hosts, HCAs, switches,
 *                                         |                              links
 *                                         `--scenario_print()--> effective configuration, which
 *                                                                reads back the same
 */
#ifndef HCASIM_SCHEMA_SCENARIO_H
#define HCASIM_SCHEMA_SCENARIO_H

#include "fabric/layout.h"
#include "hca/congestion/congestion.h"
#include "hcasim/schema/composite.h"
#include "hcasim/schema/mpi_params.h"
#include "hcasim/schema/scenario_faults.h"
#include "hcasim/schema/scenario_mirrors.h"
#include "hcasim/schema/scenario_subnet.h"
#include "hcasim/schema/scenario_vls.h"
#include "traffic/load/load_host_params.h"
#include "traffic/load/load_params.h"
#include "traffic/workload/flow_driver.h"
#include "traffic/workload/storage.h"
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
	TOPOLOGY_HPCC_FILE,
};

enum deadlock_judgement { DEADLOCK_ERROR, DEADLOCK_EXPECTED, DEADLOCK_POSSIBLE };
enum partition_enforcement { ENFORCE_BOTH, ENFORCE_IN, ENFORCE_OUT, ENFORCE_OFF };
enum fabric_fidelity { FIDELITY_PACKET, FIDELITY_FLOW };

struct endpoint_device;
struct packet;
struct hca_params;
struct switch_params;
struct port_params;

/* clang-format off */
#define SCENARIO_PARAMS(X) \
	X(seed, COUNT, "1", "", \
	  "Seed of all random streams. Runs with the same seed are identical.", \
	  "choice")

#define FABRIC_PARAMS(X) \
	X(link_layer, CHOICE, "infiniband", "infiniband|roce", \
	  "Link layer of all links and switches.", \
	  "choice") \
	X(fidelity, CHOICE, "packet", "packet|flow", \
	  "Workload: fidelity of the links. flow: flows share rates with max-min fairness, for " \
	  "long flows.", \
	  "choice") \
	X(partition_enforcement, CHOICE, "both", "both|in|out|off", \
	  "Partitions: filters of the switch ports towards hosts.", \
	  "choice: default of OpenSM") \
	X(reroute_delay, TIME, "10ms", "0ps..100s", \
	  "Faults: delay from a change of link state until all switches use tables that take " \
	  "it into account. 0: tables never change. A switch detects its own links without " \
	  "delay.", \
	  "assumed: loss of signal is detected within milliseconds; PortLand (SIGCOMM 2009) " \
	  "measures 65 ms, RFC 7938 section 7.1 expects less than a second, the simulator of " \
	  "HPCC (row D-10) takes none") \
	X(routing, CHOICE, "as_built", \
	  "as_built|min_hop|up_down|dimension_order", \
	  "Routing algorithm. as_built: the routes of the topology.", \
	  "choice")

/* Each kind uses some of these keys: topology_keys[] in scenario_topology.c. */
#define TOPOLOGY_PARAMS(X) \
	X(kind, CHOICE, "links", \
	  "links|back-to-back|single-switch|dumbbell|parking-lot|leaf-spine|fat-tree|dragonfly|" \
	  "torus|net-file|hpcc-file", \
	  "links: from the lists `switches` and `links`. net-file: from a file of " \
	  "ibnetdiscover or ibsim. hpcc-file: from a topology file of the HPCC study.", \
	  "choice") \
	X(left, COUNT, "2", "1..63", \
	  "dumbbell: hosts at the first switch.", \
	  "choice") \
	X(right, COUNT, "2", "1..63", \
	  "dumbbell: hosts at the second switch.", \
	  "choice") \
	X(switches, COUNT, "2", "2..1000000", \
	  "parking-lot: number of switches in the row.", \
	  "choice") \
	X(hosts, COUNT, "1", "1..63", \
	  "Hosts per switch: of a row, a torus or a group, per leaf, or per edge switch.", \
	  "choice") \
	X(leaves, COUNT, "2", "1..100000", \
	  "leaf-spine: number of leaves.", \
	  "choice") \
	X(spines, COUNT, "1", "1..100000", \
	  "leaf-spine: number of spines.", \
	  "choice") \
	X(parallel, COUNT, "1", "1..64", \
	  "leaf-spine: links between each leaf and each spine.", \
	  "choice") \
	X(rails, COUNT, "1", "1..64", \
	  "leaf-spine, fat-tree: NICs per machine, each connected to a different leaf.", \
	  "choice") \
	X(arity, COUNT, "4", "0..64", \
	  "fat-tree: ports per switch, an even number. 0: the six keys below define the tree.", \
	  "Al-Fares et al., SIGCOMM 2008") \
	X(pods, COUNT, "2", "1..64", \
	  "fat-tree: number of pods.", \
	  "choice") \
	X(edges, COUNT, "2", "1..64", \
	  "fat-tree: edge switches per pod.", \
	  "choice") \
	X(aggregations, COUNT, "2", "1..64", \
	  "fat-tree: aggregation switches per pod.", \
	  "choice") \
	X(uplinks, COUNT, "2", "1..64", \
	  "fat-tree: links of each aggregation switch to the core.", \
	  "choice") \
	X(routers, COUNT, "4", "1..64", \
	  "dragonfly: switches per group.", \
	  "Kim et al., ISCA 2008") \
	X(global, COUNT, "2", "1..64", \
	  "dragonfly: links of each switch to other groups.", \
	  "Kim et al., ISCA 2008") \
	X(groups, COUNT, "0", "0..4097", \
	  "dragonfly: number of groups. 0: the maximum that the links allow.", \
	  "Kim et al., ISCA 2008") \
	X(size_x, COUNT, "4", "1..65535", \
	  "torus: switches in the first dimension.", \
	  "choice") \
	X(size_y, COUNT, "4", "1..65535", \
	  "torus: switches in the second dimension. 1: no second dimension.", \
	  "choice") \
	X(size_z, COUNT, "1", "1..65535", \
	  "torus: switches in the third dimension. 1: no third dimension.", \
	  "choice") \
	X(uplink_rate, RATE, "0bps", "0bps..3.2Tbps", \
	  "Rate of the links between the switches of a dumbbell, or between leaves and spines. " \
	  "0: as the other links.", \
	  "choice") \
	X(uplink_length, METRES, "0m", "0m..100km", \
	  "dumbbell: length of the link between the switches. 0: as the other links.", \
	  "choice")

#define RUN_PARAMS(X) \
	X(until, TIME, "0ps", "", \
	  "Workload: virtual time at which the run ends. 0: when all flows are done.", \
	  "choice") \
	X(warm_up, TIME, "0ps", "", \
	  "Workload: virtual time at which the measurement starts.", \
	  "choice") \
	X(measure_until, TIME, "0ps", "", \
	  "Workload: virtual time at which the measurement ends. 0: at the end of the last flow, " \
	  "or at run.until if flows are incomplete then. " \
	  "Incomplete flows continue.", \
	  "choice") \
	X(large, BYTES, "1MB", "1B..", \
	  "Workload: smallest size of the flows of the large_ metrics.", \
	  "choice") \
	X(small, BYTES, "100KB", "1B..", \
	  "Workload: largest size of the flows of the small_ metrics.", \
	  "choice") \
	X(bins, SIZES, "[10KB, 100KB, 1MB]", "0B..", \
	  "workload: limits of the bins of flow sizes in bins.csv. Ascending", \
	  "choice") \
	X(deadlock, CHOICE, "error", "error|expected|possible", \
	  "Workload: meaning of a deadlock at the end of the run. error: the run fails, and " \
	  "routes that can form a deadlock are refused before it. possible: such routes are " \
	  "accepted.", \
	  "choice") \
	X(loss, CHOICE, "as_vl", "as_vl|expected", \
	  "Workload: meaning of loss in a lossless VL. as_vl: the run fails unless a fault of " \
	  "this file explains the loss. expected: no failure.", \
	  "choice") \
	X(failed, CHOICE, "error", "error|expected", \
	  "Workload: meaning of flows that run out of retries. error: the run fails, unless " \
	  "`expect` bounds flows_failed or flows_done. expected: no failure.", \
	  "choice") \
	X(fast_forward, CHOICE, "off", "off|exact|sampled", \
	  "Workload with `phases`. exact: does not simulate a phase that begins in the same " \
	  "state of the whole run as an earlier phase. Results are the same, except for " \
	  "`events`. sampled: also replaces later phases by a sample of earlier ones, as soon as " \
	  "the estimated error is at most `fast_forward_error`.", \
	  "choice") \
	X(fast_forward_error, RATIO, "0.01", "0..1", \
	  "fast_forward: sampled: largest estimated error of the time of the skipped phases and " \
	  "of the mean completion time of their flows. An estimate, not a bound.", \
	  "choice")

#define RECORD_PARAMS(X) \
	X(packets, FLAG, "false", "", \
	  "Write packets.pcapng: every packet that leaves a port, credits and pauses included.", \
	  "choice") \
	X(max_bytes, BYTES, "8GiB", "64KiB..", \
	  "Maximum size of packets.pcapng and of trace.bin, each. Later records are dropped; a " \
	  "message states the time of the first one.", \
	  "choice: less than the free space of common disks") \
	X(snap, BYTES, "0B", "0B..64KiB", \
	  "Maximum number of bytes of each packet in packets.pcapng, which also states the full " \
	  "length. 0B: all bytes.", \
	  "choice") \
	X(counters, FLAG, "true", "", \
	  "Write counters.json: all counters of all blocks at the end.", \
	  "choice") \
	X(flows, FLAG, "true", "", \
	  "Workload: write flows.csv, one line per flow.", \
	  "choice") \
	X(series, TIME, "0ps", "", \
	  "Workload: interval between two lines per port of series.csv, which queue metrics " \
	  "need. 0ps: no series.", \
	  "choice") \
	X(queues, FLAG, "false", "", \
	  "Workload: write queue_series.csv, the queues of ports by priority over time, and " \
	  "queues.csv, their quantiles and standard deviations. Both need `series`.", \
	  "choice")

/* Keys of record.only that are not lists of names. */
#define RECORD_ONLY_PARAMS(X) \
	X(from, TIME, "0ps", "", \
	  "Virtual time from which packets are recorded.", \
	  "choice") \
	X(until, TIME, "0ps", "", \
	  "Virtual time until which packets are recorded. 0ps: the end of the run.", \
	  "choice")

#define RECORD_RING_PARAMS(X) \
	X(packets, COUNT, "0", "0..100000000", \
	  "Number of latest packets that are kept in memory. packets.pcapng gets them at the " \
	  "first trigger. 0: packets.pcapng gets all packets.", \
	  "choice") \
	X(behind, COUNT, "100", "0..100000000", \
	  "Number of packets that packets.pcapng gets after the trigger. They may include a " \
	  "packet that is dropped on its link.", \
	  "choice") \
	X(drop, FLAG, "true", "", \
	  "Trigger: a packet is dropped, at any place and for any reason.", \
	  "choice") \
	X(pause, FLAG, "false", "", \
	  "Trigger: a PFC frame that pauses a priority leaves a port.", \
	  "choice") \
	X(failure, FLAG, "true", "", \
	  "Trigger: the run ends with an exit code other than 0, for example because an " \
	  "expectation or a law does not hold.", \
	  "choice")

#define PROGRAM_PARAMS(X) \
	X(start,      TIME,   "0ps",   "", "Virtual time at which the program starts.", "choice") \
	X(server,     FLAG,   "false", "", \
	  "The program does not end by itself. It gets SIGTERM when all other programs have " \
	  "ended.", \
	  "choice")

struct scenario_fabric { FABRIC_PARAMS(PARAM_FIELD) };
struct scenario_record { RECORD_PARAMS(PARAM_FIELD) };
struct scenario_record_only { RECORD_ONLY_PARAMS(PARAM_FIELD) };
struct scenario_record_ring { RECORD_RING_PARAMS(PARAM_FIELD) };
struct scenario_start  { PROGRAM_PARAMS(PARAM_FIELD) };
struct scenario_topology { TOPOLOGY_PARAMS(PARAM_FIELD) };
struct scenario_run { RUN_PARAMS(PARAM_FIELD) };
enum { FAST_FORWARD_OFF, FAST_FORWARD_EXACT, FAST_FORWARD_SAMPLED };
/* clang-format on */

/* The packets that are recorded. */
struct scenario_packets {
	struct scenario_record_only window;
	const char **ports, **opcodes; /* patterns; none: all */
	uint32_t port_count, opcode_count;
	bool *chosen; /* by opcode, then by kind of packet; NULL: all */
	bool *hosts;  /* [hosts]; NULL: all */
	uint32_t *qps;
	uint32_t qp_count; /* 0: all */
};

struct scenario_host {
	const char *name;
	uint8_t ipv4[4];
	bool alike;                       /* its configuration is scenario.every_host */
	struct hca_params *detailed;      /* NULL: adapter of fidelity endpoint */
	struct endpoint_device *endpoint; /* NULL: adapter of fidelity detailed */
};

struct scenario_switch {
	const char *name;
	uint16_t ports; /* 0: the number of its links */
	struct switch_params *params;
};

struct scenario_node { /* one end of a link */
	bool is_switch;
	uint32_t number;
};

struct scenario_link {
	struct scenario_node ends[2];
	/* The parameters in `given` override the parameters of the ports at both ends. */
	struct port_params *port;
	uint64_t given;    /* bit i: entry i of port_param_list */
	uint16_t ports[2]; /* port numbers at the switches */
	bool numbered;     /* the scenario gives the port numbers */
};

struct scenario_link_rule {  /* overrides parameters of a topology's links whose ends match */
	const char *ends[2]; /* patterns, in either order */
	struct port_params *port;
	uint64_t given;
};

struct scenario_program {
	uint32_t host;
	char **argv; /* ends with NULL */
	sim_time start;
	bool server;
};

/* Sections of pattern storage. */
struct scenario_storage {
	struct storage_params storage;
	struct storage_device_params device;
	struct storage_cpu_params cpu;
};

/* One of several workloads. A single workload has the values of the section `workload`. */
struct scenario_workload {
	const char *name;             /* NULL: the only one */
	const struct yaml_node *node; /* its map; NULL: the section `workload` */
	struct workload_params params;
	struct flow_driver_params posting;
	struct scenario_storage storage;
	struct storage operations; /* of pattern storage */
	uint32_t *initiators, *targets;
	struct workload_files files; /* paths; released with the scenario */
	uint32_t *hosts;             /* numbers of its hosts 0, 1 ... in the scenario */
	const char **host_names;
	uint32_t host_count;
	struct congestion_choice congestion; /* ops NULL: the adapters' choice */
};

struct scenario_expectation { /* bounds of a counter or metric at the end */
	/* "block.name.counter". `*` matches any text; the value is then the sum. */
	const char *counter;
	uint64_t low, high;
	const char *metric; /* name of a metric of hcasim/schema/metrics.h; NULL: a counter */
	const char *row;    /* row of scenarios/published; NULL: none */
	double least, most; /* bounds of a metric */
	bool gated;         /* false: reported, without effect on the exit code */
};

/* One value of an axis. It may set several keys together. */
struct scenario_sweep_value {
	char **cells; /* as tables show it: a text for each column of the axis */
	char **sets;  /* "key.path=value", as for --set; ends with NULL */
};

/* An axis of a sweep. Each point of the sweep has one value of each axis. */
struct scenario_sweep_axis {
	const char **columns; /* names in tables; most axes have one */
	uint32_t column_count;
	uint32_t line, column; /* of its key in the file */
	struct scenario_sweep_value *values;
	uint32_t count;
};

/* All texts belong to `document`, which the scenario owns. */
struct scenario {
	const char *file;
	SCENARIO_PARAMS(PARAM_FIELD)
	struct cpu_params cpu;
	struct session_params session;
	struct kernel_params kernel;
	struct socket_params sockets;
	struct mpi_params mpi;
	struct load_host_params mpi_hosts; /* detailed adapters */
	struct scenario_fabric fabric;
	struct scenario_vls vls;
	struct scenario_subnet subnet;
	struct scenario_record record;
	struct scenario_packets packets; /* record.only */
	struct scenario_record_ring ring;
	struct scenario_topology topology;
	struct scenario_run run;
	bool has_workload;  /* one or several */
	bool has_workloads; /* by name; `workload` and `posting` are then their defaults */
	struct scenario_workload *workloads;
	uint32_t workload_count;
	struct workload_params workload;
	bool has_load;
	struct load_params load;
	struct flow_driver_params posting;
	struct scenario_storage storage;
	struct load_host_params workload_hosts; /* detailed adapters */
	struct workload_files workload_files;   /* paths; released with the scenario */
	struct layout layout; /* topology made by a builder or from a file; empty: none */
	bool generated;       /* hosts are given as a count and are equal, except for exceptions */
	struct scenario_host every_host;
	char (*host_names)[LAYOUT_NAME_BYTES];
	struct scenario_switch every_switch; /* generated topology; params NULL: none */
	struct scenario_link every_link;     /* port NULL: none */
	struct scenario_link_rule *link_rules;
	const char **series_ports; /* patterns; empty: all ports */
	uint32_t *series_flows;    /* flows whose rate and window are recorded */
	struct scenario_sweep_axis *axes;
	struct scenario_host *hosts;
	struct scenario_switch *switches;
	struct scenario_link *links;
	struct scenario_fault *faults;
	struct scenario_mirror *mirrors;
	struct scenario_program *programs;
	struct scenario_expectation *expectations;
	const char **traces; /* names of blocks to trace; `*` matches any text */
	uint32_t host_count, switch_count, link_count, fault_count, mirror_count, program_count,
		expectation_count, trace_count, link_rule_count, series_port_count,
		series_flow_count, axis_count;
	struct yaml_errors
		warnings; /* accepted keys that have no effect, or perhaps not the intended one */
	struct yaml_document *document;
};

/* Reads a scenario. `overrides` has `count` texts "key.path=value" that replace single values of
 * the file. Returns NULL and adds the reasons to `errors` on failure. */
struct scenario *scenario_read(const char *file, const char *const *overrides, size_t count,
			       struct yaml_errors *errors);

/* Reads a scenario from a text. `name` stands for the file in messages. Files that the text names
 * are relative to the current folder. */
struct scenario *scenario_read_text(const char *name, const char *text,
				    const char *const *overrides, size_t count,
				    struct yaml_errors *errors);
void scenario_destroy(struct scenario *scenario);

/* Prints the effective configuration: every value, as YAML that reads back to an equal scenario. */
void scenario_print(const struct scenario *scenario, FILE *out);

/* Returns a hash of the effective configuration, with the contents of files in place of their
 * names. It does not depend on where the files are. */
uint64_t scenario_hash(const struct scenario *scenario);

/* Returns the seed of the workload's random streams. */
uint64_t scenario_workload_seed(const struct scenario *scenario,
				const struct scenario_workload *workload);

/* Returns true if the packet is to be recorded, by its hosts, queue pair and opcode. */
bool scenario_packets_choose(const struct scenario *scenario, const struct packet *packet);

const char *scenario_node_name(const struct scenario *scenario, const struct scenario_node *node);

/* Prepends to `error` the file position of the key at that path ("fabric.routes.2"; "": the file),
 * or of its nearest existing parent. Returns false. */
bool scenario_blame(const struct scenario *scenario, const char *path, char *error,
		    size_t error_bytes);

/* Returns true if any host has an adapter of that fidelity. */
enum adapter_fidelity { FIDELITY_ENDPOINT, FIDELITY_DETAILED };
/* Return true if the host, or any host, sends with TCP, with or without iWARP. */
bool scenario_host_has_tcp(const struct scenario_host *host);
bool scenario_has_tcp(const struct scenario *scenario);
bool scenario_has_plain_tcp(const struct scenario *scenario);
bool scenario_has_iwarp(const struct scenario *scenario);
bool scenario_has_siw(const struct scenario *scenario);     /* any adapter has the driver siw */
bool scenario_sends_rdma(const struct scenario *scenario);  /* true if any host sends with RDMA */
bool scenario_has_storage(const struct scenario *scenario); /* a workload of pattern storage */
bool scenario_has(const struct scenario *scenario, enum adapter_fidelity fidelity);

/* Returns NO_HOST if there is no such host. */
#define NO_HOST UINT32_MAX
uint32_t scenario_find_host(const struct scenario *scenario, const char *name);

/* Returns the most similar name of a host, or NULL. */
const char *scenario_suggest_host(const struct scenario *scenario, const char *name);

#endif
