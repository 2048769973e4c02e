/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: the processor that programs of a run see, whatever the machine's is: what cpuid answers, and /proc/cpuinfo.
 *
 * It has what x86-64-v3 asks for, as compilers and libraries choose by that, of which the machine must have its share too: what
 * this lacks is left out. rdrand and rdseed are left out for good: what they answer repeats in no run.
 *
 * Source: Intel SDM volume 2 (CPUID), AMD64 Architecture Programmer's Manual volume 3, appendix E.
 */
#ifndef VERBS_SHIM_SESSION_PROCESSOR_H
#define VERBS_SHIM_SESSION_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

struct shim_leaves;

/* Of cpu.processor, in this order. */
enum processor { PROCESSOR_XEON_E5_V3, PROCESSOR_EPYC_7003 };

#define PROCESSOR_CHOICES "xeon-e5-v3|epyc-7003"

/* What cpuid is to answer. */
void processor_leaves(enum processor processor, struct shim_leaves *leaves);

/* Sizes in the order of struct shim_host_view. */
struct shim_host_view;
void processor_caches(enum processor processor, struct shim_host_view *view);

/* One entry of /proc/cpuinfo, of the processor with that number. tsc: its clock, Hz. Returns the bytes written. */
size_t processor_describe(enum processor processor, uint32_t number, uint32_t of, uint64_t tsc,
			  char *text, size_t bytes);

#endif
