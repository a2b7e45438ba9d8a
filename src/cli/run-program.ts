import { type Command, CommanderError } from 'commander'
import { problemJson } from '../http/problem-json.ts'
import { Refusal } from '../model/refusal.ts'
import { EXIT, exitCodeOf } from './output/exit-codes.ts'
import { bearOutputErrors } from './output/output-errors.ts'
import { jsonText } from './output/json.ts'

/** Carries out what the command line says; a refusal is told, and gives the exit code. */
export async function runProgram(program: Command, argv = process.argv): Promise<void> {
  bearOutputErrors()
  withoutEmpty(program, process.env)
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = tellUsage(error, argv)
    else if (error instanceof Refusal) process.exitCode = await tellRefusal(error, argv)
    else throw error
  }
}

async function tellRefusal(refusal: Refusal, argv: readonly string[]): Promise<number> {
  if (wantsJson(argv)) process.stdout.write(jsonText(problemJson(refusal)))
  const text = `casefile: ${[refusal.message, ...fieldLines(refusal)].join('\n')}\n`
  const { isTTY, columns } = process.stderr
  if (isTTY) {
    const { wrapped } = await import('./output/wrapped.ts')
    process.stderr.write(wrapped(text, columns || 80))
  } else process.stderr.write(text)
  return exitCodeOf(refusal)
}

function fieldLines({ message, errors }: Refusal): string[] {
  return errors
    .filter((error) => !message.includes(error.message))
    .map(({ path, message }) => `  ${path}: ${message}`)
}

/** Commander has printed what is wrong already, or the help that was asked for. */
function tellUsage({ exitCode, message }: CommanderError, argv: readonly string[]): number {
  if (exitCode === 0) return EXIT.done
  if (wantsJson(argv)) {
    process.stdout.write(jsonText(problemJson(new Refusal('bad_request', message))))
  }
  return EXIT.usage
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(2, end === -1 ? undefined : end).includes('--json')
}

/** A variable that is set to nothing counts as not set. */
function withoutEmpty(command: Command, environment: NodeJS.ProcessEnv): void {
  for (const { envVar } of command.options) {
    if (envVar !== undefined && environment[envVar] === '') delete environment[envVar]
  }
  for (const each of command.commands) withoutEmpty(each, environment)
}
