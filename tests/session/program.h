/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program: parts of the program that the tests run under a session, which are in files of their
 * own.
 */
#ifndef TESTS_SESSION_PROGRAM_H
#define TESTS_SESSION_PROGRAM_H

#include <stdint.h>

int part_timers(int argc, char **argv);
int part_server(int argc, char **argv);
int part_client(int argc, char **argv);
int part_looks(int argc, char **argv);
int part_tells(int argc, char **argv);
int part_chats(int argc, char **argv);
int part_answers(int argc, char **argv);
int part_peers(int argc, char **argv);
int part_children(int argc, char **argv);
int part_ended(int argc, char **argv);
int part_queues(int argc, char **argv);
int part_suspends(int argc, char **argv);
int part_locks(int argc, char **argv);
int part_futex(int argc, char **argv);
int part_calls(int argc, char **argv);
int part_times(int argc, char **argv);

uint64_t now_us(void); /* CLOCK_MONOTONIC */

#endif
