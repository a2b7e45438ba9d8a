import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { codeOf } from '../../files/errno.ts'
import { findProgram, whyNotFound } from '../process/find-program.ts'
import type { Launched, NotLaunched } from './enclosure.ts'
import type { Sandbox } from './sandbox.ts'
import type { StandardInput } from './step-pipes.ts'

/** What Linux allows for one argument or variable. */
const LONGEST_WORD = 128 * 1024

export interface LaunchOptions {
  /** The program and its arguments. No shell is involved unless this names one. */
  argv: readonly string[]
  cwd: string
  /** See `EnclosedProgram`. */
  within?: string | undefined
  /** The whole environment except PWD: nothing is inherited from this process. */
  env: Record<string, string>
  sandbox: Sandbox
  stdin: StandardInput
  /** Aborts the wait for the program; then nothing runs. */
  signal: AbortSignal
}

/** Starts a program in the sandbox that waits until `begin` is called. */
export async function launch(options: LaunchOptions): Promise<Launched | NotLaunched> {
  const { argv, within, env, sandbox, stdin, signal } = options
  const [name, ...args] = argv
  if (name === undefined) throw new TypeError('argv is empty: it must name a program')
  const cwd = resolve(options.cwd)
  const where = { path: env.PATH, cwd }
  const program = await findProgram(name, where)
  if (program === null) return { startError: await whyNotFound(name, where) }
  const words = [...(sandbox.before?.(cwd) ?? []), program, ...args]
  const startError = wrongWords([...words, ...Object.entries(env).map((entry) => entry.join('='))])
  if (startError !== null) return { startError }
  const wrong = await wrongFolder(cwd)
  if (wrong !== null) return { startError: wrong }
  return sandbox.start({ words, cwd, within, env, stdin, signal })
}

function wrongWords(words: readonly string[]): string | null {
  if (words.some((word) => word.includes('\0'))) return 'ERR_INVALID_ARG_VALUE'
  return words.some((word) => Buffer.byteLength(word) >= LONGEST_WORD) ? 'E2BIG' : null
}

async function wrongFolder(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isDirectory() ? null : 'ENOTDIR'
  } catch (error) {
    const code = codeOf(error)
    if (code === '') throw error
    return code
  }
}
