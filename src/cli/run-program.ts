import { type Command, CommanderError } from 'commander'
import { startNothingFrom } from '../files/service-program.ts'
import { problemJson } from '../http/problem-json.ts'
import { AppError } from '../model/app-error.ts'
import type { ProgramContext } from './command.ts'
import { complete } from './complete.ts'
import { rootOf } from './find-workspace.ts'
import { EXIT, exitCodeOf } from './output/exit-codes.ts'
import { jsonText } from './output/json.ts'
import { nextStep } from './output/next-step.ts'
import { bearOutputErrors } from './output/output-errors.ts'
import { wrapped } from './output/wrapped.ts'
import { COMMAND_NAMES, casefile } from './program.ts'

/** Runs the command line. Prints an error and sets the exit code. */
export async function runProgram(context: ProgramContext, argv = process.argv): Promise<void> {
  bearOutputErrors()
  const [first = ''] = argv.slice(2)
  if (first === '__complete') {
    return complete(context, argv.slice(3))
  }
  const isUnknown =
    first !== '' && !first.startsWith('-') && ![...COMMAND_NAMES, 'help'].includes(first)
  const program = casefile(context, first)
  withoutEmpty(
    program.commands.flatMap((each) => [each, ...each.commands]),
    process.env,
  )
  program.hook('preAction', (_, command) => startNothingOfRuns(command))
  try {
    // with options such as --help, an unknown command name would show the general help
    await program.parseAsync(isUnknown ? argv.slice(0, 3) : argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = reportUsage(error, argv)
    else if (error instanceof AppError) process.exitCode = report(error, argv)
    else throw error
  }
}

/** Before a command does anything: it starts no `git` or `unshare` that a run could have put on the PATH. */
async function startNothingOfRuns(command: Command): Promise<void> {
  const { writableForRuns } = await import('../sessions/work-folders.ts')
  const root = await rootOf(command.opts())
  startNothingFrom(await writableForRuns({ root, environment: process.env }))
}

function report(error: AppError, argv: readonly string[]): number {
  if (wantsJson(argv)) process.stdout.write(jsonText(problemJson(error)))
  const next = nextStep(error)
  const lines = [error.message, ...fieldLines(error), ...(next === null ? [] : [`Next: ${next}`])]
  const text = `casefile: ${lines.join('\n')}\n`
  const { isTTY, columns } = process.stderr
  process.stderr.write(isTTY ? wrapped(text, columns || 80) : text)
  return exitCodeOf(error)
}

function fieldLines({ message, errors }: AppError): string[] {
  return errors
    .filter((error) => !message.includes(error.message))
    .map(({ path, message }) => `  ${path}: ${message}`)
}

/** Commander has already printed the error or the help. */
function reportUsage({ exitCode, message }: CommanderError, argv: readonly string[]): number {
  if (exitCode === 0) return EXIT.done
  if (wantsJson(argv)) {
    process.stdout.write(jsonText(problemJson(new AppError('bad_request', message))))
  }
  return EXIT.usage
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(2, end === -1 ? undefined : end).includes('--json')
}

/** An empty environment variable counts as unset. */
function withoutEmpty(
  commands: readonly { options: readonly { envVar?: string | undefined }[] }[],
  environment: NodeJS.ProcessEnv,
): void {
  for (const { envVar } of commands.flatMap(({ options }) => options)) {
    if (envVar !== undefined && environment[envVar] === '') delete environment[envVar]
  }
}
