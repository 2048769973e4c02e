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

/* Returns the record of a descriptor, or NULL if it is not a modelled socket. errno does not
 * change. */
struct shim_socket *sockets_of(int fd);

/* Return a value for shim_os_wait.socket: to wait for that descriptor, or for any of several. */
uint64_t sockets_key(int fd);
uint64_t sockets_any_key(void);

bool sockets_models(int family, int type, int protocol);
bool sockets_models_packets(int family, int type);
int sockets_open(int family, int type);
/* Functions that other files of this folder share. They read and write addresses in the format of
 * programs. */
bool sockets_read_address(const struct shim_socket *record, const struct sockaddr *address,
			  socklen_t length, struct shim_address *to);
void sockets_write_address(const struct shim_socket *record, const struct shim_address *from,
			   struct sockaddr *address, socklen_t *length);
int64_t sockets_call_number(enum shim_socket_call which, const struct shim_socket *record);
uint64_t sockets_copy_time(uint64_t bytes); /* ps */
/* Records the core of this thread, to which the adapter then steers the frames of the socket. */
void sockets_follow_thread(struct shim_socket *record);
/* Charges the processor time of the bytes that are read, and of the segments that have arrived. */
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

/* Sends as send(2) does: all bytes, if the call may wait. */
ssize_t sockets_send(int fd, struct shim_socket *record, const struct msghdr *message, int flags);
/* Reads from a stream as recvmsg(2) does. */
ssize_t sockets_receive(int fd, struct shim_socket *record, struct msghdr *message, int flags);
/* Reads from the pair of a stream without waiting. flags: MSG_PEEK, MSG_TRUNC, MSG_CMSG_CLOEXEC. */
ssize_t sockets_read_pair(int fd, struct msghdr *message, int flags);
size_t sockets_length(const struct msghdr *message);        /* bytes of all parts */
void sockets_advance(struct msghdr *message, size_t bytes); /* skips bytes that were moved */
/* Reports that another call wrote `bytes` to the pair. */
void sockets_sent(struct shim_socket *record, ssize_t bytes);

/* Surround the close of a descriptor. The result of the first function is the argument of the
 * second. */
int64_t sockets_closing(int fd);
void sockets_closed(int64_t number);

/* socket_options.c */
/* Keeps the value of an option in the record. */
int socket_options_keep(struct shim_socket *record, int level, int option, int value);
/* Copies the options that the pair of a socket has. */
void sockets_copy_pair_options(int to, int from);
int sockets_set_option(int fd, struct shim_socket *record, int level, int option, const void *value,
		       socklen_t length);
int sockets_get_option(int fd, struct shim_socket *record, int level, int option, void *value,
		       socklen_t *length);

#endif
