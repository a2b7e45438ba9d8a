/** Finds out whether a process of another user has the socket of an owner: the names of these sockets are no secret. */

import { stat } from 'node:fs/promises'
import { hasCode } from '../../files/errno.ts'
import { AppError } from '../../model/app-error.ts'
import { isSocketFile } from '../../platform/local-socket.ts'
import { findListener, isListening, listeningUser, processUser } from '../../platform/processes.ts'
import type { OwnerAnswer } from './owner-record.ts'

/** Throws if another user's process, not root's, listens at the address; `answer` is what it said. */
export async function mustBeOfThisUser(address: string, answer: OwnerAnswer | null): Promise<void> {
  const user = process.getuid?.()
  if (user === undefined) return
  const isTrusted = (other: number | null) => other === null || other === user || other === 0
  if (isSocketFile(address)) {
    const owner = await userOfFile(address)
    if (!isTrusted(owner)) throw takenByOther({ user: owner, pid: null })
    return
  }
  const pid = findListener(address, answer?.pid)
  if (pid !== null) {
    const owner = processUser(pid)
    if (!isTrusted(owner)) throw takenByOther({ user: owner, pid })
    return
  }
  // it ended meanwhile, or the system does not show who listens: only the files of our own processes are readable
  if (!isListening(address)) return
  const port = answer?.url ? Number(new URL(answer.url).port || 80) : null
  const owner = port === null ? null : listeningUser(port)
  if (owner === null || !isTrusted(owner)) throw takenByOther({ user: owner, pid: null })
}

async function userOfFile(path: string): Promise<number | null> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

function takenByOther({ user, pid }: { user: number | null; pid: number | null }): AppError {
  const who = pid === null ? 'A process' : `Process ${pid}`
  const whose = user === null ? 'another user' : `another user (id ${user})`
  return new AppError(
    'already_active',
    `${who} of ${whose} listens where the service of this workspace would. Nothing is sent to it. Have it ended, then try again.`,
  )
}
