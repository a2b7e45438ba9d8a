import type { Assets } from '../assets.ts'
import { changesOf } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { CaseHead } from './case-head.tsx'
import type { CaseView } from './case-view.ts'
import { DangerCard } from './danger-card.tsx'
import { DescriptionCard } from './description-card.tsx'
import { FactsCard } from './facts-card.tsx'
import { GateCard } from './gate-card.tsx'
import { MemoryCard } from './memory-card.tsx'
import { PlanNotices, ProblemsCard } from './needs-first.tsx'
import { ProofCard } from './proof-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { StateCard } from './state-card.tsx'

/** A case, with what waits for the operator first. */
export function CasePage({ view, assets }: { view: CaseView; assets: Pick<Assets, 'href'> }) {
  const { id, json } = view
  return (
    <Page title={json.title} assets={assets} kind="case" live={changesOf(id)}>
      <CaseHead view={view} />
      <PlanNotices view={view} />
      <ProblemsCard view={view} />
      <div class="case-grid">
        <div class="case-aside aside-first">
          <StateCard view={view} />
          <GateCard view={view} />
        </div>
        <div class="case-body">
          <DescriptionCard view={view} />
          <SessionsCard view={view} />
          <ProofCard view={view} />
        </div>
        <div class="case-aside aside-rest">
          <MemoryCard view={view} />
          <FactsCard view={view} />
          <DangerCard view={view} />
        </div>
      </div>
    </Page>
  )
}
