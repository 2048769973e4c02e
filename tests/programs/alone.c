/* SPDX-License-Identifier: Apache-2.0 */
/* alone: a statically linked program, into which no library can be preloaded. */
#include <stdio.h>

int main(void)
{
	return puts("alone") < 0;
}
