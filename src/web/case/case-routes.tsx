import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { caseId, memoryFilename, proofId } from '../../http/params.ts'
import { proofOf } from '../../model/case-folder.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import type { PageDeps } from '../deps.ts'
import { diffLayout } from '../diff/changes-page.tsx'
import { isUnreadableProof, loadMemoryPage, loadUnreadableProof } from '../memory/memory-data.ts'
import { MemoryPage } from '../memory/memory-page.tsx'
import { runbookTemplate } from '../memory/runbook-template.ts'
import { ProofPage } from '../proof/proof-page.tsx'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { loadCasePage, loadSimilarCases } from './case-data.ts'
import { CasePage } from './case-page.tsx'
import { isTimelineFilter } from './timeline.ts'

/** The pages of a case, of its proof and of its memory files. */
export function caseRoutes({ service, assets, setup }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/case/:id', pageHeaders(), async (c) => {
    const data = await loadCasePage({ service, setup }, await service.store.read(caseId(c)))
    const similar = await loadSimilarCases(service, data, c.req.query('similar') !== undefined)
    const asked = c.req.query('history')
    const filter = isTimelineFilter(asked) ? asked : null
    return pageResponse(
      c,
      <CasePage
        data={data}
        similar={similar}
        filter={filter}
        isNotPlanned={c.req.query('not-planned') !== undefined}
        assets={assets}
      />,
    )
  })

  app.get('/case/:id/proof/:pid', pageHeaders(), async (c) => {
    const folder = await service.store.read(caseId(c))
    const pid = proofId(c)
    if (isUnreadableProof(folder, pid)) {
      const data = await loadUnreadableProof(service, folder, pid)
      return pageResponse(c, <MemoryPage assets={assets} folder={folder} data={data} isSource />)
    }
    const proof = proofOf(folder, pid)
    const layout = diffLayout(c.req.query('diff'))
    return pageResponse(
      c,
      <ProofPage
        service={service}
        assets={assets}
        folder={folder}
        proof={proof}
        layout={layout}
        isRaw={c.req.query('view') === 'raw'}
      />,
    )
  })

  app.get('/case/:id/memory/:file', pageHeaders(), async (c) => {
    const folder = await service.store.read(caseId(c))
    const name = memoryFilename(c, 'file')
    const data = await loadMemoryPage(service, folder, name)
    const isSource = c.req.query('source') !== undefined
    const isNew = name === RUNBOOK_FILE && data.file === null
    return pageResponse(
      c,
      <MemoryPage
        assets={assets}
        folder={folder}
        data={data}
        isSource={isSource}
        template={isNew ? await runbookTemplate(service, folder) : undefined}
      />,
    )
  })

  return app
}
