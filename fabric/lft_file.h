/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lft_file: reads linear forwarding tables as ibroute and dump_lfts (infiniband-diags) print them:
 *
 *     Unicast lids [0x0-0x4] of switch DR path slid 0; dlid 0; 0,1 guid 0x0002c90300000001 (leaf0):
 *       Lid  Out   Destination
 *            Port     Info
 *     0x0001 018 : (Channel Adapter portguid 0x0002c90300000011: 'node01 HCA-1')
 *     4 valid lids dumped
 *
 * The switch is the name in parentheses; ports count from 1, port 0 is the switch itself.
 */
#ifndef FABRIC_LFT_FILE_H
#define FABRIC_LFT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lft_route {
	const char *sw; /* the switch's name; valid during the call */
	uint16_t lid;
	unsigned port;
};

/* lft_file_read() calls this function for each line of a table, in the order of the file, except
 * for port 0. Returns false to end the reading. */
typedef bool lft_taker(void *context, const struct lft_route *route);

/* Reads a file. Returns false on an error: *line is its line, from 1, and *error describes it. */
bool lft_file_read(FILE *file, lft_taker *take, void *context, uint32_t *line, char *error,
		   size_t error_bytes);

#endif
