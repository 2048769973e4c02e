/*
 * study: a scenario of another kind: a fabric of endpoint HCAs and a workload, without programs. A YAML file with a
 * `workload:` and without `hosts:` is one; `hcasim run` plays it. With `hosts:` it is a scenario (trial.h).
 *
 *     file.yaml --study_read()--> struct fabric_study --study_run()--> flow table, summary, counters
 *
 *     seed: 1
 *     fabric: {link_layer: roce, topology: fat-tree, arity: 8, link: {rate: 100Gbps}, switch: {ecn: {mark: dequeue}}}
 *     hcas: {fidelity: endpoint, recovery: go_back_n}
 *     congestion: {algorithm: dcqcn-paper, timer: 300us}
 *     workload: {pattern: poisson, sizes: web_search, load: 0.5}
 *     flows: {message: 64KB, post_list: 8}
 *     expect: [{value: slowdown_p99, at_most: 20}]
 */
#ifndef SCENARIOS_STUDY_H
#define SCENARIOS_STUDY_H

#include "fabric/port_params.h"
#include "scenarios/scenario.h"
#include "scenarios/workload/player.h"
#include "sim/yaml.h"
#include "switch/switch_params.h"

/* clang-format off */
#define STUDY_PARAMS(X)                                                                                    \
	X(seed,     COUNT,  "1",        "",           "of all random streams; the same seed, the same run", "choice")

#define STUDY_FABRIC_PARAMS(X)                                                                             \
	X(link_layer,  CHOICE, "roce", "infiniband|roce", "what the links and switches are", "choice")    \
	X(topology,    CHOICE, "star", "star|dumbbell|parking-lot|leaf-spine|fat-tree|dragonfly|torus", "see fabric/topologies.h", "choice") \
	X(hosts,       COUNT,  "0",    "0..65536",    "star: all; else at each switch (dumbbell: at either side; fat-tree: at each edge), 0: two, fat-tree: arity / 2", "choice") \
	X(arity,       COUNT,  "4",    "2..64",       "fat-tree: ports of a switch",                      "choice") \
	X(switches,    COUNT,  "2",    "2..1024",     "parking-lot: in the row",                          "choice") \
	X(leaves,      COUNT,  "2",    "1..1024",     "leaf-spine",                                       "choice") \
	X(spines,      COUNT,  "2",    "1..64",       "leaf-spine",                                       "choice") \
	X(uplink_rate, RATE,   "0bps", "0bps..3.2Tbps", "dumbbell, leaf-spine: between switches, 0: as all others", "choice") \
	X(routers,     COUNT,  "4",    "1..64",       "dragonfly: of a group",                            "choice") \
	X(global,      COUNT,  "2",    "1..64",       "dragonfly: links of a router to other groups",     "choice") \
	X(groups,      COUNT,  "0",    "0..4096",     "dragonfly, 0: as many as fit",                     "choice") \
	X(size_x,      COUNT,  "4",    "1..256",      "torus",                                            "choice") \
	X(size_y,      COUNT,  "4",    "1..256",      "torus",                                            "choice") \
	X(size_z,      COUNT,  "1",    "1..256",      "torus",                                            "choice")

#define STUDY_HCA_PARAMS(X)                                                                                \
	X(fidelity,    CHOICE, "endpoint", "endpoint", "endpoint: transport exact, the host a latency and a rate; detailed HCAs run programs, see hcasim exec", "choice")

struct study_params        { STUDY_PARAMS(PARAM_FIELD) };
struct study_fabric_params { STUDY_FABRIC_PARAMS(PARAM_FIELD) };
struct study_hca_params    { STUDY_HCA_PARAMS(PARAM_FIELD) };

/* X(name, unit, meaning): what a run is judged by */
#define STUDY_VALUES(X)                                                                                    \
	X(flows,         "",     "of the workload, without barriers")                                    \
	X(done,          "",     "that ended well")                                                      \
	X(failed,        "",     "whose retries were exceeded")                                          \
	X(bytes,         "B",    "of those done")                                                        \
	X(duration_us,   "us",   "from the first flow's post to the last completion")                    \
	X(goodput_gbps,  "Gb/s", "of all flows together over that time")                                 \
	X(fct_mean_us,   "us",   "flow completion time")                                                 \
	X(fct_p50_us,    "us",   "flow completion time, median")                                         \
	X(fct_p99_us,    "us",   "flow completion time, 99 %")                                           \
	X(slowdown_mean, "",     "of the completion time against the ideal")                             \
	X(slowdown_p50,  "",     "median")                                                               \
	X(slowdown_p95,  "",     "95 %")                                                                 \
	X(slowdown_p99,  "",     "99 %")                                                                 \
	X(resent,        "",     "packets sent again")                                                   \
	X(timeouts,      "",     "local ACK timeouts")                                                   \
	X(marked,        "",     "data packets that came with a congestion mark")                        \
	X(cnps,          "",     "CNPs sent")                                                            \
	X(pauses,        "",     "pause frames sent, by all ports")                                      \
	X(drops,         "",     "packets that found no space, or a fault, at a port")

#define STUDY_VALUE_FIELD(name, unit, meaning) double name;
struct study_values { STUDY_VALUES(STUDY_VALUE_FIELD) };
/* clang-format on */

struct study_value {
	const char *name, *unit, *meaning;
	size_t offset; /* in struct study_values */
};
extern const struct study_value study_value_list[]; /* ends with a NULL name */

/* Its lists of parameters, by their place in the file; ends with a NULL name. */
extern const struct scenario_section study_sections[];

struct study_expectation {
	const struct study_value *value;
	double at_least, at_most;
};

struct fabric_study {
	const char *file;
	STUDY_PARAMS(PARAM_FIELD)
	struct study_fabric_params fabric;
	struct study_hca_params fidelity;
	struct endpoint_params hca;
	struct congestion congestion;
	struct switch_params *box;
	struct port_params *link; /* values that replace those of both ends, */
	uint64_t link_given;      /* bit i: entry i of port_param_list */
	struct workload_params workload;
	const char *trace; /* file of the workload; NULL: none */
	struct player_params flows;
	struct study_expectation *expectations;
	uint32_t expectation_count;
	struct yaml_document *document;
};

/* Has the file a `workload:`? false also if it cannot be read. */
bool study_is(const char *file);

/* overrides: `count` texts "key.path=value". NULL: errors says why. */
struct fabric_study *study_read(const char *file, const char *const *overrides, size_t count,
				struct yaml_errors *errors);
void study_destroy(struct fabric_study *study);

/* The effective configuration, as YAML that reads back to the same. */
void study_print(const struct fabric_study *study, FILE *out);

struct study_run;

/* Builds the fabric and the workload. NULL: *why. */
struct study_run *study_run_create(const struct fabric_study *study, enum sim_kernel kernel,
				   char *why, size_t why_bytes);
void study_run_play(struct study_run *run);
struct study_values study_run_values(const struct study_run *run);
const struct flow_record *study_run_flows(const struct study_run *run, uint32_t *count);
struct sim *study_run_sim(const struct study_run *run);
void study_run_destroy(struct study_run *run);

/* How many expectations do not hold, each of them named on `out`. */
unsigned study_compare(const struct fabric_study *study, const struct study_values *values,
		       FILE *out);

#endif
