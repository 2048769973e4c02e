/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netfile: reads what ibnetdiscover prints, and the net files of ibsim, into a layout.
 *
 *     Switch  36 "S-0002c90300000001"  # "spine" ...     a node: kind, ports, name
 *     [1](guid)  "H-0002c90300000002"[1](guid) # 4xEDR   a port of it: to which port of whom; the rate if given
 *
 * Each link stands in the file at both ends, or at one. Ports count from 1 there, from 0 here. A channel adapter with
 * several linked ports becomes as many hosts of one machine, NAME, NAME/2 ...
 */
#ifndef FABRIC_NETFILE_H
#define FABRIC_NETFILE_H

#include "fabric/layout.h"

/* The layout is empty before. false: *error says which line is wrong, and the layout is to be finished all the same. */
bool netfile_read(struct layout *layout, const char *text, size_t length, char *error,
		  size_t error_bytes);

#endif
