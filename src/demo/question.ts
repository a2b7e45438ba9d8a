import { createInterface } from 'node:readline/promises'

/** Asks a yes/no question on the terminal. Anything but y or yes means no, and so does the end of input. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(question, signal)) ?? '')
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
