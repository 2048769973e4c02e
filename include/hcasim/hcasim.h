/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim: simulations inside a program of your own. Link libhcasim (pkg-config --libs hcasim, or
 * find_package(hcasim) of CMake).
 *
 *     struct hcasim *simulation = hcasim_load("incast.yaml");
 *     hcasim_set(simulation, "seed=2");
 *     hcasim_start(simulation);
 *     while (hcasim_step(simulation, hcasim_now(simulation) + 10 * US))
 *             hcasim_counter(simulation, "host0.hca.port.packets_sent", &packets);
 *     hcasim_metric(simulation, "fct_p99_us", &value);
 *     hcasim_destroy(simulation);
 *
 * A simulation gives the same results and bytes as `hcasim run` of the same scenario, for any
 * sequence of steps. Times are picoseconds since its start.
 *
 * A function that fails returns false, NULL or 2, changes nothing else, and adds problems
 * (hcasim_problem()). A mistake of the caller, such as a step before the start, is also a problem.
 * A lack of memory ends the process, as does an algorithm or module that breaks its interface.
 *
 * Simulations do not disturb each other. Each belongs to one thread at a time. Several threads may
 * each run simulations of their own. Some state exists once per process, and hcasim_start() refuses
 * conflicts. All simulations with SystemC modules belong to one thread. A process can run one
 * simulation with `fabric.fidelity: flow` in its life.
 */
#ifndef INCLUDE_HCASIM_HCASIM_H
#define INCLUDE_HCASIM_HCASIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hcasim/time.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hcasim;         /* one simulation */
struct congestion_ops; /* congestion.h */

#define HCASIM_END SIM_NEVER /* as the time of hcasim_step(): the end of the run */

/* The exit codes of `hcasim run`, as hcasim_exit_code() returns them. */
enum { HCASIM_GOOD = 0, HCASIM_NOT_AS_EXPECTED = 1, HCASIM_BAD_INPUT = 2 };

/* An error, or a warning, at a place of the scenario. Texts are never NULL, and "" if absent. */
struct hcasim_problem {
	bool is_warning;
	const char *file;
	uint32_t line, column; /* from 1; 0 if the place is not a line of a file */
	const char *key;       /* path of the key, as hcasim_set() takes it */
	const char *text;      /* the error, and all further fields in one sentence */
	const char *found;     /* the value there */
	const char *expected;
	const char *suggestion;
};

/* Returns "0.2.0". */
const char *hcasim_version(void);

/* Names the scenario: a file, or a text in YAML. Files that hcasim installs are found too, such as
 * "scenarios/two-hosts-ib.yaml". Reads nothing yet. Never returns NULL. */
struct hcasim *hcasim_load(const char *file);
struct hcasim *hcasim_load_text(const char *yaml);

/* Sets one value of the scenario before the start, "hosts.hca.congestion=swift", as --set does. */
bool hcasim_set(struct hcasim *simulation, const char *assignment);

/* Offers a congestion control of the program to the scenario, which names it by ops->name. Call it
 * before the start. `ops` must outlive the simulation. A shared object needs no call: set its path
 * as the value of `congestion`. */
bool hcasim_attach(struct hcasim *simulation, const struct congestion_ops *ops);

/* Reads the scenario and builds hosts, adapters, links and switches. The time is 0. */
bool hcasim_start(struct hcasim *simulation);

/* Runs until `time_ps`: all events before it have happened. Returns true while the run goes on,
 * false when it is over or if the call fails. */
bool hcasim_step(struct hcasim *simulation, uint64_t time_ps);
uint64_t hcasim_now(const struct hcasim *simulation);

/* Ends the run now. The metrics of a workload then describe the time until now. */
bool hcasim_stop(struct hcasim *simulation);

/* Adds up the counters whose names match, at any time after the start: "*.packets_sent". `hcasim
 * counters` lists them. */
bool hcasim_counter(struct hcasim *simulation, const char *pattern, uint64_t *value);

/* Reads a metric after the run, by the name that `expect` uses: "goodput_gbps", "flow3.fct_us",
 * "mops". Returns false if the run has no value for it. */
bool hcasim_metric(struct hcasim *simulation, const char *name, double *value);

/* Returns, after the run, the text of a file that `hcasim run --out` writes: "summary.json",
 * "flows.csv", "counters.json", "links.csv", "switches.csv", "slowdowns.csv", "bins.csv",
 * "series.csv", "scenario.yaml". It belongs to the simulation, until the next call. Returns NULL if
 * the run has no such file. */
const char *hcasim_result(struct hcasim *simulation, const char *file);

/* Return, after the run, the exit code of `hcasim run`, and the lines that it prints about laws and
 * expectations. */
int hcasim_exit_code(const struct hcasim *simulation);
const char *hcasim_remarks(const struct hcasim *simulation);

/* Return the errors and warnings so far, in order. They belong to the simulation. */
size_t hcasim_problem_count(const struct hcasim *simulation);
const struct hcasim_problem *hcasim_problem(const struct hcasim *simulation, size_t number);

/* Frees the simulation. May be called at any time, also with NULL. */
void hcasim_destroy(struct hcasim *simulation);

#ifdef __cplusplus
}
#endif
#endif
