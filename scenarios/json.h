/* json: the one thing that writing JSON needs care for: texts. */
#ifndef SCENARIOS_JSON_H
#define SCENARIOS_JSON_H

#include <stdio.h>

void json_text(const char *text, FILE *out); /* with its quotes; RFC 8259, 7 */

#endif
