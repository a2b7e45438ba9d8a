import type { Console, ConsoleOptions } from '../console.ts'
import type { ExitCode } from '../exit-codes.ts'

/** Carries a command out; all that this takes is loaded only now, so that the help is quick. */
export async function atConsole(
  options: ConsoleOptions,
  work: (console: Console) => Promise<ExitCode>,
): Promise<void> {
  const { carryOut } = await import('../console.ts')
  await carryOut(options, work)
}
