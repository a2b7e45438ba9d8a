import { diffTexts, type TextDiff } from '../../rendering/diff/texts.ts'
import { type KeptRevision, revisionText } from '../../sessions/plan-history.ts'
import type { PlanTexts } from '../../state/plans.ts'

export interface PlanComparison {
  with: KeptRevision
  /** Whether the text of that revision is known here. */
  isKnown: boolean
  /** Null where the two are too different to be compared, or the other text is not known. */
  diff: TextDiff | null
}

interface Asked {
  plan: string
  revisions: readonly KeptRevision[]
  /** The hash of a revision, or its beginning; null for the one before. */
  against: string | null
}

/** What changed in the plan since another revision; null where there is none. */
export async function comparison(
  texts: Pick<PlanTexts, 'read'>,
  { plan, revisions, against }: Asked,
): Promise<PlanComparison | null> {
  const current = revisions.findIndex((revision) => revision.current)
  const before = revisions[(current < 0 ? revisions.length : current) - 1]
  const named =
    against === null
      ? before
      : revisions.find((each) => !each.current && each.plan_sha256.startsWith(against))
  const other = named ?? before
  if (!other) return null
  const text = await revisionText(texts, other)
  const diff = text === null ? null : diffTexts(text, plan)
  return { with: other, isKnown: text !== null, diff }
}
