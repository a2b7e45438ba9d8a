/** How a start or a command finds the process that owns a memory root on this machine. */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { nearestExisting, realPathOf } from '../../files/real-path.ts'
import { socketAddress } from '../../platform/local-socket.ts'
import { findOwnListener } from './foreign-owner.ts'
import { isGone, type Owner, ownerOf, parseAnswer, readOwner } from './owner-file.ts'
import { askSocket } from './owner-socket.ts'

/** The folders by which an owner is found; its own state folder may be another one. */
interface Folders {
  memoryRoot: string
  stateDir: string
}

/**
 * Returns who owns a memory root, or null. `owner` is null if it is not known. Throws if the process is another
 * user's.
 */
export async function askOwner(folders: Folders): Promise<{ owner: Owner | null } | null> {
  const address = await ownerAddress(folders.memoryRoot)
  const answer = await askSocket(address)
  return answer === null ? null : { owner: await identifyOwner(address, answer, folders.stateDir) }
}

/** Returns the URL of the service, if one runs. A command that owns the memory root for a moment is none. */
export async function findService(folders: Folders): Promise<string | null> {
  const owner = (await askOwner(folders))?.owner
  return (owner?.short !== true && owner?.url) || null
}

/**
 * The address of the owner's socket: by the folder that contains the memory root, as that may not exist yet, or may
 * be replaced. The time of birth (0 if unknown) is in it because the number of a removed folder is soon used again.
 */
export async function ownerAddress(memoryRoot: string): Promise<string> {
  const root = await realPathOf(memoryRoot)
  const { real, rest } = await nearestExisting(dirname(root))
  const { dev, ino, birthtimeNs } = await stat(real, { bigint: true })
  const place = [dev, ino, birthtimeNs, rest, basename(root)].join('/')
  return socketAddress(createHash('sha256').update(place).digest('hex').slice(0, 32))
}

/**
 * Returns the owner by its answer. One that does not answer is known by the process that the system shows, or by the
 * record in this state folder, which may be that of another owner.
 */
export async function identifyOwner(
  address: string,
  answer: string,
  stateDir: string,
): Promise<Owner | null> {
  const answered = parseAnswer(answer)
  const pid = await findOwnListener(address, answered)
  if (answered) return answered
  const left = await readOwner(stateDir)
  const record = left && !isGone(left) ? left : null
  const owner = pid === null || record?.pid === pid ? record : ownerOf(pid)
  return owner && { ...owner, silent: true }
}

/** Whether the owner is a service; a command would end by itself. */
export function isService(owner: Owner | null): boolean {
  return owner !== null && owner.short !== true
}

/** A command ends by itself, but that may take a while on a busy machine. */
const COMMAND_MS = 15_000
/** How long a service may take to answer or to end. */
const SERVICE_MS = 5000

/**
 * Returns a function that says whether a start should keep waiting for the current owner to end. The time of each
 * owner counts from when it was met, so that commands may follow one another.
 */
export function createOwnerTimeouts(): (owner: Owner | null) => boolean {
  let pid: number | undefined
  let since = performance.now()
  return (owner) => {
    if (owner?.pid !== pid) since = performance.now()
    pid = owner?.pid
    return performance.now() - since < (isService(owner) ? SERVICE_MS : COMMAND_MS)
  }
}
