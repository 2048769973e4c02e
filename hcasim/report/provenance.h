/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance: origin of the numbers of a report: effective configuration, its hash, version,
 * machine and times, and the commands that reproduce the numbers.
 */
#ifndef HCASIM_REPORT_PROVENANCE_H
#define HCASIM_REPORT_PROVENANCE_H

#include "hcasim/report/report.h"

/* Adds the provenance of a run. For a sweep it is the provenance of the first point's
 * configuration. */
void provenance_add(struct report *report, const struct report_run *runs, size_t count,
		    const char *report_command);

#endif
