/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netfile: reads the output of ibnetdiscover, and the net files of ibsim, into a layout.
 *
 *     Switch  36 "S-0002c90300000001"  # "spine"         a node: kind, ports, name
 *     [1](guid)  "H-0002c90300000002"[1](guid) # 4xEDR   its port 1: the peer's port, the rate
 *
 * The file lists each link at one end or at both ends. Ports count from 1 in the file, and from 0
 * in the layout. A channel adapter with several linked ports becomes several hosts of one machine,
 * NAME, NAME/2 and so on.
 */
#ifndef FABRIC_NETFILE_H
#define FABRIC_NETFILE_H

#include "fabric/layout.h"

/* Reads a file into an empty layout. Returns false on an error: *error names the line. The caller
 * frees the layout in both cases. */
bool netfile_read(struct layout *layout, const char *text, size_t length, char *error,
		  size_t error_bytes);

#endif
