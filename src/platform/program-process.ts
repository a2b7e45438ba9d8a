/**
 * Starts programs from a small process. Starting one blocks the process that does it until the program runs: in a service
 * with much memory that takes up to 50 ms, in which no request is answered.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { workerFile } from '../package-files.ts'
import type { ProgramCall, ProgramOutput, ProgramStarter } from './program-child.ts'

export type ProgramRequest = { id: number; call: ProgramCall } | { id: number; isAborted: true }

export interface ProgramAnswer {
  id: number
  output?: ProgramOutput
  /** With what the error has besides, such as the `code` and `syscall` of one of the system. */
  error?: { name: string; message: string }
}

interface Waiting {
  resolve(output: ProgramOutput): void
  reject(error: unknown): void
}

interface ProgramProcess {
  child: ChildProcess
  waiting: Map<number, Waiting>
}

/** The process ends when it has had nothing to do for this long. */
const IDLE_MS = 30_000

/** The first call starts the process, and so does the next one after its end. */
export function createProgramProcess(): ProgramStarter {
  let current: ProgramProcess | null = null
  let count = 0
  let idle: NodeJS.Timeout | undefined

  function opened(): ProgramProcess {
    if (current?.child.connected) return current
    const child = fork(workerFile('platform/program-process-main.ts'), {
      serialization: 'advanced',
      execArgv: ['--v8-pool-size=0'], // each thread less makes it start programs faster
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const waiting = new Map<number, Waiting>()
    const own = { child, waiting }
    const end = (error: Error) => {
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
      if (current === own) current = null
      if (child.connected) child.disconnect()
    }
    child.on('message', (answer) => settle(waiting, answer as ProgramAnswer))
    child.on('error', end)
    child.on('disconnect', () => end(new Error('the process that starts programs has ended')))
    current = own
    return own
  }

  return async (call, signal) => {
    signal?.throwIfAborted()
    clearTimeout(idle)
    const own = opened()
    const { child, waiting } = own
    const id = ++count
    child.ref()
    child.channel?.ref()
    // if it cannot be sent, the process is about to end, and the call with it
    const abort = () =>
      child.connected && child.send({ id, isAborted: true } satisfies ProgramRequest, () => {})
    try {
      return await new Promise<ProgramOutput>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        signal?.addEventListener('abort', abort)
        // not connected: it was not started, which its `error` says in a moment
        if (!child.connected) return
        child.send({ id, call } satisfies ProgramRequest, (error) => error && reject(error))
      })
    } finally {
      waiting.delete(id)
      signal?.removeEventListener('abort', abort)
      if (current === own && waiting.size === 0) {
        child.unref()
        child.channel?.unref()
        clearTimeout(idle)
        idle = setTimeout(() => child.connected && child.disconnect(), IDLE_MS).unref()
      }
    }
  }
}

function settle(waiting: ProgramProcess['waiting'], { id, output, error }: ProgramAnswer): void {
  const asked = waiting.get(id)
  if (output) asked?.resolve(output)
  else asked?.reject(Object.assign(new Error(error?.message), error))
}
