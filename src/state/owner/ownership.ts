/**
 * Only one process may write a memory root and its database: the owner. A second service is refused with
 * `already_active`.
 */

import { identifyOwner, ownerAddress } from './find-owner.ts'
import { alreadyActive, thisProcess } from './owner-file.ts'
import { type HeldSocket, holdSocket } from './owner-socket.ts'
import { holdLock } from './state-lock.ts'

export interface OwnershipOptions {
  memoryRoot: string
  /** The state folder, which must exist and also belongs to one process at a time. */
  stateDir: string
  /** Whether the owner is a command, which ends soon. */
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
 * Makes this process the only owner of a memory root, or throws `already_active`. A socket, which the kernel frees with
 * the process, decides between processes of this machine, whatever their state folders. The lock in the state folder,
 * with the record of its owner, decides between machines and between memory roots that share the folder.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { memoryRoot, stateDir } = options
  const me = { ...thisProcess(), ...(options.short ? ({ short: true } as const) : {}) }
  let url: string | undefined
  const sockets = new Map<string, HeldSocket>()

  async function memoryRootMade(): Promise<void> {
    const address = await ownerAddress(memoryRoot)
    if (sockets.has(address)) return
    const held = await holdSocket(address, () => JSON.stringify({ ...me, url }))
    if ('answer' in held) {
      throw alreadyActive('memory root', await identifyOwner(address, held.answer, stateDir))
    }
    sockets.set(address, held)
  }

  async function closeSockets(): Promise<void> {
    for (const socket of sockets.values()) await socket.release()
    sockets.clear()
  }

  try {
    await memoryRootMade()
    const lock = await holdLock(stateDir, me)
    return {
      lost: lock.lost,
      announce: (address) => {
        url = address
        lock.announce(address)
      },
      memoryRootMade,
      release: () => lock.release().finally(closeSockets),
    }
  } catch (error) {
    await closeSockets()
    throw error
  }
}
