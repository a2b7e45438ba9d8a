import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { caseId, proofId } from '../../http/params.ts'
import { proofOf } from '../../model/case-contents.ts'
import { diffLayout } from '../changes/page.tsx'
import type { PageDeps } from '../deps.ts'
import { isUnreadableProof, loadUnreadableProof } from '../memory/data.ts'
import { MemoryPage } from '../memory/page.tsx'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { ProofPage } from './page.tsx'

/** The page of a proof, or of the file of one that cannot be read. */
export function proofRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/case/:id/proof/:pid', pageHeaders(), async (c) => {
    const contents = await service.store.read(caseId(c))
    const pid = proofId(c)
    if (isUnreadableProof(contents, pid)) {
      const data = await loadUnreadableProof(service, contents, pid)
      return pageResponse(
        c,
        <MemoryPage assets={assets} contents={contents} data={data} isSource />,
      )
    }
    const proof = proofOf(contents, pid)
    const layout = diffLayout(c.req.query('diff'))
    return pageResponse(
      c,
      <ProofPage
        service={service}
        assets={assets}
        contents={contents}
        proof={proof}
        layout={layout}
        isRaw={c.req.query('view') === 'raw'}
      />,
    )
  })
  return app
}
