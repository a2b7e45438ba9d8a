import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { counted } from '../../model/amounts.ts'
import { placedBelow } from '../../model/comment.ts'
import { UNCHANGED_PLAN } from '../../model/history-acts.ts'
import { isPlanUnchanged } from '../../model/plan-revisions.ts'
import { linesOfStep } from '../../model/plan-step.ts'
import { isUnlimited, type PlanScope, SCOPE_KEYS } from '../../model/scope.ts'
import { providerText } from '../../model/session.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { HunksView } from '../../rendering/diff/hunks-view.tsx'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { slotted } from '../../rendering/markdown/line-slots.ts'
import { stepFacts } from '../../rendering/markdown/step-figure.ts'
import { noHypothesis } from '../../runners/runbook-plan.ts'
import { sessionApi, sessionPage } from '../shell/addresses.ts'
import { Fact, Listed } from '../shell/facts.tsx'
import { HelpLink } from '../shell/help-link.tsx'
import { Panel } from '../shell/menu.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { NumberedSource, TextBox } from '../shell/text-box.tsx'
import { Time } from '../shell/time.tsx'
import type { PlanViewName, SessionPageData } from './data.ts'
import { FolderWarning, RunFolderNotice } from './folder-notice.tsx'
import { inlineComments } from './inline-comments.ts'
import { Comment, ReviewList } from './plan-comments.tsx'
import { ApproveBar, CommentForm, EditForm, ReviseForm } from './plan-forms.tsx'

/** Hypothesis and plan: rendered, as source, or as what changed in it. */
export function PlanSection({ data }: { data: SessionPageData }) {
  const { session, json, query, plan } = data
  if (json.plan === '' && json.hypothesis === '') return null
  const isOpen = session.state === 'plan_ready'
  const isStated = json.hypothesis !== '' && json.hypothesis !== noHypothesis(data.planSource)
  return (
    <section class="card plan" id="plan" aria-labelledby="plan-title">
      <header>
        <h2 id="plan-title">{isOpen ? 'Plan to approve' : 'Plan'}</h2>
        {isOpen && <HelpLink topic="approve" />}
        {json.plan !== '' && <ViewTabs data={data} />}
      </header>
      {isOpen && <Statement data={data} />}
      {isOpen && isPlanUnchanged(session.trail) && (
        <p class="notice" data-tone="warn" id="plan-unchanged">
          {UNCHANGED_PLAN}
        </p>
      )}
      {isOpen && <PlanErrors data={data} />}
      <ScopeFacts scope={plan.scope} />
      <ReviewList data={data} />
      {query.view === 'rendered' && isStated && (
        <Written id="hypothesis" title="Hypothesis" by={writerOf(data, false)}>
          <Hypothesis data={data} />
        </Written>
      )}
      <Written id="plan-written" title="Plan" by={writerOf(data, true)}>
        <div
          class="stack"
          id="plan-text"
          data-comments={isOpen ? `${sessionApi(session)}/comments` : undefined}
          data-steps={plan.steps.length}
        >
          <PlanText data={data} />
        </div>
      </Written>
      {isOpen && <FolderWarning data={data} />}
      {isOpen && <RunFolderNotice data={data} />}
      {isOpen && <ApproveBar data={data} />}
      {isOpen && <CommentForm data={data} />}
      {isOpen && <EditForm data={data} />}
      {isOpen && <ReviseForm data={data} />}
    </section>
  )
}

/** What Casefile itself says about the plan: outside of what others wrote, and before it. */
function Statement({ data: { plan, summary } }: { data: SessionPageData }) {
  const text = plan.errors.length === 0 ? summary.text : ''
  return text === '' ? null : <p id="execution-summary">{text}</p>
}

interface WrittenProps {
  id: string
  title: string
  by: string
  children?: Child
}

/** The frame of a text that others wrote. */
function Written({ id, title, by, children }: WrittenProps) {
  return (
    <section class="written stack" id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        {title} <span class="muted">{by}</span>
      </h3>
      {children}
    </section>
  )
}

function writerOf({ session, planSource, revisions }: SessionPageData, isPlan: boolean): string {
  const by = isPlan ? revisions.find(({ current }) => current)?.by : undefined
  if (by === 'request' || by === 'hand') return WRITERS[by]
  if (session.provider === OWN_PROVIDER) return `from ${planSource}`
  return `written by ${visibleName(providerText(session))}`
}

const VIEW_LABELS: Record<PlanViewName, string> = {
  rendered: 'Rendered',
  source: 'Source',
  diff: 'What changed',
}

function ViewTabs({ data: { session, query, revisions } }: { data: SessionPageData }) {
  const page = sessionPage(session.case_id, session.number)
  const views: PlanViewName[] =
    revisions.length > 1 ? ['rendered', 'source', 'diff'] : ['rendered', 'source']
  return (
    <Tabs
      label="View of the plan"
      tabs={views.map((view) => ({
        label: VIEW_LABELS[view],
        href: view === 'rendered' ? `${page}#plan` : `${page}?view=${view}#plan`,
        isCurrent: query.view === view,
      }))}
    />
  )
}

function PlanText({ data }: { data: SessionPageData }) {
  if (data.query.view === 'source') return <PlanSource data={data} isTarget />
  const { query } = data
  return query.view === 'rendered' ? <RenderedPlan data={data} /> : <Comparison data={data} />
}

const WRITERS = {
  provider: 'written by the provider',
  request: 'edited',
  hand: 'edited in the file',
} as const

function Comparison({ data: { comparison } }: { data: SessionPageData }) {
  if (comparison === null) return <p class="muted">This plan has only one revision.</p>
  const { with: other, isKnown, diff } = comparison
  return (
    <>
      <p class="muted small">
        Changes since the revision {WRITERS[other.by]} on <Time at={other.at} ago={false} />
      </p>
      {!isKnown ? (
        <p class="notice">The text of that revision is not on this machine.</p>
      ) : diff === null ? (
        <p class="notice">The two texts are too different to compare. Read the whole plan.</p>
      ) : diff.hunks.length === 0 ? (
        <p class="notice">Both texts are the same.</p>
      ) : (
        <HunksView hunks={diff.hunks} label="Changes of the plan" />
      )}
    </>
  )
}

/** If the rendered text leaves something out, the source comes first; if there is none, it is all there is. */
function RenderedPlan({ data }: { data: SessionPageData }) {
  const { json, planHtml, planHidden } = data
  if (json.plan === '') return <p class="muted">None.</p>
  if (planHtml === null) {
    return (
      <>
        <p class="notice" data-tone="warn" id="plan-complex">
          This plan is too complex to render, so here is its source. Casefile runs the lines with ▶.
        </p>
        <PlanSource data={data} isTarget />
      </>
    )
  }
  const rendered = <div class="markdown">{withComments(planHtml, data)}</div>
  if (planHidden.length === 0) return rendered
  return (
    <>
      <div class="notice" data-tone="warn" id="plan-hidden">
        <p>
          The rendered view doesn't show parts of this plan, such as{' '}
          <Listed items={planHidden.slice(0, 5).map((word) => <code>{word.slice(0, 60)}</code>)} />.
          Read the source: that is what you approve. The rendered view is below it.
        </p>
      </div>
      <PlanSource data={data} />
      {rendered}
    </>
  )
}

/** The HTML of the plan, with each comment where its line is. */
function withComments(html: string, data: SessionPageData) {
  const comments = new Map(data.comments.map((comment) => [comment.id, comment]))
  return slotted(html).map((piece, index) => {
    const comment = index % 2 === 1 ? comments.get(piece) : undefined
    if (!comment) return raw(piece)
    return <Comment comment={comment} data={data} hasQuote={comment.present_line === null} />
  })
}

function PlanSource({ data, isTarget = false }: { data: SessionPageData; isTarget?: boolean }) {
  const comments = inlineComments(data.comments)
  const steps = data.markedSteps.map((step, index) => ({
    id: step.id,
    number: index + 1,
    facts: stepFacts(step),
    lines: linesOfStep(data.plan.steps[index]!),
    runs: !step.isForAgent,
  }))
  return (
    <NumberedSource
      text={data.json.plan}
      label="Source of the plan"
      steps={steps}
      isTarget={isTarget}
      below={(line) =>
        comments
          .filter((each) => placedBelow(each) === line)
          .map((comment) => (
            <Comment comment={comment} data={data} hasQuote={comment.present_line === null} />
          ))
      }
    />
  )
}

function Hypothesis({ data: { hypothesisHtml, json } }: { data: SessionPageData }) {
  if (hypothesisHtml !== null) return <div class="markdown">{raw(hypothesisHtml)}</div>
  return (
    <>
      <p class="muted small">It is too complex to render, so here is its source.</p>
      <TextBox label="Hypothesis" class="plain-text">
        {visibleText(json.hypothesis)}
      </TextBox>
    </>
  )
}

/** What the plan limits its work to. */
function ScopeFacts({ scope }: { scope: PlanScope }) {
  if (isUnlimited(scope)) return null
  return (
    <div class="plan-scope" id="plan-scope">
      <h3 class="small muted">Scope</h3>
      <dl class="fact-list">
        {SCOPE_KEYS.map((key) => {
          const entries = scope[key]
          return (
            entries && (
              <Fact label={key === 'paths' ? 'Paths' : 'Commands of an agent'}>
                {entries.length === 0 && 'nothing'}
                <Listed items={entries.map((entry) => <code>{visibleText(entry)}</code>)} />
              </Fact>
            )
          )
        })}
      </dl>
    </div>
  )
}

function PlanErrors({ data: { plan, summary } }: { data: SessionPageData }) {
  if (plan.errors.length === 0 && summary.objection === null) return null
  return (
    <div class="notice" data-tone="bad" id="plan-errors">
      {summary.objection !== null && <p>{visibleText(summary.objection)}</p>}
      {plan.errors.length > 0 && (
        <>
          <p>This plan has mistakes, so it can't be approved. Edit it, or request changes:</p>
          <ul>
            {plan.errors.map(({ line, message }) => (
              <li>
                Line {line}: {visibleText(message)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

/** The revisions of the plan, newest first, with the change requests. */
export function RevisionList({ data: { revisionRows, session } }: { data: SessionPageData }) {
  const { rows, before } = revisionRows
  if (rows.length < 2) return null
  const page = sessionPage(session.case_id, session.number)
  return (
    <Panel id="revisions" title="Plan revisions">
      <ol class="revisions" reversed start={before + rows.length}>
        {rows.toReversed().map(({ plan_sha256, at, by, current, note, isKept }, index) => (
          <li>
            <span>
              {WRITERS[by]} <Time at={at} /> {current && <span class="tag">current</span>}
              {!current && isKept && (
                <a href={`${page}?view=diff&against=${plan_sha256.slice(0, 16)}#plan`}>
                  Compare
                  <span class="visually-hidden"> with revision {before + rows.length - index}</span>
                </a>
              )}
            </span>
            {note !== null && (
              <details id={`revision-note-${before + rows.length - index}`}>
                <summary class="small">Request</summary>
                <blockquote>{visibleText(note)}</blockquote>
              </details>
            )}
          </li>
        ))}
      </ol>
      {before > 0 && <p class="muted small">{counted(before, 'older revision')} not listed.</p>}
    </Panel>
  )
}
