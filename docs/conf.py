# SPDX-License-Identifier: Apache-2.0
"""Sphinx: turns docs/ into a site that opens from its folder, with search (tools/site)."""
project = "hcasim"
html_title = "hcasim"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
