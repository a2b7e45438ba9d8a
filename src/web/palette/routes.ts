import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { caseId } from '../../http/params.ts'
import { fuzzyScore } from '../../model/fuzzy.ts'
import { stateLabel } from '../../model/state-groups.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { listMemory } from '../../workspace/memory-list.ts'
import type { PageDeps } from '../deps.ts'
import { casePage, memoryPage, PALETTE_CASES, proofPage, sessionPage } from '../shell/addresses.ts'
import { pageHeaders } from '../shell/page-response.ts'

/** A place that the command palette leads to. */
export interface PaletteLink {
  title: string
  /** What tells it from others of this title. */
  detail: string
  href: string
}

const MAX_CASES = 20
/** Of the sessions and of the files of a case. */
const MAX_LINKS = 500

/** What the command palette of the pages (client/palette.tsx) asks for. */
export function paletteRoutes({ service }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get(PALETTE_CASES, pageHeaders(), (c) =>
    c.json<PaletteLink[]>(findCases(service, c.req.query('q') ?? '')),
  )

  app.get(`${PALETTE_CASES}/:id`, pageHeaders(), async (c) => {
    const folder = await service.store.read(caseId(c))
    const { id } = folder.case
    const files = await listMemory(service, folder)
    const links: PaletteLink[] = [
      ...folder.sessions
        .slice(-MAX_LINKS)
        .reverse()
        .map(({ number, type, state }) => ({
          title: `Session ${number}: ${type}`,
          detail: stateLabel(state),
          href: sessionPage(id, number),
        })),
      ...[...folder.proofs].reverse().map((proof) => ({
        title: `Proof: ${visibleText(proof.type)}`,
        detail: proof.id.slice(0, 8),
        href: proofPage(id, proof.id),
      })),
      ...files.slice(0, MAX_LINKS).map(({ filename, kind }) => ({
        title: kind === 'session' ? `sessions/${filename}` : visibleName(filename),
        detail: 'file',
        href: memoryPage(id, filename),
      })),
    ]
    return c.json(links)
  })

  return app
}

/** A shorter text is only a word. */
const ID_BEGINNING = /^[0-9a-f][0-9a-f-]{3,35}$/

/** The cases that fit best; those that changed last if nothing was typed. */
function findCases({ lists }: Pick<HttpDeps, 'lists'>, text: string): PaletteLink[] {
  const query = text.trim()
  const found: { row: TriageRow; score: number }[] = []
  for (const row of lists.newest({}, null, null)) {
    const isId = ID_BEGINNING.test(query.toLowerCase()) && row.id.startsWith(query.toLowerCase())
    const score = isId ? Number.MAX_VALUE : fuzzyScore(query, row.title)
    if (score !== null) found.push({ row, score: query === '' ? 0 : score })
  }
  return found
    .sort((a, b) => b.score - a.score || (a.row.updated_at < b.row.updated_at ? 1 : -1))
    .slice(0, MAX_CASES)
    .map(({ row: { id, title, state } }) => ({
      title: visibleText(title),
      detail: stateLabel(state),
      href: casePage(id),
    }))
}
