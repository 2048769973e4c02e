/*
 * pcie_link: one direction of the link, as what serializes TLPs one after the other. Rates are exact fractions: a
 * train of packets without gaps takes the exact time of its bytes, rounded down once.
 *
 * PCI Express Base Specification 4.2 (encodings), 3.x (DLLPs, as a share of the rate).
 */
#ifndef HCA_HOST_PCIE_LINK_H
#define HCA_HOST_PCIE_LINK_H

#include "sim/sim.h"

struct pcie_link {                             /* embedded in its owner */
	uint64_t ps_numerator, ps_denominator; /* picoseconds a byte */
	uint64_t remainder; /* of the last packet's end, in 1/ps_denominator ps */
	sim_time free_at;   /* when the last packet given has left */
};

/* generation: 1..6. dllp_share: the part of the rate that is not for TLPs. */
void pcie_link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, double dllp_share);

/* A packet (or train of packets) ready at `ready`: when its last byte leaves. */
sim_time pcie_link_send(struct pcie_link *link, sim_time ready, uint64_t bytes);

/*
 * The same for one that passes those that wait: they leave the later, but those whose times were already told. `after`:
 * when the one before it left.
 */
sim_time pcie_link_pass(struct pcie_link *link, sim_time ready, sim_time after, uint64_t bytes);

/* How long so many bytes take, rounded down. */
sim_time pcie_link_duration(const struct pcie_link *link, uint64_t bytes);

/* After encoding, before DLLPs; rounded down. */
uint64_t pcie_link_raw_bps(uint32_t generation, uint64_t lanes);

#endif
