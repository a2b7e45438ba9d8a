/** Which sessions may work at the same time. */

import { isWithin } from '../files/real-path.ts'
import { AppError } from '../model/app-error.ts'
import { capital } from '../model/one-line.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import type { Job } from './job.ts'

/** Where a session works or wants to work. */
export interface FolderUse {
  folder: string
  isolated: boolean
}

/** A session that comes before another: it works already, or waits longer. */
export interface Claim extends FolderUse {
  job: Job
  isWaiting: boolean
}

/** Why a session cannot start now: `by` are the sessions whose end would help. */
export type Obstacle =
  | { is: 'folder'; by: [Claim, ...Claim[]] }
  | { is: 'limit'; limit: number; by: [Claim, ...Claim[]] }

/** At most one session works in a folder, and `limit` isolated ones work at the same time. */
export function findObstacle(
  wanted: FolderUse,
  before: readonly Claim[],
  limit: number,
): Obstacle | null {
  const [first, ...others] = before.filter((claim) => isSameUse(wanted, claim))
  if (first) return { is: 'folder', by: [first, ...others] }
  if (!wanted.isolated) return null
  const [one, ...more] = before.filter(({ isolated }) => isolated)
  return one && more.length + 1 >= limit ? { is: 'limit', limit, by: [one, ...more] } : null
}

/** A folder within another is the same place, as both sessions could write to its files. */
export function isSameUse(a: FolderUse, b: FolderUse): boolean {
  if (a.isolated || b.isolated) return a.folder === b.folder
  return isWithin(a.folder, b.folder) || isWithin(b.folder, a.folder)
}

const HOW_TO_WAIT =
  'or wait in line behind it (queue: true, casefile approve --queue, "Approve, and wait in line")'

export function busyError(
  obstacle: Obstacle,
  wanted: FolderUse,
  { titleOf, canWait }: { titleOf: (caseId: string) => string; canWait: boolean },
): AppError {
  const orWait = canWait
    ? `abandon it, ${HOW_TO_WAIT}`
    : 'or abandon it; an agent in a terminal cannot wait in line'
  const [first] = obstacle.by
  const nameOf = ({ job }: Claim) =>
    `session ${job.number} of “${visibleText(titleOf(job.case_id))}”`
  const { case_id, session_id, number } = first.job
  const running = {
    case_id,
    session_id,
    number,
    title: titleOf(case_id),
  }
  if (obstacle.is === 'limit') {
    const names = obstacle.by.map(nameOf).join(', ')
    return new AppError(
      'too_many_sessions',
      `${capital(names)} ${obstacle.by.length === 1 ? 'works' : 'work'} already, and ${obstacle.limit} at the same time is the limit (parallel in ${SETTINGS_FILE}). Wait until one ends, ${orWait}.`,
      { extra: { running } },
    )
  }
  const where =
    first.folder === wanted.folder
      ? 'in this working folder'
      : isWithin(first.folder, wanted.folder)
        ? 'in a folder around this working folder'
        : 'in a folder within this working folder'
  const does = first.isWaiting ? `waits in line to work ${where}` : `works ${where}`
  return new AppError(
    'folder_busy',
    `${capital(nameOf(first))} ${does}. Wait until it ends, ${orWait}.`,
    { extra: { running } },
  )
}
