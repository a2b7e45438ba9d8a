import type { ResolvedCase } from '../../sessions/resolved-like.ts'
import type { Assets } from '../assets.ts'
import { changesOf } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { CaseHead } from './case-head.tsx'
import type { CaseView } from './case-view.ts'
import { DangerCard } from './danger-card.tsx'
import { DescriptionCard } from './description-card.tsx'
import { FactsCard } from './facts-card.tsx'
import { GateCard } from './gate-card.tsx'
import { HistoryCard } from './history-card.tsx'
import { MemoryCard } from './memory-card.tsx'
import { FailureNotice, PlanNotices, ProblemsCard } from './needs-first.tsx'
import { ProofCard } from './proof-card.tsx'
import { QuestionNotice } from './question-notice.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { SimilarCard } from './similar-card.tsx'
import { StateCard } from './state-card.tsx'

interface CasePageProps {
  view: CaseView
  similar: ResolvedCase[] | null
  assets: Pick<Assets, 'href' | 'workspace'>
}

/** A case, with what waits for the operator first. */
export function CasePage({ view, similar, assets }: CasePageProps) {
  const { id, json } = view
  return (
    <Page title={json.title} assets={assets} kind="case" live={changesOf(id)}>
      <CaseHead view={view} />
      <QuestionNotice view={view} />
      <PlanNotices view={view} />
      <FailureNotice view={view} />
      <ProblemsCard view={view} />
      <div class="case-grid">
        <div class="case-aside aside-first">
          <StateCard view={view} />
          <GateCard view={view} />
        </div>
        <div class="case-body">
          <DescriptionCard view={view} />
          <HistoryCard view={view} />
          <SessionsCard view={view} />
          <ProofCard view={view} />
        </div>
        <div class="case-aside aside-rest">
          <MemoryCard view={view} />
          <SimilarCard id={id} cases={similar} />
          <FactsCard view={view} />
          <DangerCard view={view} />
        </div>
      </div>
    </Page>
  )
}
