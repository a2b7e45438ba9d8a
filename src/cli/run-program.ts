import { Command, CommanderError } from 'commander'
import { problemJson } from '../http/problem-json.ts'
import { AppError } from '../model/app-error.ts'
import type { ProgramContext } from './command.ts'
import { EXIT, exitCodeOf, usageError } from './output/exit-codes.ts'
import { jsonText } from './output/json.ts'
import { nextStep } from './output/next-step.ts'
import { bearOutputErrors } from './output/output-errors.ts'
import { wrapped } from './output/wrapped.ts'
import { casefile, type Sections } from './program.ts'
import { unknownCommand } from './unknown-command.ts'

/** Runs the command line. Prints an error and sets the exit code. */
export async function runProgram(context: ProgramContext, argv = process.argv): Promise<void> {
  bearOutputErrors()
  const [first = ''] = argv.slice(2)
  if (first === '__complete') {
    const { complete } = await import('./complete.ts')
    return complete(context, argv.slice(3))
  }
  const program = casefile(context, await commandsFor(argv.slice(2)))
  withoutEmpty(
    program.commands.flatMap((each) => [each, ...each.commands]),
    process.env,
  )
  program.hook('preAction', async (_, command) => {
    const { startNothingOfRuns } = await import('./start-nothing-of-runs.ts')
    await startNothingOfRuns(command)
  })
  try {
    const unknown = unknownCommand(program, argv.slice(first === 'help' ? 3 : 2))
    if (unknown !== null) throw usageError(unknown)
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = reportUsage(error, argv)
    else if (error instanceof AppError) process.exitCode = report(error, argv)
    else throw error
  }
}

/** The named command, or all of them. Processes that live long do not hold the other commands in memory. */
async function commandsFor([name = '', subcommand]: readonly string[]): Promise<Sections> {
  if (name === '--version' || name === '-V') return {}
  if (name === 'serve') {
    return { Commands: { serve: (await import('./commands/serve.ts')).command } }
  }
  if (name === 'agent' && subcommand === 'mcp') {
    const { mcpCommand } = await import('./commands/agent/mcp.ts')
    return { Commands: { agent: () => new Command('agent').addCommand(mcpCommand()) } }
  }
  return (await import('./commands.ts')).commandsFor(name)
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
