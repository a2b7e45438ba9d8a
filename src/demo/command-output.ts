import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { AppError } from '../model/app-error.ts'

/** Which lines of a command's output the demo shows. */
export interface OutputView {
  /** Nothing before the first line that matches. */
  from?: RegExp
  /** Nothing from the first line that matches. */
  until?: RegExp
  hide?(line: string): boolean
}

interface CommandOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** How long a stopped program may take to end. */
const STOP_MS = 5_000

/** Runs a program, passes each line that it prints on either stream, and returns its exit code. Throws if stopped, after its end. */
export async function runLines(
  [program = '', ...args]: readonly string[],
  { cwd, env, signal }: CommandOptions,
  onLine: (line: string) => void,
): Promise<number> {
  // one pipe for both streams keeps the order of the lines
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', program, ...args], {
    cwd,
    env,
    signal,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  createInterface({ input: child.stdout }).on('line', onLine)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const [code] = await once(child, 'close').catch(async (error: unknown) => {
    await Promise.race([closed, delay(STOP_MS, undefined, { ref: false })])
    throw error
  })
  if (code === 127) {
    throw new AppError('bad_request', `The demo needs ${program}, which is not installed.`)
  }
  return code
}

/** Passes the lines that the view shows, and no blank lines around them. */
export function shorten(view: OutputView, print: (line: string) => void): (line: string) => void {
  const { from, until } = view
  let isShowing = from === undefined
  let hasEnded = false
  let isFirst = true
  let isAfterBlank = false
  return (line) => {
    const text = stripVTControlCharacters(line)
    isShowing ||= from?.test(text) === true
    hasEnded ||= until?.test(text) === true
    if (!isShowing || hasEnded || view.hide?.(text)) return
    if (text.trim() === '') {
      isAfterBlank = true
      return
    }
    if (isAfterBlank && !isFirst) print('')
    print(line)
    isFirst = false
    isAfterBlank = false
  }
}
