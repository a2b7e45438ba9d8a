import type { CaseContents } from '../model/case-contents.ts'
import { isPlanUnchanged } from '../model/plan-revisions.ts'
import type { Session } from '../model/session.ts'
import { expectedWallsText } from '../model/walls-text.ts'
import { type ApprovalView, approvalView } from '../sessions/approval-view.ts'
import { planHistory, savedAt } from '../sessions/plan-history.ts'
import { planObjection, sessionFacts } from './case-status.ts'
import type { HttpDeps } from './deps.ts'
import type { ApprovalViewJson } from './schemas/approval-view.ts'
import { serializeSession } from './serializers.ts'

/** What an operator must see before they approve the plan of a session. */
export async function approvalJson(
  service: HttpDeps,
  contents: CaseContents,
  session: Session,
  { soon_seen, plans }: { soon_seen?: 'true' | undefined; plans?: 'true' | undefined },
): Promise<ApprovalViewJson> {
  const json = await serializeSession(service, contents, session)
  const facts = await sessionFacts(service, contents, session, json)
  const { settings, terminal, summary, plan } = facts
  const view = await approvalView(service, contents, session, {
    settings,
    conversationFolder: terminal?.conversation?.folder,
  })
  const untrusted = await planObjection(service, contents, facts, plan.isRunbook)
  const unreachable = 'unknown' in view.walls ? null : view.walls.objection
  return {
    plan_sha256: json.plan_sha256,
    plan_unchanged: isPlanUnchanged(session.trail),
    ...(plans && {
      plans: await planHistory(service.plans, session, {
        plan: json.plan,
        savedAt: savedAt(service, json),
      }),
    }),
    seen: await service.seenPlans[soon_seen ? 'isSoonSeen' : 'isSeen'](session, json.plan_sha256),
    summary: summary.text,
    plan_errors: plan.errors,
    objection: summary.objection ?? untrusted ?? unreachable,
    needs_signature: settings.signApprovals,
    walls: wallsJson(view.walls),
    folder: folderJson(view.folder),
    busy: busyJson(view.busy),
    agent_files: view.agentFiles.map(({ file, isTrusted }) => ({ file, trusted: isTrusted })),
  }
}

function wallsJson(walls: ApprovalView['walls']): ApprovalViewJson['walls'] {
  if ('unknown' in walls) {
    const { unknown: reason } = walls
    const text = `What will hold is not known: ${reason}`
    return { guard: null, reason, writes: null, hides: null, hosts: null, text }
  }
  const { guard, reason, places, hosts } = walls
  const [writes, hides] = places ? [places.writes, places.hides] : [null, null]
  return { guard, reason, writes, hides, hosts, text: expectedWallsText(walls) }
}

function folderJson(folder: ApprovalView['folder']): ApprovalViewJson['folder'] {
  if ('reason' in folder) {
    const { reason } = folder
    return { branch: null, head: null, changes: [], is_cut: false, reason }
  }
  const changes = folder.changes.map(({ file, kind, left_by }) => {
    if (left_by === null) return { file, kind, left_by }
    const { case_id, title, session } = left_by
    const { id: session_id, number, state } = session
    return { file, kind, left_by: { case_id, session_id, number, title, state } }
  })
  const { branch, head, isCut: is_cut } = folder
  return { branch, head, changes, is_cut, reason: null }
}

function busyJson(busy: ApprovalView['busy']): ApprovalViewJson['busy'] {
  if (busy === null) return null
  const { isWaiting: is_waiting, canWait: can_wait, ...rest } = busy
  return { ...rest, is_waiting, can_wait }
}
