/* json: see json.h. */
#include "scenarios/json.h"

void json_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char letter = (unsigned char)*text;
		if (letter == '"' || letter == '\\')
			fprintf(out, "\\%c", letter);
		else if (letter < 0x20)
			fprintf(out, "\\u%04x", letter);
		else
			fputc(letter, out);
	}
	fputc('"', out);
}
