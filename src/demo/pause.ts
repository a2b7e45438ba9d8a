import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './question.ts'

const POLL_MS = 250

/** Polls until it is so. */
export async function until(isSo: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await isSo())) await delay(POLL_MS, undefined, { signal })
}

/**
 * Waits until the person presses Enter, or has done it elsewhere. Returns the answer, or null if they did it
 * elsewhere. The end of input counts as Enter.
 */
export async function answerOrDone(
  prompt: string,
  isDone: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<string | null> {
  const waiting = new AbortController()
  const both = AbortSignal.any([signal, waiting.signal])
  const done = until(isDone, both).then(
    () => null,
    () => new Promise<null>(() => {}), // stopped: the answer or the interruption counts
  )
  try {
    const asked = ask(prompt, both).then((answer) => answer ?? '')
    asked.catch(() => {}) // it rejects when it has lost the race
    return await Promise.race([asked, done])
  } finally {
    waiting.abort()
  }
}
