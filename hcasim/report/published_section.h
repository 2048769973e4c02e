/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_section: the published rows that the expectations of a run name, with the measured
 * values. The rows come with the program (scenarios/published).
 */
#ifndef HCASIM_REPORT_PUBLISHED_SECTION_H
#define HCASIM_REPORT_PUBLISHED_SECTION_H

#include "hcasim/report/report.h"

/* Adds the section for the summary of a run, if the summary has rows. Returns false and sets the
 * report's error on failure. */
bool published_section_add(struct report *report, const struct yaml_node *summary);

#endif
