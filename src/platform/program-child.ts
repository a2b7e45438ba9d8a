/** Starts a program as a child of this process, and waits for its end. */

import { type ChildProcess, spawn } from 'node:child_process'
import { signalProcess, waitingForPipe } from './processes.ts'

/** All that a program is started with; can be sent to another process. */
export interface ProgramCall {
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment. */
  env: NodeJS.ProcessEnv
  /** Standard input. */
  input: string | Uint8Array
  /** The program is killed as soon as it has printed more than this many bytes. */
  maxBytes: number
  timeoutMs: number
}

export interface ProgramOutput {
  /** Null if it was killed. */
  exit: number | null
  signal: NodeJS.Signals | null
  stdout: Buffer
  stderr: string
  /** It was killed for `maxBytes`. */
  isCut: boolean
  /** It, or a program that it started, was killed because it waited for a named pipe. */
  isStuck: boolean
}

const LOOK_MS = 250

/**
 * Resolves at the end of the program. Rejects if it cannot be started (ENOENT: no such program, or no such `cwd`), or is
 * aborted (AbortError), but only after it has ended.
 */
export type ProgramStarter = (call: ProgramCall, signal?: AbortSignal) => Promise<ProgramOutput>

export const startProgram: ProgramStarter = (call, signal) => {
  const { file, args, cwd, env, input, maxBytes, timeoutMs } = call
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      signal,
    })
    // spawn's own timeout would keep this process alive if the program is missing
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    let isStuck = false
    const looking = setInterval(() => {
      for (const pid of child.pid === undefined ? [] : waitingForPipe(child.pid))
        isStuck = signalProcess(pid, 'SIGKILL') || isStuck
    }, LOOK_MS)
    const endTimers = () => {
      clearTimeout(timer)
      clearInterval(looking)
    }
    const stdout = collect(child, 'stdout', maxBytes)
    const stderr = collect(child, 'stderr', 64 * 1024)
    let failure: Error | undefined
    child.on('error', (error) => {
      failure = error
      if (child.pid !== undefined) return
      endTimers()
      reject(error)
    })
    // EPIPE: it ended before it read everything; its exit code gives the reason. None if no descriptors are left
    child.stdin?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error)
    })
    child.stdin?.end(input)
    child.on('close', (exit, endedBy) => {
      endTimers()
      if (failure !== undefined) return reject(failure)
      const output = stdout()
      const isCut = exit === null && output.length > maxBytes
      resolve({
        exit,
        signal: endedBy,
        stdout: output,
        stderr: stderr().toString(),
        isCut,
        isStuck,
      })
    })
  })
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr', maxBytes: number): () => Buffer {
  const parts: Buffer[] = []
  let length = 0
  child[name]?.on('data', (part: Buffer) => {
    if (length > maxBytes) return
    parts.push(part)
    length += part.length
    if (length > maxBytes && name === 'stdout') child.kill('SIGKILL')
  })
  return () => Buffer.concat(parts)
}
