/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_parts: the files of a report's page, which the build turns into texts of the program
 * (cmake/embed.cmake).
 */
#ifndef HCASIM_REPORT_PAGE_PARTS_H
#define HCASIM_REPORT_PAGE_PARTS_H

extern const char page_html[];     /* the frame, with {{NAME}} where a part goes */
extern const char page_style[];    /* page/page.css */
extern const char page_script[];   /* page/page.js: sections, tables, tiles */
extern const char page_drawings[]; /* page/drawings.js: charts, maps, the topology */
extern const char uplot_style[], uplot_script[];

#endif
