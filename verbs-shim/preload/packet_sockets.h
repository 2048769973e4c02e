/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_sockets: AF_PACKET sockets of the program (packet(7)), which get the frames of eth0.
 * libpcap reads them from a ring that it maps (TPACKET_V2). The library fills that ring, in memory
 * of the process, from the pair of the socket when the program waits.
 */
#ifndef VERBS_SHIM_PRELOAD_PACKET_SOCKETS_H
#define VERBS_SHIM_PRELOAD_PACKET_SOCKETS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "verbs-shim/socket_record.h"

/* Opens a socket. protocol: Ethertype in network order. */
int packet_sockets_open(int type, int protocol);

int packet_sockets_bind(struct shim_socket *record, const struct sockaddr *address,
			socklen_t length);
void packet_sockets_address(const struct shim_address *from, struct sockaddr *address,
			    socklen_t *length);
int packet_sockets_set_option(struct shim_socket *record, int level, int option, const void *value,
			      socklen_t length);
int packet_sockets_get_option(int fd, struct shim_socket *record, int level, int option,
			      void *value, socklen_t *length);

/* Maps the ring of a socket. Returns NULL if it has none. */
void *packet_sockets_map(int fd, size_t length);

/* Fills the ring. Returns true if the socket has one; *events are then those of poll(). */
bool packet_sockets_poll(int fd, struct shim_socket *record, short *events);

#endif
