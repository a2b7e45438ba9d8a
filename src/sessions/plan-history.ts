import { sha256 } from '../markdown/session-file.ts'
import { type PlanRevision, planRevisions } from '../model/plan-revisions.ts'
import type { Session } from '../model/session.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { Catalog } from '../workspace/catalog.ts'

export interface KeptRevision extends PlanRevision {
  /** Whether it is what the session's file has now. */
  current: boolean
}

/** What the session's file has now, and when it got it. */
export interface PresentPlan {
  plan: string
  savedAt: string
}

/** Of all texts together; those beyond it, the oldest, are left out. */
const MAX_CHARACTERS = 32 * 1024 * 1024

/** The plans that a session had, as `revisionsOf`, with their texts as far as they are known here. */
export async function planHistory(
  texts: Pick<PlanTexts, 'read'>,
  session: Session,
  present: PresentPlan,
): Promise<KeptRevision[]> {
  const revisions: KeptRevision[] = []
  let room = MAX_CHARACTERS
  for (const revision of revisionsOf(session, present).reverse()) {
    const known = await revisionText(texts, revision)
    const text = known !== null && known.length <= room ? known : null
    room -= text?.length ?? 0
    revisions.unshift({ ...revision, text })
  }
  return revisions
}

/**
 * The plans that a session had, oldest first, with a text where the session's file has one, whose hash
 * is to be checked. A plan that waits and was changed by hand is a revision before the trail says so.
 */
export function revisionsOf({ trail, state }: Session, present: PresentPlan): KeptRevision[] {
  const { plan, savedAt } = present
  const revisions = planRevisions(trail)
  const hash = plan === '' ? null : sha256(plan)
  if (state === 'plan_ready' && hash !== null && revisions.at(-1)?.plan_sha256 !== hash) {
    revisions.push({ plan_sha256: hash, at: savedAt, by: 'hand', note: null, text: plan })
  }
  const current = revisions.findLastIndex(({ plan_sha256 }) => plan_sha256 === hash)
  return revisions.map(({ plan_sha256, at, by, note, text }, index) => ({
    plan_sha256,
    at,
    by,
    current: index === current,
    note,
    text: plan_sha256 === hash ? plan : text,
  }))
}

/** The text of a revision, from the session's file or kept; null where it is not known here. */
export async function revisionText(
  texts: Pick<PlanTexts, 'read'>,
  { plan_sha256, text }: Pick<PlanRevision, 'plan_sha256' | 'text'>,
): Promise<string | null> {
  if (text !== null && sha256(text) === plan_sha256) return text
  return texts.read(plan_sha256)
}

/** When the session's file got what it has now. */
export function savedAt(
  { catalog }: { catalog: Pick<Catalog, 'entry'> },
  { case_id, number, updated_at }: { case_id: string; number: number; updated_at: string },
): string {
  const mtimeMs = catalog.entry(case_id)?.sessions.get(number)?.mtimeMs
  return mtimeMs === undefined ? updated_at : new Date(mtimeMs).toISOString()
}
