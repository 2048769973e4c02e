/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_link: a PCIe link whose times can be added up in the head: 1 ns a byte, no DLLPs, 100 ns of link, 300 ns to read,
 * 50 ns until a write is visible, 20 ns for a CPU's store.
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
