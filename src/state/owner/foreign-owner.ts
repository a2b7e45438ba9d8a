/** Finds out whose process has the socket of an owner: the names of these sockets are no secret. */

import { stat } from 'node:fs/promises'
import { hasCode } from '../../files/errno.ts'
import { AppError } from '../../model/app-error.ts'
import { isSocketFile } from '../../platform/local-socket.ts'
import { findListener, isListening, listeningUser, processUser } from '../../platform/processes.ts'
import type { Owner } from './owner-file.ts'

/**
 * Returns the pid of the process that listens at the address; null if the system does not show it. `answer` is what it
 * said. Throws if it is a process of another user who is not root.
 */
export async function findOwnListener(
  address: string,
  answer: Owner | null,
): Promise<number | null> {
  const user = process.getuid?.()
  if (user === undefined) return null
  const isTrusted = (other: number | null) => other === user || other === 0
  if (isSocketFile(address)) {
    const other = await userOfFile(address)
    if (other !== null && !isTrusted(other)) throw takenByOther(other, null)
    return null
  }
  const pid = findListener(address, answer?.pid)
  const other = pid === null ? null : processUser(pid)
  if (other !== null && !isTrusted(other)) throw takenByOther(other, pid)
  // it ended meanwhile, or the system does not show who listens: only the files of our own processes are readable
  if (pid !== null || !isListening(address)) return pid
  const serving = answer?.url ? listeningUser(Number(new URL(answer.url).port || 80)) : null
  if (!isTrusted(serving)) throw takenByOther(serving, null)
  return null
}

async function userOfFile(path: string): Promise<number | null> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

function takenByOther(user: number | null, pid: number | null): AppError {
  const who = pid === null ? 'A process' : `Process ${pid}`
  const whose = user === null ? 'another user' : `another user (id ${user})`
  return new AppError(
    'already_active',
    `${who} of ${whose} listens where the service of this workspace would. Nothing is sent to it. Have it ended, then try again.`,
  )
}
