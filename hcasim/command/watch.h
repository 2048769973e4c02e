/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: shows the busiest ports of a run in progress at intervals, with their rates, queues and
 * pauses. A terminal shows one picture in colour, which is redrawn. Other outputs get every
 * picture.
 *
 *     verb_run.c --watch_run()--> experiment_advance(), picture, experiment_advance(), ...
 */
#ifndef HCASIM_COMMAND_WATCH_H
#define HCASIM_COMMAND_WATCH_H

#include "hcasim/command/verb.h"
#include "hcasim/run/experiment.h"

/* Runs the experiment to its end, with a picture after each arguments->every of virtual time. */
void watch_run(const struct arguments *arguments, const struct build *build,
	       struct experiment *experiment);

#endif
