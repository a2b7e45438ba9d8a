import { queuePlace } from '../../http/queue-json.ts'
import type { QueuePlaceJson } from '../../http/schemas/queue.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'
import type { CaseJson } from '../../model/case-json.ts'
import { providerText } from '../../model/session.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { PageDeps } from '../deps.ts'

/** What a row shows beside the data of `GET /triage`. */
export interface RowFacts {
  /** About the session that waits or runs, such as `40 steps · claude`. */
  session?: string
  /** That session waits in line, so nothing of the case runs yet. */
  isInLine?: boolean
  /** Where it was imported from. */
  source?: string | null
}

/** The list doesn't wait longer for plans to be parsed; their steps are counted on the next load. */
const MAX_WAIT_MS = 200

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
    const place = queuePlace(service, session.id)
    fact.isInLine = place !== null
    fact.session = place ? placeText(place) : providerText(session)
    if (needs.kind !== 'plan') return
    try {
      const { plan } = await service.sessionTexts(id, session)
      const { steps } = await readPlan(plan)
      if (steps.length > 0) fact.session = `${counted(steps.length, 'step')} · ${fact.session}`
    } catch {
      // the file has changed, or can't be read: the page of the session shows why
    }
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS)
  })
  await Promise.race([Promise.all(counting), late])
  clearTimeout(timer)
  return facts
}

export function placeText({ position, waits_for }: QueuePlaceJson): string {
  if (waits_for === null) return 'about to start'
  const place = position === 1 ? 'next' : `number ${position}`
  return `${place}, after session ${waits_for.number} of “${visibleText(waits_for.title)}”`
}
