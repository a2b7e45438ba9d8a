import type { Console, ConsoleOptions } from '../console.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'

/** Carries a command out; all that this takes is loaded only now, so that the help is quick. */
export async function atConsole(
  options: ConsoleOptions,
  work: (console: Console) => Promise<ExitCode>,
): Promise<void> {
  const { carryOut } = await import('../console.ts')
  await carryOut(options, work)
}

/** The same for a command that only asks: without a service it reads the files itself. */
export async function atReading(
  options: ConsoleOptions,
  work: (console: ReadingConsole) => Promise<ExitCode>,
): Promise<void> {
  const { answerFromFiles } = await import('../reading/answer-from-files.ts')
  if (!(await answerFromFiles(options, work))) await atConsole(options, work)
}
