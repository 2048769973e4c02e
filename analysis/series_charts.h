/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_charts: charts of ports over time, from a run's series. They show queues with thresholds
 * and pauses, stored input, and rates. Maps of links and of pauses have one row per port.
 */
#ifndef ANALYSIS_SERIES_CHARTS_H
#define ANALYSIS_SERIES_CHARTS_H

#include "analysis/chart.h"
#include "analysis/series.h"
#include "sim/yaml.h"

/* scenario: effective configuration, from which the thresholds are read; NULL: unknown. rates_gbps:
 * rates of the ports' links, in the order of the ports; NAN: unknown. */
void series_charts_add(struct charts *charts, const struct series *series,
		       const struct yaml_node *scenario, const double *rates_gbps);

#endif
