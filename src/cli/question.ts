import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadContext } from './context.ts'
import { usageError } from './output/exit-codes.ts'

/** Asks a yes/no question on the terminal. Anything but y or yes means no, and so does the end of input. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(question, signal)) ?? '')
}

/** Asks before what cannot be undone; `yes` answers. Throws if nothing can ask. */
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

/** Asks a yes/no question that one key answers: y means yes. Keys that were pressed before it is printed do not count. */
export async function confirmByKey(question: string, signal: AbortSignal): Promise<boolean> {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !('setRawMode' in stdin)) return confirm(question, signal)
  signal.throwIfAborted()
  stdin.setRawMode(true)
  try {
    await dropPending(stdin)
    signal.throwIfAborted()
    stdout.write(question)
    const [bytes] = (await once(stdin, 'data', { signal })) as [Buffer]
    const key = bytes.toString().slice(0, 1)
    if (key === '\u0003') process.kill(process.pid, 'SIGINT')
    stdout.write(/[ -~]/.test(key) ? `${key}\n` : '\n')
    return /^y$/i.test(key)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
  }
}

/** So many turns of the event loop read what the terminal has. */
const TURNS = 3

/** Leaves the stream flowing. Of what was typed, only Ctrl-C counts. */
async function dropPending(stdin: NodeJS.ReadStream): Promise<void> {
  const drop = (bytes: Buffer) => {
    if (bytes.includes('\u0003')) process.kill(process.pid, 'SIGINT')
  }
  stdin.on('data', drop)
  stdin.resume()
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn()
  stdin.off('data', drop)
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
