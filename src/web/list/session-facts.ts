import { readPlan } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import type { PageNeeds } from '../needs.ts'

/** By the id of a case: what is to say of the session that it needs, as in `40 steps · claude`. */
export type SessionFacts = ReadonlyMap<string, string>

/** Plans that are not parsed by then are shown without the number of their steps; the next time they are. */
const PATIENCE_MS = 200

/** What the rows say of plans that wait and of sessions that run. */
export async function sessionFacts(
  service: PageNeeds['service'],
  rows: readonly TriageRow[],
): Promise<SessionFacts> {
  const facts = new Map<string, string>()
  const counting = rows.map(async ({ id, needs }) => {
    if (needs?.kind !== 'plan' && needs?.kind !== 'running') return
    const session = service.catalog
      .folder(id)
      ?.sessions.find((each) => each.id === needs.session_id)
    if (!session) return
    facts.set(id, session.provider)
    if (needs.kind !== 'plan') return
    try {
      const { plan } = await service.sessionTexts(id, session)
      const { steps } = await readPlan(plan)
      if (steps.length > 0) facts.set(id, `${counted(steps.length, 'step')} · ${session.provider}`)
    } catch {
      // the file changed meanwhile, or cannot be read: the page of the session says what is wrong
    }
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS)
  })
  await Promise.race([Promise.all(counting), late])
  clearTimeout(timer)
  return new Map(facts)
}
