/*
 * beside: files that come with the program, found from where the program itself lies: in the build tree, or installed.
 */
#ifndef SIM_BESIDE_H
#define SIM_BESIDE_H

#include <limits.h>
#include <stdbool.h>

/* The program's own folder, with its slash; "": the system does not tell. */
const char *beside_program(void);

/* A shared object: beside the program, in that folder of the build tree, or where libraries are installed. false: in none of them. */
bool beside_find(const char *folder, const char *name, char path[PATH_MAX]);

#endif
