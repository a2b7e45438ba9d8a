import { createInterface } from 'node:readline/promises'

/** Asks on the terminal; anything but y or yes is no, and so is the end of the input. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(question, signal)) ?? '')
}

/** The line that is typed on the terminal, without blanks around it; null at the end of the input. */
export async function ask(question: string, signal: AbortSignal): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // readline takes ctrl-C for itself: the process gets it back as the signal that it is
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
