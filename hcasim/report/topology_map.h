/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_map: the hosts and switches of a run with their links: use and pauses of each direction,
 * for the whole run and over time.
 *
 *     links.csv, series.csv --topology_map_add()--> item "topology" of the page
 *
 * Hosts are at the bottom. A switch stands above them by its distance from the nearest host.
 */
#ifndef HCASIM_REPORT_TOPOLOGY_MAP_H
#define HCASIM_REPORT_TOPOLOGY_MAP_H

#include "hcasim/report/report.h"

/* A run without links.csv, or with more links than a map shows, has no map. `run` is as for
 * report_charts(). Returns false if a file cannot be read. */
bool topology_map_add(struct report *report, const char *folder, const char *run);

#endif
