import { caseId } from '../../http/params.ts'
import type { Routes } from '../deps.ts'
import { loadCasePage, loadSimilarCases } from './data.ts'
import { CasePage } from './page.tsx'

/** The page of a case. */
export const caseRoutes: Routes = ({ service, assets }, get) => {
  get('/case/:id', async (c) => {
    const data = await loadCasePage(service, await service.store.read(caseId(c)))
    const similar = await loadSimilarCases(service, data, c.req.query('similar') !== undefined)
    return (
      <CasePage
        data={data}
        similar={similar}
        isNotPlanned={c.req.query('not-planned') !== undefined}
        assets={assets}
      />
    )
  })
}
