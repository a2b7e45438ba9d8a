import { fileURLToPath } from 'node:url'
import { EXIT } from './cli/output/exit-codes.ts'
import { runProgram } from './cli/run-program.ts'
import { packageFile, packageVersion } from './package-files.ts'

/** Runs what the command line says. `program` is the path that Node was started with. */
export async function main(program: string): Promise<void> {
  // not at 'exit': what proper-lockfile loads sets the exit code to 0 just before
  const unsettled = () => {
    process.stderr.write('casefile: the command ended before its work was done. This is a bug.\n')
    process.exitCode ||= EXIT.unfinished
  }
  process.once('beforeExit', unsettled)
  // a write beyond a limit on the size of files (ulimit -f) would end the process; so it fails as on a full disk
  process.on('SIGXFSZ', () => {})
  await runProgram({
    version: packageVersion(),
    sample: fileURLToPath(packageFile('sample-workspace')),
    program,
  })
  process.off('beforeExit', unsettled)
}
