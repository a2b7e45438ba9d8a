#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { packageVersion } from './build.ts'
import { casefile } from './cli/definitions/program.ts'
import { runProgram } from './cli/run-program.ts'

await runProgram(
  casefile({
    version: await packageVersion(),
    // beside dist/ in the package, and beside src/ in a checkout
    sample: fileURLToPath(new URL('../sample-workspace', import.meta.url)),
    program: fileURLToPath(import.meta.url),
  }),
)
