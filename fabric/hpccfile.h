/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpccfile: reads the topology files of the HPCC study's simulator, which many later studies use,
 * into a layout.
 *
 *     NODES SWITCHES LINKS
 *     NUMBER ...                        numbers of the switches, on one or more lines
 *     ONE OTHER RATE DELAY ERROR_RATE   for each link: 0 16 100Gbps 1us 0
 *
 * Nodes that are not switches are hosts. Hosts have the lowest numbers, so that the same numbers
 * name them in a file of flows. Host N is called hostN, and the first switch switch0. Ports count
 * from 0 in the order of the links. The length of a link is its delay at 5 ns/m.
 */
#ifndef FABRIC_HPCCFILE_H
#define FABRIC_HPCCFILE_H

#include "fabric/layout.h"

/* Reads a file into an empty layout. Returns false on failure, and writes line and reason to
 * `error`. The caller frees the layout in both cases. */
bool hpccfile_read(struct layout *layout, const char *text, size_t length, char *error,
		   size_t error_bytes);

#endif
