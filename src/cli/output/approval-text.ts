import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import type { ReadContext } from '../context.ts'
import { sessionPath } from '../resolve/find-session.ts'
import { oneLineText } from './shown-line.ts'
import { uncommittedText } from './uncommitted-text.ts'
import { wrapped } from './wrapped.ts'

export async function approvalOf(
  { client }: Pick<ReadContext, 'client'>,
  session: Pick<SessionJson, 'case_id' | 'id'>,
): Promise<ApprovalViewJson> {
  return (await client.request('GET', `${sessionPath(session)}/approval`)).body
}

/** Prints what is not committed in the folder where a plan would run, because a run starts from these files. */
export function printUncommitted(
  { terminal }: Pick<ReadContext, 'terminal'>,
  { folder }: ApprovalViewJson,
  { case_id, isolation }: Pick<SessionJson, 'case_id' | 'isolation'>,
): void {
  const text = uncommittedText(folder, case_id, isolation === 'worktree')
  if (text === null) return
  terminal.print(`\n${terminal.color.yellow('!')} ${wrapped(text, terminal.width() - 2, '  ')}\n`)
}

/** Prints what the programs of a session could write to, see and reach once its plan is approved. */
export function printWalls(
  { terminal }: Pick<ReadContext, 'terminal'>,
  { walls: { guard, text } }: ApprovalViewJson,
): void {
  const mark = guard === 'mount' ? ' ' : terminal.color.yellow('!')
  terminal.print(`\n${mark} ${wrapped(oneLineText(text), terminal.width() - 2, '  ')}\n`)
}
