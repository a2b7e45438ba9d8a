import { SETTABLE } from '../../model/case-fields.ts'
import { outcomeLabel, outcomeTone } from '../../model/outcomes.ts'
import { providerText } from '../../model/session.ts'
import { cutLine, failureText } from '../../model/session-failure.ts'
import {
  IN_LINE,
  needLabel,
  STATE_GROUP_LABELS,
  STATE_GROUP_TONES,
  stateGroup,
  stateLabel,
} from '../../model/state-groups.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import type { ResolvedCase } from '../../sessions/context.ts'
import type { PageAssets } from '../assets.ts'
import { PlanAgain } from '../session/plan-again.tsx'
import { casesWithTag, changesOf, pathTo, sessionPage } from '../shell/addresses.ts'
import { Badge } from '../shell/badges.tsx'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { Page } from '../shell/page.tsx'
import { FixFileLink, ProblemsList } from '../shell/problems.tsx'
import { ReportLinks } from '../shell/report-links.tsx'
import { SourceLink } from '../shell/source-link.tsx'
import { markOfCase } from '../shell/tab-mark.ts'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './data.ts'
import { DescriptionCard } from './description-card.tsx'
import { DeleteForm, DetailsCard, FilesCard, SimilarCard } from './details-cards.tsx'
import { FirstSession } from './first-session.tsx'
import { GateCard } from './gate-card.tsx'
import { ProofCard } from './proof-card.tsx'
import { StateCard } from './state-card.tsx'
import { TimelineCard } from './timeline-card.tsx'
import { ToVerify } from './to-verify.tsx'
import { UnappliedWork } from './unapplied.tsx'

interface CasePageProps {
  data: CasePageData
  similar: ResolvedCase[] | null
  /** "Create and plan" has just created the case, and its session did not start. */
  isNotPlanned: boolean
  assets: PageAssets
}

/** A case, with what waits for the operator first. */
export function CasePage({ data, similar, isNotPlanned, assets }: CasePageProps) {
  const { id, json, broken } = data
  return (
    <Page
      title={json.title}
      assets={assets}
      // the cases before it in line change its place
      live={data.inLine ? changesOf() : changesOf(id)}
      mark={markOfCase(data.attention, json.state)}
    >
      <CaseHead data={data} />
      {isNotPlanned && data.sessions.length === 0 && (
        <div class="notice" data-tone="bad" id="not-planned" role="alert">
          <strong>The case was created, but its session did not start.</strong> The form of a new
          session says why.
        </div>
      )}
      <Question data={data} />
      <FirstSession data={data} />
      <WaitingPlans data={data} />
      <InLine data={data} />
      <FailedSession data={data} />
      <ToVerify data={data} />
      <UnappliedWork data={data} name="unapplied" />
      <ProblemsList
        caseId={id}
        problems={json.problems}
        consequence={
          broken
            ? "case.md can't be read. You're seeing the last good version; editing is off until it's fixed."
            : undefined
        }
      />
      <div class="columns">
        <div class="column">
          <StateCard data={data} />
          <GateCard data={data} />
        </div>
        <div class="column main">
          <DescriptionCard data={data} />
          <TimelineCard data={data} />
          <ProofCard data={data} />
        </div>
        <div class="column">
          <FilesCard data={data} />
          <SimilarCard id={id} cases={similar} />
          <DetailsCard data={data} />
          <DeleteForm data={data} />
        </div>
      </div>
    </Page>
  )
}

const MAX_TAGS = 20

/** Title, state, type and tags, with the form to change them. */
function CaseHead({ data }: { data: CasePageData }) {
  const { id, json, parent, broken, attention } = data
  const group = stateGroup(json.state, attention?.kind)
  const tags = json.tags.filter((tag) => tag !== json.type)
  const need = attention ? [needLabel(attention.kind, json.state)] : []
  const shown = data.inLine ? [IN_LINE] : [...new Set([STATE_GROUP_LABELS[group], ...need])]
  return (
    <div class="record-head" id="record-head">
      <Breadcrumbs
        above={parent ? pathTo(parent.id, parent.title) : pathTo()}
        current={json.title}
      />
      <div class="record-title">
        <h1 dir={directionOf(json.title)}>{visibleProse(json.title)}</h1>
        {broken ? <FixFileLink caseId={id} problem={broken} /> : <CaseForm data={data} />}
      </div>
      <div class="record-tags">
        <Badge tone={data.inLine ? 'info' : STATE_GROUP_TONES[group]}>{shown.join(' · ')}</Badge>
        {!shown.includes(stateLabel(json.state)) && (
          <span class="small muted">{stateLabel(json.state)}</span>
        )}
        {json.outcome && (
          <Badge tone={outcomeTone(json.outcome)}>{visibleText(outcomeLabel(json.outcome))}</Badge>
        )}
        <span class="tag">{json.type}</span>
        <ShowMore
          id="more-tags"
          items={tags}
          limit={MAX_TAGS}
          label={`All ${tags.length} tags`}
          list={(some) =>
            some.map((tag) => (
              <a class="tag" href={casesWithTag(tag)} dir={directionOf(tag)}>
                {visibleName(tag)}
              </a>
            ))
          }
        />
        {json.source && <SourceLink source={json.source} />}
        <span class="small muted">
          updated <Time at={json.updated_at} />
        </span>
        <ReportLinks caseId={id} />
      </div>
    </div>
  )
}

const EDITED = SETTABLE.filter(({ kind }) => kind !== 'markdown')

/** The form of the fields that the head shows, and of those among the details. */
function CaseForm({ data }: { data: CasePageData }) {
  const { id, json, etag } = data
  return (
    <FormDisclosure id="edit-case" label="Edit" about="the fields" shortcut="e">
      <form
        class="form card"
        id="edit-case-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict="The case"
        data-only-changed
      >
        <CaseFields form="edit" fields={EDITED} values={json} providers={data} />
        <FormActions submit="Save" primary />
      </form>
    </FormDisclosure>
  )
}

/** The question of a case that needs the operator's input; the box for the answer is in the history. */
function Question({ data: { json, broken } }: { data: CasePageData }) {
  if (json.state !== 'NEEDS_USER_INPUT' || broken) return null
  return (
    <div class="notice with-actions" data-tone="warn" id="question-waits">
      <div>
        <strong>This case needs your answer.</strong>
        <p dir={directionOf(json.reason ?? '')}>
          {json.reason ? visibleProse(cutLine(json.reason)) : 'No question was given.'}
        </p>
      </div>
      <a class="button primary needs-script" href="#answer-text" data-key="a">
        Go to the question
      </a>
    </div>
  )
}

function WaitingPlans({ data: { id, sessions } }: { data: CasePageData }) {
  return (
    <>
      {sessions
        .filter(({ state }) => state === 'plan_ready')
        .map(({ number, provider, origin, trail, started_at }) => (
          <div class="notice with-actions" data-tone="warn" id={`plan-waits-${number}`}>
            <div>
              <strong>The plan of session {number} needs your approval.</strong>
              <p class="small muted">
                Planned by {providerText({ provider, origin })}{' '}
                <Time at={trail.at(-1)?.time ?? started_at} />. Nothing runs until you approve it.
              </p>
            </div>
            <a class="button primary" href={sessionPage(id, number)} data-key="a">
              Review the plan
            </a>
          </div>
        ))}
    </>
  )
}

/** Why nothing of the case runs yet. */
function InLine({ data: { id, inLine } }: { data: CasePageData }) {
  if (inLine === null) return null
  const { number, text } = inLine
  return (
    <div class="notice with-actions" data-tone="info" id="in-line">
      <p>
        Session {number} waits in line: {text}.
      </p>
      <a class="button" href={sessionPage(id, number)}>
        Go to session {number}
      </a>
    </div>
  )
}

/** The newest session if it failed and nothing came after it. */
function FailedSession({ data }: { data: CasePageData }) {
  const { id, failedSession: session, againObjection } = data
  if (!session) return null
  const { number, origin, trail, started_at } = session
  return (
    <div class="notice with-actions" data-tone="bad" id="failed-session">
      <div>
        <strong>
          Session {number} failed: {failureText(session)}.
        </strong>
        <p class="small muted">
          <Time at={trail.at(-1)?.time ?? started_at} />.{' '}
          {origin === 'terminal'
            ? 'Your next prompt in the terminal begins a new session.'
            : 'Plan again starts a new session with this failure in its prompt.'}{' '}
          To leave it for later, change the state of the case.
        </p>
      </div>
      <div class="actions">
        <PlanAgain session={session} objection={againObjection} />
        <a class="button" href={`${sessionPage(id, number)}#output`}>
          Show the output
        </a>
      </div>
    </div>
  )
}
