/* SPDX-License-Identifier: Apache-2.0 */
/* alone: a program that is linked statically, so that nothing can be preloaded into it. */
#include <stdio.h>

int main(void)
{
	return puts("alone") < 0;
}
