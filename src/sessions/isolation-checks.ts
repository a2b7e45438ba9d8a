/** Whether a session works in a separate git worktree, and what keeps it from that. */

import { join } from 'node:path'
import { AppError } from '../model/app-error.ts'
import type { Session } from '../model/session.ts'
import { ISOLATIONS, type Isolation } from '../model/settings.ts'
import { openWorktreeNotes } from '../snapshots/worktree-notes.ts'
import { findWorktreeSource, type WorktreeSource } from '../snapshots/worktree-obstacle.ts'
import type { SessionDeps } from './deps.ts'

/**
 * What the request or the session that is planned again, the case, or the settings ask for, in this order. Throws
 * `isolation_impossible`.
 */
export async function chosenIsolation(
  asked: readonly { isolation?: string | null | undefined }[],
  workdir: string,
  { memoryRoot }: Pick<SessionDeps['layout'], 'memoryRoot'>,
): Promise<{ isolation?: 'worktree' }> {
  if (wantedIsolation(asked.map(({ isolation }) => isolation)) !== 'worktree') return {}
  await mustHaveWorktree(workdir, memoryRoot)
  return { isolation: 'worktree' }
}

function wantedIsolation(asked: readonly (string | null | undefined)[]): Isolation {
  const first = asked.find((each) => each !== null && each !== undefined)
  if (first !== undefined && !isIsolation(first)) {
    const message = `got ${JSON.stringify(first)}, expected one of ${ISOLATIONS.join(', ')}`
    throw new AppError('bad_request', `The case's isolation: ${message}.`, {
      errors: [{ path: 'isolation', message }],
    })
  }
  return first ?? 'none'
}

function isIsolation(text: string): text is Isolation {
  return (ISOLATIONS as readonly string[]).includes(text)
}

/** Throws `isolation_impossible` if the working folder can have no worktree. */
export async function mustHaveWorktree(
  workdir: string,
  memoryRoot: string,
): Promise<WorktreeSource> {
  const source = await findWorktreeSource(workdir, memoryRoot)
  if (!('obstacle' in source)) return source
  throw new AppError('isolation_impossible', impossible(source))
}

function impossible({ obstacle }: { obstacle: string }): string {
  return `This session is to work in a separate worktree, but ${obstacle}.`
}

/** Where an isolated session will work; null without isolation. */
export async function isolatedFolder(
  { state, layout }: Pick<SessionDeps, 'state' | 'layout'>,
  { id, isolation }: Session,
  workdir: string,
): Promise<string | null> {
  if (isolation !== 'worktree') return null
  const { prefix } = await mustHaveWorktree(workdir, layout.memoryRoot)
  return join(openWorktreeNotes(state.root).root, id, prefix)
}
