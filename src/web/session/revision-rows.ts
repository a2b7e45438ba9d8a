import type { KeptRevision } from '../../sessions/plan-history.ts'
import type { PlanTexts } from '../../state/plans.ts'

/** A revision in the list of them. */
export interface RevisionRow extends KeptRevision {
  /** Whether its text is at hand to be compared, as far as can be told without reading it. */
  isKept: boolean
}

const MOST = 100

/** The newest revisions, oldest first, and how many were before them. */
export async function revisionRows(
  texts: Pick<PlanTexts, 'has'>,
  revisions: readonly KeptRevision[],
): Promise<{ rows: RevisionRow[]; before: number }> {
  const newest = revisions.slice(-MOST)
  const rows = newest.map(async (revision) => {
    const isKept = revision.text !== null || texts.has(revision.plan_sha256)
    return { ...revision, isKept }
  })
  return { rows: await Promise.all(rows), before: revisions.length - newest.length }
}
