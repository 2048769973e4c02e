/*
 * program: parts of the program that the tests run under a session, which are in files of their own.
 */
#ifndef TESTS_SESSION_PROGRAM_H
#define TESTS_SESSION_PROGRAM_H

#include <stdint.h>

int part_timers(int argc, char **argv);

uint64_t now_us(void); /* CLOCK_MONOTONIC */

#endif
