import { isOver } from '../../model/session-state.ts'
import type { Assets } from '../assets.ts'
import { casePage } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { FailedTests } from './failed-tests.tsx'
import { OutputSection } from './output-section.tsx'
import { mayPlanAgain } from './plan-again.tsx'
import { AbandonForm } from './plan-forms.tsx'
import { PlanSection } from './plan-section.tsx'
import { ProblemList } from './problem-list.tsx'
import { RefusedActions } from './refused-actions.tsx'
import { ChangedFiles, Evidence, TestResults } from './results.tsx'
import { RevisionList } from './revision-list.tsx'
import { SessionHead } from './session-head.tsx'
import type { SessionView } from './session-view.ts'
import { StepList } from './step-list.tsx'
import { TrailTable } from './trail-table.tsx'
import { mayGoOn } from './turn.ts'
import { UsageCard } from './usage-card.tsx'

/**
 * A session: first what the operator has to do with it now. While a plan waits that is the plan; while
 * it runs, the steps and what they print; when it is over, what came of it.
 */
export function SessionPage({ view, assets }: { view: SessionView; assets: Assets }) {
  const { folder, session, ended } = view
  const { id, title } = folder.case
  // what is wrong with the plan stands beside it
  const problems = view.json.problems.filter(({ code }) => code !== 'invalid_plan')
  const waits = session.state === 'plan_ready'
  // of a failure the output says why, and nothing is to be seen of files that did not change
  const isOutputFirst = session.state === 'failed' || session.diff?.file === ''
  const side = (
    <div class="session-side" id="session-side">
      <StepList view={view} />
      <TestResults view={view} />
      <Evidence view={view} />
      <UsageCard view={view} />
      <RevisionList view={view} />
      {mayGoOn(view) && !mayPlanAgain(view) && (
        <a class="button" id="go-on" href={`${casePage(id)}#new-session`}>
          New session
        </a>
      )}
      {!ended && <AbandonForm view={view} />}
    </div>
  )
  const main = (
    <div class="session-main" id="session-main">
      {waits && <PlanSection view={view} />}
      <FailedTests view={view} />
      <RefusedActions view={view} />
      {isOver(session.state) && !isOutputFirst && <ChangedFiles view={view} />}
      <OutputSection view={view} />
      {isOver(session.state) && isOutputFirst && <ChangedFiles view={view} />}
      {!waits && <PlanSection view={view} />}
      <TrailTable view={view} />
    </div>
  )
  return (
    <Page
      title={`Session ${session.number}: ${title}`}
      assets={assets}
      kind="session"
      live={`/events?after=now&case=${id}`}
    >
      <SessionHead view={view} />
      <ProblemList problems={problems} />
      <div class="session-columns">{waits ? [main, side] : [side, main]}</div>
    </Page>
  )
}
