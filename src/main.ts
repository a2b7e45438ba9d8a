import { fileURLToPath } from 'node:url'
import { EXIT } from './cli/output/exit-codes.ts'
import { runProgram } from './cli/run-program.ts'
import { packageFile, packageVersion } from './package-files.ts'

/** Runs the command line. `program` is the path that Node was started with. */
export async function main(program: string): Promise<void> {
  // not on 'exit': proper-lockfile's dependency sets the exit code to 0 just before that
  const unsettled = () => {
    process.stderr.write('casefile: the command ended before its work was done. This is a bug.\n')
    process.exitCode ||= EXIT.unfinished
  }
  process.once('beforeExit', unsettled)
  // makes a write beyond the file size limit (ulimit -f) fail like a full disk, instead of ending the process
  process.on('SIGXFSZ', () => {})
  await runProgram({
    version: packageVersion(),
    sample: fileURLToPath(packageFile('sample-workspace')),
    program,
  })
  process.off('beforeExit', unsettled)
}
