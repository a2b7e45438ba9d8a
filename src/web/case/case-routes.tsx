import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { caseId, memoryFilename, proofId } from '../../http/params.ts'
import { proofOf } from '../../model/case-folder.ts'
import type { PageNeeds } from '../needs.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { CasePage } from './case-page.tsx'
import { caseView } from './case-view.ts'
import { MemoryPage } from './memory-page.tsx'
import { isLostProof, lostProofView, memoryView } from './memory-view.ts'
import { ProofPage } from './proof-page.tsx'
import { similarOf } from './similar-card.tsx'

/** The pages of a case, of its proof and of its memory files. */
export function caseRoutes({ service, assets }: PageNeeds): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/case/:id', pageHeaders(), async (c) => {
    const view = await caseView(service, await service.store.read(caseId(c)))
    const similar = await similarOf(service, view, c.req.query('similar') !== undefined)
    return pageResponse(c, <CasePage view={view} similar={similar} assets={assets} />)
  })

  app.get('/case/:id/proof/:pid', pageHeaders(), async (c) => {
    const folder = await service.store.read(caseId(c))
    const pid = proofId(c)
    if (isLostProof(folder, pid)) {
      const view = await lostProofView(service, folder, pid)
      return pageResponse(c, <MemoryPage {...{ assets, folder, view, isSource: true }} />)
    }
    const proof = proofOf(folder, pid)
    return pageResponse(c, <ProofPage {...{ service, assets, folder, proof }} />)
  })

  app.get('/case/:id/memory/:file', pageHeaders(), async (c) => {
    const folder = await service.store.read(caseId(c))
    const view = await memoryView(service, folder, memoryFilename(c, 'file'))
    const isSource = c.req.query('source') !== undefined
    return pageResponse(c, <MemoryPage {...{ assets, folder, view, isSource }} />)
  })

  return app
}
