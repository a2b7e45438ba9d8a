#!/usr/bin/env node
/** Begins the program: it lies in dist/ as cli.js. */
require('./load.js').load('./main.js')
