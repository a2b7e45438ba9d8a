import { createInterface } from 'node:readline/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadContext } from './context.ts'
import { usageError } from './output/exit-codes.ts'

/** Asks on the terminal. Only y or yes, and Enter, means yes. What was typed before the question does not count. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  await dropPending(process.stdin, signal)
  return /^y(?:es)?$/i.test((await ask(question, signal)) ?? '')
}

/** Asks before a decision; `yes` answers. Throws if nothing can ask. */
export async function isAgreed(
  { terminal, json, signal }: Pick<ReadContext, 'terminal' | 'json' | 'signal'>,
  { yes, question }: { yes: boolean | undefined; question: string },
): Promise<boolean> {
  if (yes) return true
  if (json || !terminal.canAsk) {
    throw usageError('This asks first, which needs a terminal. Without one, use --yes.')
  }
  return confirm(question, signal)
}

/** So many turns of the event loop read what the terminal has. */
const TURNS = 3

/** Of what was typed, only Ctrl-C counts. */
async function dropPending(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!stdin.isTTY || !('setRawMode' in stdin)) return
  const drop = (bytes: Buffer) => {
    if (bytes.includes('\u0003')) process.kill(process.pid, 'SIGINT')
  }
  stdin.setRawMode(true)
  stdin.on('data', drop)
  stdin.resume()
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn()
  stdin.off('data', drop)
  stdin.setRawMode(false)
  stdin.pause()
  signal.throwIfAborted()
}

/** Reads a line from the terminal, without surrounding spaces; null at the end of input. */
export async function ask(question: string, signal: AbortSignal): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // readline captures ctrl-C, so pass it on as the signal
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const closed = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)))
    const answer = await Promise.race([terminal.question(question, { signal }), closed])
    if (answer === null) process.stdout.write('\n')
    return answer?.trim() ?? null
  } finally {
    terminal.close()
  }
}
