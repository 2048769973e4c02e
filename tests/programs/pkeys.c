/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkeys: prints the port's P_Keys from verbs: the valid ones by index, and the number of packets
 * with a wrong one. Checks that looking up the index of each returns it.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;

	if (!context || ibv_query_port(context, 1, &port)) {
		fprintf(stderr, "no device\n");
		return 1;
	}
	for (int i = 0; i < port.pkey_tbl_len; i++) {
		__be16 key;

		if (ibv_query_pkey(context, 1, i, &key)) {
			fprintf(stderr, "ibv_query_pkey failed\n");
			return 1;
		}
		if (key == 0)
			continue;
		if (ibv_get_pkey_index(context, 1, key) != i) {
			fprintf(stderr, "ibv_get_pkey_index failed\n");
			return 1;
		}
		printf("%d: 0x%04x\n", i, ntohs(key));
	}
	printf("%u of %u wrong\n", port.bad_pkey_cntr, port.pkey_tbl_len);
	return 0;
}
