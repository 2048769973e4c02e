/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: processor that programs of a run see in cpuid and /proc/cpuinfo, independent of the
 * machine's.
 *
 * It has the features of x86-64-v3, by which compilers and libraries select code. The machine must
 * support these features, so missing ones are omitted. rdrand and rdseed are always omitted,
 * because their results are not repeatable. Source: Intel SDM volume 2 (CPUID), AMD64 Architecture
 * Programmer's Manual volume 3, appendix E.
 */
#ifndef VERBS_SHIM_SESSION_PROCESSOR_H
#define VERBS_SHIM_SESSION_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

struct shim_leaves;

/* Values of cpu.processor, in the same order. */
enum processor { PROCESSOR_XEON_E5_V3, PROCESSOR_EPYC_7003 };

#define PROCESSOR_CHOICES "xeon-e5-v3|epyc-7003"

/* Returns the replies of cpuid. */
void processor_leaves(enum processor processor, struct shim_leaves *leaves);

/* Sets the cache sizes, in the order of struct shim_host_view. */
struct shim_host_view;
void processor_caches(enum processor processor, struct shim_host_view *view);

/* Writes the entry of /proc/cpuinfo for one processor. `tsc` is its clock rate in Hz. Returns the
 * bytes written. */
size_t processor_describe(enum processor processor, uint32_t number, uint32_t of, uint64_t tsc,
			  char *text, size_t bytes);

#endif
