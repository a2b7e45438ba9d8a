import { hasEnded } from '../../model/session-state.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import type { ResolvedCase } from '../../sessions/context.ts'
import type { PageAssets } from '../assets.ts'
import { PlanAgain } from '../session/plan-again.tsx'
import { casePage, changesOf, pathTo, sessionPage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { StatusBanner } from '../shell/next-act.tsx'
import { Page } from '../shell/page.tsx'
import { PlanButton } from '../shell/plan-button.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { Prose } from '../shell/prose.tsx'
import { markOfCase } from '../shell/tab-mark.ts'
import { CaseForms, CaseMenu, ResolveForm } from './case-forms.tsx'
import { CaseRail } from './case-rail.tsx'
import type { CasePageData } from './data.ts'
import { lacksPlan, TerminalWays, WaysToPlan } from './first-session.tsx'
import { ProofCard } from './proof-card.tsx'
import { TimelineCard } from './timeline-card.tsx'

interface CasePageProps {
  data: CasePageData
  similar: ResolvedCase[] | null
  /** "Create and plan" has just created the case, and its session did not start. */
  isNotPlanned: boolean
  assets: PageAssets
}

/** A case: its title, what comes next, its text; all else is in the rail, or behind its menu. */
export function CasePage({ data, similar, isNotPlanned, assets }: CasePageProps) {
  const { id, json, broken, parent } = data
  return (
    <Page
      title={json.title}
      assets={assets}
      // the cases before it in line change its place
      live={data.inLine ? changesOf() : changesOf(id)}
      mark={markOfCase(data.attention)}
    >
      <div class="page-columns">
        <div class="page-main">
          <div class="record-head" id="record-head">
            <Breadcrumbs
              above={parent ? pathTo(parent.id, parent.title) : pathTo()}
              current={json.title}
            />
            <h1 dir={directionOf(json.title)} tabindex={-1}>
              {visibleProse(json.title)}
            </h1>
          </div>
          {isNotPlanned && data.sessions.length === 0 && (
            <div class="notice" data-tone="bad" id="not-planned" role="alert">
              <strong>The case was created, but its session did not start.</strong> The form of a
              new session says why.
            </div>
          )}
          <NextStep data={data} />
          <ProblemsList
            caseId={id}
            problems={json.problems}
            consequence={
              broken
                ? "case.md can't be read. You're seeing the last good version; editing is off until it's fixed."
                : undefined
            }
          />
          <CaseForms data={data} similar={similar} />
          <Description data={data} />
          <ProofCard data={data} />
          <TimelineCard data={data} />
        </div>
        <aside class="rail" aria-label="Properties">
          <CaseRail data={data} />
          <CaseMenu data={data} similar={similar} />
        </aside>
      </div>
    </Page>
  )
}

function NextStep({ data }: { data: CasePageData }) {
  const { id, status, againObjection, sessions } = data
  const newest = sessions.find(({ number }) => number === status.session)
  const act = status.next?.act
  const instead =
    act === 'plan_again' && newest ? (
      <PlanAgain session={newest} objection={againObjection} />
    ) : act === 'resolve' ? (
      <ResolveForm data={data} />
    ) : act === 'plan' ? (
      <PlanNow data={data} />
    ) : act === 'set_up' && lacksPlan(data) ? (
      <WaysToPlan data={data} />
    ) : undefined
  return (
    <StatusBanner
      caseId={id}
      status={status}
      here={casePage(id)}
      instead={instead}
      beside={
        newest?.state === 'failed' && hasEnded(newest.state) ? (
          <a class="button" href={`${sessionPage(id, newest.number)}#output`}>
            Show the output
          </a>
        ) : (
          <TerminalWays data={data} />
        )
      }
    />
  )
}

function PlanNow({ data: { id, json } }: { data: CasePageData }) {
  return (
    <>
      <PlanButton caseId={id} caseType={json.type} />
      <button
        type="button"
        class="quiet needs-script"
        data-opens="new-session"
        aria-label="Choose how to plan"
      >
        ▾
      </button>
    </>
  )
}

function Description({ data: { id, json, broken } }: { data: CasePageData }) {
  if (json.description.trim() !== '') {
    return (
      <section id="description" aria-label="Description">
        <Prose caseId={id} text={json.description} under={1} />
      </section>
    )
  }
  return (
    <p class="muted" id="description">
      {broken ? "case.md can't be read; see the problem above." : 'No description yet.'}
    </p>
  )
}
