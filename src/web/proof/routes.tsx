import { caseId, proofId } from '../../http/params.ts'
import { proofOf } from '../../model/case-contents.ts'
import { diffLayout } from '../changes/page.tsx'
import type { Routes } from '../deps.ts'
import { isUnreadableProof, loadUnreadableProof } from '../memory/data.ts'
import { MemoryPage } from '../memory/page.tsx'
import { ProofPage } from './page.tsx'

/** The page of a proof, or of the file of one that cannot be read. */
export const proofRoutes: Routes = ({ service, assets }, get) => {
  get('/case/:id/proof/:pid', async (c) => {
    const contents = await service.store.read(caseId(c))
    const pid = proofId(c)
    if (isUnreadableProof(contents, pid)) {
      const data = await loadUnreadableProof(service, contents, pid)
      return <MemoryPage assets={assets} contents={contents} data={data} isSource />
    }
    const proof = proofOf(contents, pid)
    const layout = diffLayout(c.req.query('diff'))
    return (
      <ProofPage
        service={service}
        assets={assets}
        contents={contents}
        proof={proof}
        layout={layout}
        isRaw={c.req.query('view') === 'raw'}
      />
    )
  })
}
