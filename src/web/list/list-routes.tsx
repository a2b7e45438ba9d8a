import { Hono } from 'hono'
import { queryOf } from '../../http/case-filter.ts'
import type { ServiceEnv } from '../../http/context.ts'
import { UUID } from '../../model/words.ts'
import { listProviders } from '../../sessions/providers.ts'
import type { PageNeeds } from '../needs.ts'
import { CASES, NEW_CASE } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { CaseChunk } from './case-chunk.tsx'
import { filtersOf } from './filters.ts'
import { type Chunk, firstChunks } from './groups.ts'
import { ListPage } from './list-page.tsx'
import { listing } from './listing.ts'
import { NewCasePage } from './new-case-page.tsx'
import { wordsOf } from './words.ts'

/** Of what one answer shows at most. */
const MAX_CHUNKS = 12

/**
 * The list: with `show=open-0,open-100` those chunks are filled, with `from=` the first from that place
 * on; `chunk=open-200` asks for nothing but that chunk. And the page of a new case.
 */
export function listRoutes({ service, assets }: PageNeeds): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const rowsOf = ({ ids }: Chunk) => ids.flatMap((id) => service.catalog.row(id) ?? [])

  app.get(CASES, pageHeaders({ forms: 'self' }), async (c) => {
    const filters = filtersOf(queryOf(c))
    const list = await listing(service, filters)
    const wanted = c.req.query('chunk')
    if (wanted !== undefined) {
      const chunk = named(list.groups, [wanted])[0] ?? { id: wanted, start: 0, ids: [] }
      return pageResponse(c, <CaseChunk chunk={chunk} order={list.order} rows={rowsOf(chunk)} />)
    }
    const shown = named(list.groups, c.req.query('show')?.split(',', MAX_CHUNKS) ?? [])
    const from = Number(c.req.query('from') ?? 0)
    const chunks = shown.length > 0 ? shown : firstChunks(list.groups, from)
    const filled = new Map(chunks.map((chunk) => [chunk, rowsOf(chunk)]))
    const words = wordsOf(service.lists)
    return pageResponse(c, <ListPage {...{ service, assets, filters, list, words, filled }} />)
  })

  app.get(NEW_CASE, pageHeaders(), async (c) => {
    await service.synchronizer.freshenAll()
    const words = wordsOf(service.lists)
    const settings = await service.settings()
    const providers = listProviders(settings)
    const parentId = c.req.query('parent') ?? ''
    const parent = UUID.test(parentId) ? service.catalog.folder(parentId)?.case : undefined
    return pageResponse(
      c,
      <NewCasePage {...{ assets, words, providers, parent }} defaultProvider={settings.provider} />,
    )
  })
  return app
}

function named(groups: readonly { chunks: Chunk[] }[], ids: readonly string[]): Chunk[] {
  const chunks = groups.flatMap((group) => group.chunks)
  return chunks.filter(({ id }) => ids.includes(id))
}
