/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets: TCP sockets of the program, which the simulator models (socket_record.h). Implements
 * libc's functions for simulated sockets. wait.c and net.c first check whether a descriptor is a
 * simulated socket.
 */
#ifndef VERBS_SHIM_PRELOAD_SOCKETS_H
#define VERBS_SHIM_PRELOAD_SOCKETS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "verbs-shim/socket_record.h"

/* Returns the record of a descriptor, or NULL if it is no modelled socket. errno stays. */
struct shim_socket *sockets_of(int fd);

/* For shim_os_wait.socket: waits for that descriptor, or for any of several. */
uint64_t sockets_key(int fd);
uint64_t sockets_any_key(void);

bool sockets_models(int family, int type, int protocol);
int sockets_open(int family, int type);
/* What more files of this folder share: reads and writes addresses in a program's form. */
bool sockets_read_address(const struct shim_socket *record, const struct sockaddr *address,
			  socklen_t length, struct shim_address *to);
void sockets_write_address(const struct shim_socket *record, const struct shim_address *from,
			   struct sockaddr *address, socklen_t *length);
int64_t sockets_call_number(enum shim_socket_call which, const struct shim_socket *record);
uint64_t sockets_copy_time(uint64_t bytes); /* ps */
/* Charges the processor time of bytes that are read, and of the segments that have arrived. */
void sockets_pay_received(struct shim_socket *record, uint64_t bytes);
int sockets_bind(struct shim_socket *record, const struct sockaddr *address, socklen_t length);
int sockets_listen(int fd, struct shim_socket *record, int backlog);
int sockets_connect(int fd, struct shim_socket *record, const struct sockaddr *address,
		    socklen_t length);
int sockets_accept(int fd, struct shim_socket *record, struct sockaddr *address, socklen_t *length,
		   int flags);
int sockets_shutdown(int fd, struct shim_socket *record, int how);
int sockets_name(const struct shim_socket *record, bool peer, struct sockaddr *address,
		 socklen_t *length);

/* Sends as send(2) does: all, if it may wait. */
ssize_t sockets_send(int fd, struct shim_socket *record, const struct msghdr *message, int flags);
/* `bytes` went into the pair by another call. */
void sockets_sent(struct shim_socket *record, ssize_t bytes);
/* A read returned `result`. Returns the value for the program. */
ssize_t sockets_taken(int fd, struct shim_socket *record, ssize_t result);

/* Around the close of a descriptor: the result of the first is for the second. */
int64_t sockets_closing(int fd);
void sockets_closed(int64_t number);

/* socket_options.c */
/* Copies the options that the pair of a socket has. */
void sockets_copy_pair_options(int to, int from);
int sockets_set_option(int fd, struct shim_socket *record, int level, int option, const void *value,
		       socklen_t length);
int sockets_get_option(int fd, struct shim_socket *record, int level, int option, void *value,
		       socklen_t *length);

#endif
