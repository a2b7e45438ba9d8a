/** Keeps a process namespace for the processes of a run: when it is ended, none of them is left, whatever they did. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../../files/errno.ts'
import { isShort } from '../../files/storage-error.ts'
import { AppError } from '../../model/app-error.ts'
import { namespacePath } from '../../platform/proc.ts'
import { firstChild } from '../../platform/processes.ts'

export interface ProcessNamespace {
  /** The id of a process whose children, once it has their namespaces, are in the namespace. */
  pid: number
  isAlive(): boolean
  /** Ends every process in the namespace, and waits until all are gone. */
  end(): Promise<void>
}

const READY_WITHIN_MS = 10_000
const END_WITHIN_MS = 3_000

/**
 * The first process of the namespace: its end is the end of all others. It collects orphans, and ends with this service,
 * which has the other end of its input.
 */
const FIRST_PROCESS = `
exec 3<&0 </dev/null
(read -r _ <&3) 2>/dev/null &
exec 3<&-
echo ready
exec >/dev/null
wait`

/** A lack of descriptors or processes passes. Meanwhile nothing may run with less protection. */
export function mustHaveMeans(error: unknown): void {
  if (!isShort(error)) return
  const what = `The sandbox could not be started: ${codeOf(error)}`
  throw new AppError('storage_failed', `${what}. Wait a little, then try again.`, { cause: error })
}

/** Null if it cannot be made here. `unshare` with its options makes the namespaces. */
export async function openProcessNamespace(
  unshare: readonly string[],
): Promise<ProcessNamespace | null> {
  const [file = '', ...args] = [
    ...unshare,
    '--pid',
    '--fork',
    '--kill-child',
    '/bin/sh',
    '-c',
    FIRST_PROCESS,
  ]
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.on('error', () => {}) // none may end this service
  child.stdin?.on('error', () => {})
  if (child.pid === undefined) {
    const [error] = await once(child, 'error')
    mustHaveMeans(error)
    return null
  }
  if (!(await isReady(child))) {
    await kill(child)
    return null
  }
  leave(child)
  const { pid } = child
  const first = firstChild(pid)
  return {
    pid,
    isAlive: () => isRunning(child),
    async end() {
      if (!isRunning(child)) return
      child.ref()
      // its parent ends only when everything in the namespace has
      if (first !== null) signal(first)
      else child.stdin?.destroy()
      await Promise.race([once(child, 'exit'), delay(END_WITHIN_MS, undefined, { ref: false })])
      await kill(child)
    },
  }
}

/**
 * The words in front of a program that start it in the namespaces of these processes, as the leader of a session and
 * group. `nsenter` stays its parent outside, and ends as the program did: with its exit code, or by its signal.
 */
export function joinWords(
  { nsenter, setsid }: { nsenter: string; setsid: string },
  { pid }: ProcessNamespace,
  isUser: boolean,
): string[] {
  return [
    nsenter,
    ...(isUser ? [`--user=${namespacePath(pid, 'user')}`, '--preserve-credentials'] : []),
    `--pid=${namespacePath(pid, 'pid_for_children')}`,
    setsid,
  ]
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

async function isReady(child: ChildProcess): Promise<boolean> {
  const said = once(child.stdout!, 'data').then(() => true)
  const failed = once(child, 'close').then(() => false)
  const late = delay(READY_WITHIN_MS, false, { ref: false })
  return Promise.race([said, failed, late]).catch(() => false)
}

/** It must not keep this service from ending, which ends it. */
function leave(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout])
    (stream as unknown as { unref?(): void })?.unref?.()
}

async function kill(child: ChildProcess): Promise<void> {
  for (const stream of [child.stdin, child.stdout]) stream?.destroy()
  if (child.pid === undefined || !isRunning(child)) return
  child.kill('SIGKILL')
  await Promise.race([once(child, 'exit'), delay(END_WITHIN_MS, undefined, { ref: false })])
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
