import { readPlan } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'
import type { CaseJson } from '../../model/case-json.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import type { PageDeps } from '../deps.ts'

/** What the row of a case shows that triage does not have. */
export interface RowFacts {
  /** Of the session that it needs, as in `40 steps · claude`. */
  session?: string
  /** Where it was imported from. */
  source?: string | null
}

/** Plans that are not parsed by then are shown without the number of their steps; the next time they are. */
const PATIENCE_MS = 200

/** By the ids of the cases. */
export async function rowFacts(
  service: PageDeps['service'],
  rows: readonly TriageRow[],
): Promise<ReadonlyMap<string, RowFacts>> {
  const facts = new Map<string, RowFacts>()
  const counting = rows.map(async ({ id, needs }) => {
    const { source } = JSON.parse(service.catalog.json(id) ?? '{}') as Partial<CaseJson>
    const fact: RowFacts = { source: source ?? null }
    facts.set(id, fact)
    if (needs?.kind !== 'plan' && needs?.kind !== 'running') return
    const session = service.catalog
      .folder(id)
      ?.sessions.find((each) => each.id === needs.session_id)
    if (!session) return
    fact.session = session.provider
    if (needs.kind !== 'plan') return
    try {
      const { plan } = await service.sessionTexts(id, session)
      const { steps } = await readPlan(plan)
      if (steps.length > 0) fact.session = `${counted(steps.length, 'step')} · ${session.provider}`
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
  return facts
}
