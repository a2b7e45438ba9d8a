import { raw } from 'hono/html'
import { counted } from '../../model/amounts.ts'
import { placedBelow } from '../../model/comment.ts'
import { UNCHANGED_PLAN } from '../../model/history-acts.ts'
import { isUnlimited, type PlanScope, SCOPE_KEYS } from '../../model/scope.ts'
import { HunksView } from '../../rendering/diff/hunks-view.tsx'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { slotted } from '../../rendering/markdown/line-slots.ts'
import { sessionApi, sessionPage } from '../shell/addresses.ts'
import { HelpLink } from '../shell/help-link.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { NumberedSource, TextBox } from '../shell/text-box.tsx'
import { Time } from '../shell/time.tsx'
import { inlineComments } from './comment-places.ts'
import { FolderNotice, WallsNotice } from './folder-notice.tsx'
import { Comment, ReviewList } from './plan-comments.tsx'
import { planFacts } from './plan-facts.ts'
import { ApproveBar, CommentForm, EditForm, ReviseForm } from './plan-forms.tsx'
import type { PlanViewName, SessionPageData } from './session-data.ts'

/** Hypothesis and plan: rendered, as source, or as what changed in it. */
export function PlanSection({ data }: { data: SessionPageData }) {
  const { session, json, query, summary, plan } = data
  if (json.plan === '' && json.hypothesis === '') return null
  const isOpen = session.state === 'plan_ready'
  return (
    <section class="card plan" id="plan" aria-labelledby="plan-title">
      <header>
        <h2 id="plan-title">{isOpen ? 'Plan to approve' : 'Plan'}</h2>
        {isOpen && <HelpLink topic="approve" />}
        {json.plan !== '' && <ViewTabs data={data} />}
      </header>
      {isOpen && (
        <p class="muted small" id="plan-facts">
          {planFacts(json.plan, plan)}
        </p>
      )}
      {isOpen && <FolderNotice data={data} />}
      {isOpen && <WallsNotice data={data} />}
      {query.view === 'rendered' && json.hypothesis !== '' && (
        <div class="hypothesis" id="hypothesis">
          <h3>Hypothesis</h3>
          <RenderedText label="Hypothesis" html={data.hypothesisHtml} text={json.hypothesis} />
        </div>
      )}
      {summary.text !== '' && plan.errors.length === 0 && (
        <p class="execution-summary" id="execution-summary">
          {summary.text}
        </p>
      )}
      {isOpen && json.plan_unchanged && (
        <p class="notice" data-tone="warn" id="plan-unchanged">
          {UNCHANGED_PLAN}
        </p>
      )}
      {isOpen && <PlanErrors data={data} />}
      <ScopeFacts scope={plan.scope} />
      <ReviewList data={data} />
      <div id="plan-text" data-comments={isOpen ? `${sessionApi(session)}/comments` : undefined}>
        <PlanText data={data} />
      </div>
      {isOpen && <ApproveBar data={data} />}
      {isOpen && <CommentForm data={data} />}
      {isOpen && <EditForm data={data} />}
      {isOpen && <ReviseForm data={data} />}
    </section>
  )
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
  if (data.query.view === 'source') return <PlanSource data={data} />
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

/** If the rendered text leaves something out, the source comes first. */
function RenderedPlan({ data }: { data: SessionPageData }) {
  const { json, planHtml, planHidden } = data
  const rendered =
    planHtml === null ? (
      <RenderedText label="Plan" html={null} text={json.plan} />
    ) : (
      <div class="markdown">{withComments(planHtml, data)}</div>
    )
  if (planHidden.length === 0) return rendered
  return (
    <>
      <div class="notice" data-tone="warn" id="plan-hidden">
        <p>
          The rendered view doesn't show parts of this plan, such as{' '}
          {planHidden.slice(0, 5).map((word, index) => (
            <>
              {index > 0 && ', '}
              <code>{word.slice(0, 60)}</code>
            </>
          ))}
          . Read the source: that is what you approve. The rendered view is below it.
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

function PlanSource({ data }: { data: SessionPageData }) {
  const comments = inlineComments(data.comments)
  return (
    <NumberedSource
      text={data.json.plan}
      label="Source of the plan"
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

/** A text that takes too long to render is shown as it is. */
function RenderedText({ label, html, text }: { label: string; html: string | null; text: string }) {
  if (text === '') return <p class="muted">None.</p>
  if (html !== null) return <div class="markdown">{raw(html)}</div>
  return (
    <TextBox label={label} class="plain-text">
      {visibleText(text)}
    </TextBox>
  )
}

/** What the plan limits its work to. */
function ScopeFacts({ scope }: { scope: PlanScope }) {
  if (isUnlimited(scope)) return null
  return (
    <div class="plan-scope" id="plan-scope">
      <h3>Scope</h3>
      <dl class="fact-list">
        {SCOPE_KEYS.map((key) => {
          const entries = scope[key]
          return (
            entries && (
              <>
                <dt>{key === 'paths' ? 'Paths' : 'Commands of an agent'}</dt>
                <dd>
                  {entries.length === 0 && 'nothing'}
                  {entries.map((entry, index) => (
                    <>
                      {index > 0 && ', '}
                      <code>{visibleText(entry)}</code>
                    </>
                  ))}
                </dd>
              </>
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
    <section class="card" id="revisions" aria-labelledby="revisions-title">
      <h2 id="revisions-title">Plan revisions</h2>
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
    </section>
  )
}
