/**
 * Only one process may write a memory root and its database: the owner. A second service is refused with
 * `already_active`.
 */

import { socketAddress } from '../../platform/local-socket.ts'
import { mustBeOfThisUser } from './foreign-owner.ts'
import { inodeKey, keysOf } from './owner-keys.ts'
import { alreadyActive, parseAnswer, thisProcess } from './owner-record.ts'
import { type HeldSocket, holdSocket } from './owner-socket.ts'
import { findSilentOwner } from './silent-owner.ts'
import { holdLock } from './state-lock.ts'

export interface OwnershipOptions {
  memoryRoot: string
  /** The state folder, which must exist and also belongs to one process at a time. */
  stateDir: string
  /** Whether the owner is a command, which ends soon; also in the record, in case it cannot answer. */
  short?: boolean
}

export interface Ownership {
  /** Aborted with an AppError as its reason when another process takes over: write nothing after that. */
  readonly lost: AbortSignal
  /** Processes that ask get this URL from now on. */
  announce(url: string): void
  /** Call and await it whenever the memory root was created; throws like `takeOwnership`. */
  memoryRootMade(): Promise<void>
  release(): Promise<void>
}

/**
 * Makes this process the only owner of a memory root, or throws `already_active`. On one machine sockets decide,
 * which the kernel frees with the process. They are named after the memory root, its path in its parent, and the
 * state folder. The lock in the state folder, with the record of its owner, is for other machines that share the
 * folder.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { memoryRoot, stateDir } = options
  const kind = options.short === true ? ({ short: true } as const) : {}
  let facts: Record<string, unknown> = kind
  const me = thisProcess()
  const held = new Map<string, HeldSocket>()
  const answer = (): string => JSON.stringify({ ...facts, ...me })

  async function hold(keys: string[], what: string): Promise<void> {
    for (const key of keys.filter((key) => !held.has(key))) {
      const address = socketAddress(key)
      const socket = await holdSocket(address, answer)
      if ('text' in socket) {
        const owner = parseAnswer(socket.text)
        await mustBeOfThisUser(address, owner)
        if (owner) throw alreadyActive(what, owner)
        throw alreadyActive(what, await findSilentOwner(address, stateDir), ' (not answering)')
      }
      held.set(key, socket)
    }
  }

  async function letGo(): Promise<void> {
    for (const socket of held.values()) await socket.release()
    held.clear()
  }

  const memoryRootMade = async (): Promise<void> => hold(await keysOf(memoryRoot), 'memory root')
  try {
    await memoryRootMade()
    await hold([`state-${await inodeKey(stateDir)}`], 'state folder')
    const stateLock = await holdLock(stateDir, { ...me, ...kind })
    const release = async (): Promise<void> => {
      try {
        await stateLock.release()
      } finally {
        await letGo()
      }
    }
    const announce = (url: string) => {
      facts = { ...kind, url }
    }
    return { lost: stateLock.lost, announce, memoryRootMade, release }
  } catch (error) {
    await letGo()
    throw error
  }
}
