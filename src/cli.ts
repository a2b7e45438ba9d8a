import { fileURLToPath } from 'node:url'
import { packageVersion } from './build.ts'
import { casefile } from './cli/definitions/program.ts'
import { EXIT } from './cli/exit-codes.ts'
import { runProgram } from './cli/run-program.ts'

async function main(): Promise<void> {
  // not at 'exit': what proper-lockfile loads sets the exit code to 0 just before
  const unsettled = () => {
    process.stderr.write('casefile: the command ended before its work was done. This is a bug.\n')
    process.exitCode ||= EXIT.unfinished
  }
  process.once('beforeExit', unsettled)
  // a write beyond a limit on the size of files (ulimit -f) would end the process; so it is refused as on a full disk
  process.on('SIGXFSZ', () => {})
  const program = casefile({
    version: await packageVersion(),
    // beside dist/ in the package, and beside src/ in a checkout
    sample: fileURLToPath(new URL('../sample-workspace', import.meta.url)),
    program: fileURLToPath(import.meta.url),
  })
  await runProgram(program)
  process.off('beforeExit', unsettled)
}

void main() // not awaited: what is built is a script, see bundle.mjs
