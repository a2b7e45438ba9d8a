/** Finds out whether the user of an agent is logged in, without its model and without reading a secret. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeUtf8, readRegular } from '../../files/safe-read.ts'
import { runStepProcess } from '../enclosure/step-process.ts'
import { findProgram } from '../process/find-program.ts'
import type { Env } from './user-tools.ts'

/** How to find out whether an agent is logged in. */
export interface LoginCheck {
  /** What a person types to log in. */
  command: string
  /** The command that reports the login; null if there is none. */
  status: readonly string[] | null
  /**
   * Whether it is logged in; null if that cannot be known. `answer` is null without a status command, if its program
   * is not on the PATH, or if it does not exit by itself within 5 s.
   */
  read(answer: StatusAnswer | null, env: Env): boolean | null | Promise<boolean | null>
}

export interface StatusAnswer {
  exit: number
  stdout: string
}

const TIMEOUT_MS = 5_000
const MAX_OUTPUT = 64 * 1024

/** Runs without a terminal and outside of the workspace, whose files may be settings of the program. */
export async function isLoggedIn(check: LoginCheck, env: Env): Promise<boolean | null> {
  return check.read(check.status && (await askStatus(check.status, env)), env)
}

async function askStatus([name = '', ...args]: readonly string[], env: Env) {
  const cwd = tmpdir()
  const program = await findProgram(name, { path: env.PATH, cwd })
  if (program === null) return null
  let stdout = ''
  const { exit } = await runStepProcess({
    argv: [program, ...args],
    cwd,
    env: { ...env },
    timeoutMs: TIMEOUT_MS,
    signal: new AbortController().signal,
    endsGroup: true,
    onOutput(stream, bytes) {
      if (stream === 'stdout' && stdout.length < MAX_OUTPUT) stdout += bytes.toString('utf8')
    },
  })
  return exit === null ? null : { exit, stdout }
}

/** Whether one of these variables has a value. */
export function isAnySet(env: Env, names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? '') !== '')
}

export async function isThere(folder: string, name: string): Promise<boolean> {
  return (await read(folder, name)) !== null
}

/** Empty if it is missing or cannot be read. */
export async function textOf(folder: string, name: string): Promise<string> {
  const bytes = await read(folder, name)
  const text = bytes && decodeUtf8(bytes)
  return text?.ok ? text.text : ''
}

async function read(folder: string, name: string): Promise<Uint8Array | null> {
  const found = await readRegular(join(folder, name), { maxBytes: 1024 * 1024 })
  return found.ok ? found.bytes : null
}
