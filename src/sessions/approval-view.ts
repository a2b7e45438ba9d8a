/** What an operator must see before they approve a plan, beside the plan itself. */

import { join, relative } from 'node:path'
import { findRepository } from '../git/repository.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { isIsolated, type Session } from '../model/session.ts'
import { isTrustedFile } from '../settings/agent-files.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { workingFolder } from '../settings/workdir.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { SessionWalls } from './expected-walls.ts'
import type { FolderUse, Obstacle } from './folder-lock.ts'
import { listProviders } from './providers.ts'
import { allAgentFiles } from './start-checks.ts'
import { type FolderState, type FolderStateDeps, folderState } from './uncommitted.ts'

export interface ApprovalView {
  /** What will hold its programs; or why that is not known. */
  walls: SessionWalls | { unknown: string }
  /** The folder where it would run; or why that is not known. */
  folder: FolderState | { reason: string }
  /** What an approval would wait for; null if it could start now. */
  busy: Busy | null
  agentFiles: { file: string; isTrusted: boolean }[]
}

/** The session that keeps another from starting now. */
export interface Busy {
  case_id: string
  session_id: string
  number: number
  title: string
  /** It waits in line itself. */
  isWaiting: boolean
  /** How many isolated sessions may work at the same time, if that is what the plan waits for. */
  limit: number | null
  /** Whether an approval can wait in line: the record names its commit, which needs git. */
  canWait: boolean
}

export interface ApprovalDeps extends FolderStateDeps {
  catalog: Pick<Catalog, 'folder' | 'row'>
  sessions: {
    walls(contents: CaseContents, session: Session): Promise<SessionWalls>
    obstacle(place: FolderUse): Obstacle | null
  }
}

/** `conversationFolder`: where a person runs its agent, if one does. */
export async function approvalView(
  deps: ApprovalDeps,
  contents: CaseContents,
  session: Session,
  {
    settings,
    conversationFolder,
  }: { settings: TrustedSettings; conversationFolder?: string | undefined },
): Promise<ApprovalView> {
  const isOfPerson = session.origin === 'terminal'
  const { root } = deps.layout
  let place: string
  try {
    place =
      conversationFolder ?? (await workingFolder(root, contents.case.workdir, settings.folders))
  } catch (error) {
    const reason = messageOf(error)
    return { walls: { unknown: reason }, folder: { reason }, busy: null, agentFiles: [] }
  }
  const [walls, state, busy, agentFiles] = await Promise.all([
    deps.sessions.walls(contents, session).catch((error) => ({ unknown: messageOf(error) })),
    folderState(deps, place),
    isOfPerson ? null : busyWith(deps, place, session),
    isOfPerson ? [] : filesOfAgent(root, place, session, settings),
  ])
  return { walls, folder: state, busy, agentFiles }
}

async function busyWith(
  { sessions, catalog }: ApprovalDeps,
  folder: string,
  session: Session,
): Promise<Busy | null> {
  // the worktree of an isolated session is not there yet, and shared with no other
  const place = isIsolated(session)
    ? { folder: join(folder, session.id), isolated: true }
    : { folder, isolated: false }
  const obstacle = sessions.obstacle(place)
  if (obstacle === null) return null
  const [{ job, isWaiting }] = obstacle.by
  const { case_id, session_id, number } = job
  return {
    case_id,
    session_id,
    number,
    title: catalog.row(case_id)?.title ?? case_id,
    isWaiting,
    limit: obstacle.is === 'limit' ? obstacle.limit : null,
    canWait: !('reason' in (await findRepository(folder, {}))),
  }
}

async function filesOfAgent(
  root: string,
  folder: string,
  { provider }: Session,
  settings: TrustedSettings,
): Promise<ApprovalView['agentFiles']> {
  const spec = listProviders(settings).find(({ id }) => id === provider)?.spec
  const files = spec ? await allAgentFiles({ root, folder }, [spec]) : []
  return files.map((file) => ({
    file: relative(folder, file.path),
    isTrusted: isTrustedFile(file, settings.files),
  }))
}

function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.message
  throw error
}
