import { fileURLToPath } from 'node:url'
import { packageVersion } from './build.ts'
import { casefile } from './cli/definitions/program.ts'
import { runProgram } from './cli/run-program.ts'

/** As Node says of a module that awaits what never comes. */
const UNSETTLED = 13

async function main(): Promise<void> {
  const unsettled = () => {
    process.exitCode ??= UNSETTLED
  }
  process.once('exit', unsettled)
  // a write beyond a limit on the size of files (ulimit -f) would end the process; so it is refused as on a full disk
  process.on('SIGXFSZ', () => {})
  const program = casefile({
    version: await packageVersion(),
    // beside dist/ in the package, and beside src/ in a checkout
    sample: fileURLToPath(new URL('../sample-workspace', import.meta.url)),
    program: fileURLToPath(import.meta.url),
  })
  await runProgram(program)
  process.off('exit', unsettled)
}

void main() // not awaited: what is built is a script, see bundle.mjs
