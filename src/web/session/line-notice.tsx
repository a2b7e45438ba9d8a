import { join } from 'node:path'
import { findRepository } from '../../git/repository.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import type { Session } from '../../model/session.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { TrustedSettings } from '../../settings/trusted-settings.ts'
import { workingFolder } from '../../settings/workdir.ts'
import type { PageDeps } from '../deps.ts'
import { sessionApi, sessionPage } from '../shell/addresses.ts'

/** The session that keeps another from starting now. */
export interface Occupant {
  case_id: string
  number: number
  title: string
  /** It waits in line itself. */
  isWaiting: boolean
  /** How many isolated sessions may work at the same time, if that is what the plan waits for. */
  limit: number | null
  /** Whether an approval can wait until the folder is free: the record names its commit, which needs git. */
  canWait: boolean
}

/** Who works or waits in the folder where the plan would run; null if it is free. */
export async function occupantOf(
  { sessions, catalog, layout }: PageDeps['service'],
  { case: { workdir } }: CaseFolder,
  { id, isolation }: Session,
  settings: TrustedSettings,
): Promise<Occupant | null> {
  const folder = await folderOf(layout.root, workdir, settings)
  if (folder === null) return null
  // the worktree of an isolated session is not there yet, and shared with no other
  const place =
    isolation === 'worktree'
      ? { folder: join(folder, id), isolated: true }
      : { folder, isolated: false }
  const obstacle = sessions.obstacle(place)
  if (obstacle === null) return null
  const [first] = obstacle.by
  const { case_id, number } = first.job
  return {
    case_id,
    number,
    title: catalog.row(case_id)?.title ?? case_id,
    isWaiting: first.isWaiting,
    limit: obstacle.is === 'limit' ? obstacle.limit : null,
    canWait: !('reason' in (await findRepository(folder, {}))),
  }
}

async function folderOf(
  root: string,
  workdir: string | null,
  { folders }: TrustedSettings,
): Promise<string | null> {
  try {
    return await workingFolder(root, workdir, folders)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Above the button: what an approval would wait for. */
export function BusyNotice({ occupant }: { occupant: Occupant }) {
  const { case_id, number, title, isWaiting, limit, canWait } = occupant
  const does =
    limit !== null
      ? `${isWaiting ? 'waits to work' : 'works'} in a worktree, and only ${limit} at the same time may (parallel in casefile.md)`
      : `${isWaiting ? 'waits for' : 'works in'} this working folder`
  return (
    <p class="notice" data-tone="warn" id="folder-busy">
      <a href={sessionPage(case_id, number)}>
        Session {number} of <bdi dir={directionOf(title)}>{visibleText(title)}</bdi>
      </a>{' '}
      {does}.{' '}
      {canWait
        ? 'Your approval can wait in line. The plan then starts by itself, on what the working folder has by then.'
        : 'Approve when it has ended. Without git, an approval cannot wait in line.'}
    </p>
  )
}

/** Takes an approved session out of the line. */
export function LeaveLineForm({ session }: { session: Session }) {
  return (
    <form
      class="needs-script"
      id="leave-line-form"
      data-send="DELETE"
      data-focus="#session-head h1"
      action={`${sessionApi(session)}/queue`}
    >
      <button type="submit" id="leave-line">
        Take it out of the line
      </button>
    </form>
  )
}
