/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_link: a PCIe link with round numbers: 1 ns per byte, no DLLPs, link latency 100 ns. Read
 * latency 300 ns, write latency 50 ns, CPU store 20 ns.
 */
#ifndef TESTS_HCA_SUPPORT_ROUND_LINK_H
#define TESTS_HCA_SUPPORT_ROUND_LINK_H

#include "hca/host/pcie_params.h"

static inline void round_link(struct pcie_params *params)
{
	params_default(pcie_param_list, params);
	params->generation = 0;
	params->lanes = 4;
	params->dllp_share = 0;
	params->link_latency = 100 * NS;
	params->read_latency = 300 * NS;
	params->write_latency = 50 * NS;
	params->mmio_latency = 20 * NS;
}

#endif
