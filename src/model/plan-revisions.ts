import type { TrailLine } from './trail.ts'

/** One revision of a session's plan. */
export interface PlanRevision {
  plan_sha256: string
  at: string
  /** Who wrote it: the session's provider, the operator by a request, or a person in the file. */
  by: 'provider' | 'request' | 'hand'
  /** The operator's change request that led to this plan; null if there was none. */
  note: string | null
  /** The plan's text, if the audit trail has it (approved plans). Callers must check its hash. */
  text: string | null
}

/** Returns the plans that an audit trail records, oldest first. An unchanged plan counts once. */
export function planRevisions(trail: readonly TrailLine[]): PlanRevision[] {
  const revisions: PlanRevision[] = []
  let note: string | null = null
  for (const { event, time, fields } of trail) {
    if (event === 'session_state_changed' && fields.old_state === 'plan_ready') {
      note = fields.new_state === 'planning' ? textOf(fields.reason) : null
    }
    if (event !== 'plan_written' && event !== 'plan_edited' && event !== 'plan_approved') continue
    const plan_sha256 = textOf(event === 'plan_approved' ? fields.plan_sha256 : fields.sha256)
    if (plan_sha256 === null) continue
    const isRequest = event !== 'plan_approved' && fields.by === 'request'
    // an approved plan without an earlier line was written into the file just before approval
    const by = isRequest ? 'request' : event === 'plan_written' ? 'provider' : 'hand'
    const text = event === 'plan_approved' ? textOf(fields.plan) : null
    const last = revisions.at(-1)
    if (last?.plan_sha256 === plan_sha256) last.text ??= text
    else revisions.push({ plan_sha256, at: time, by, note, text })
    note = null
  }
  return revisions
}

/** Counts the plans that the provider has written. */
export function revisionNumber(trail: readonly TrailLine[]): number {
  return trail.filter(({ event }) => event === 'plan_written').length
}

/** Whether the newest plan is the one that the operator sent back. */
export function isPlanUnchanged(trail: readonly TrailLine[]): boolean {
  const sentBack = trail.findLastIndex(
    ({ event, fields }) =>
      event === 'session_state_changed' &&
      fields.old_state === 'plan_ready' &&
      fields.new_state === 'planning',
  )
  if (sentBack === -1) return false
  const before = planHash(trail.slice(0, sentBack))
  return before !== null && before === planHash(trail.slice(sentBack))
}

/** Returns the hash of the last plan in an audit trail. */
function planHash(trail: readonly TrailLine[]): string | null {
  const last = trail.findLast(
    (line) => line.event === 'plan_written' || line.event === 'plan_edited',
  )
  return textOf(last?.fields.sha256)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
