/**
 * Only one process may write a memory root and its database: the owner. A second service is refused with
 * `already_active`.
 */

import { inodeKey, keysOf } from './owner-keys.ts'
import { alreadyActive, parseAnswer, thisProcess } from './owner-record.ts'
import { type HeldSocket, holdSocket, socketAddress } from './owner-socket.ts'
import { findSilentOwner } from './silent-owner.ts'
import { holdLock } from './state-lock.ts'

export interface OwnershipOptions {
  memoryRoot: string
  /** Must exist. It too belongs to one process at a time. */
  stateDir: string
  /** The owner is a command, which ends soon; the record says so too, in case it cannot answer. */
  short?: boolean
}

export interface Ownership {
  /** Aborted, a AppError as its reason, when another process took over: write nothing from then on. */
  readonly lost: AbortSignal
  /** From now on processes that ask get this URL. */
  announce(url: string): void
  /** To be called, and awaited, whenever the memory root was made; refuses like `takeOwnership`. */
  memoryRootMade(): Promise<void>
  release(): Promise<void>
}

/**
 * Makes this process the only one that serves a memory root, or refuses with `already_active`. What
 * decides on one machine are sockets that the kernel frees with the process, named after the memory
 * root, its place in its parent, and the state folder. The lock in the state folder, with the record
 * of its holder, is for other machines that share the folder.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { memoryRoot, stateDir } = options
  const kind = options.short === true ? ({ short: true } as const) : {}
  let facts: Record<string, unknown> = kind
  const me = await thisProcess()
  const held = new Map<string, HeldSocket>()
  const answer = (): string => JSON.stringify({ ...facts, ...me })

  async function hold(keys: string[], what: string): Promise<void> {
    for (const key of keys.filter((key) => !held.has(key))) {
      const address = socketAddress(key)
      const socket = await holdSocket(address, answer)
      if ('text' in socket) {
        const owner = parseAnswer(socket.text)
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
