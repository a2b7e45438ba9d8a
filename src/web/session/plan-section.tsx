import { raw } from 'hono/html'
import { UNCHANGED_PLAN } from '../../model/history-acts.ts'
import { HunksView } from '../../rendering/diff/view.tsx'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import { NumberedSource } from './numbered-source.tsx'
import { ApproveBar, EditForm, ReviseForm } from './plan-forms.tsx'
import { WRITERS } from './revision-list.tsx'
import type { PlanViewName, SessionView } from './session-view.ts'

/** Hypothesis and plan, as text to be read, as their source, or as what changed in it. */
export function PlanSection({ view }: { view: SessionView }) {
  const { session, json, query, undertaking, plan } = view
  if (json.plan === '' && json.hypothesis === '') return null
  const isOpen = session.state === 'plan_ready'
  return (
    <section class="card plan" id="plan" aria-labelledby="plan-title">
      <header>
        <h2 id="plan-title">{isOpen ? 'The plan to approve' : 'Plan'}</h2>
        {json.plan !== '' && <ViewLinks view={view} />}
      </header>
      {query.view === 'rendered' && json.hypothesis !== '' && (
        <div class="hypothesis" id="hypothesis">
          <h3>Hypothesis</h3>
          <RenderedText html={view.hypothesisHtml} text={json.hypothesis} />
        </div>
      )}
      {undertaking.text !== '' && plan.errors.length === 0 && (
        <p class="undertaking" id="undertaking">
          {undertaking.text}
        </p>
      )}
      {isOpen && json.plan_unchanged && (
        <p class="notice" data-kind="warn" id="plan-unchanged">
          {UNCHANGED_PLAN}
        </p>
      )}
      {isOpen && <PlanErrors view={view} />}
      <div id="plan-text" data-plan={json.plan_sha256}>
        <PlanText view={view} />
      </div>
      {isOpen && <ApproveBar view={view} />}
      {isOpen && <EditForm view={view} />}
      {isOpen && <ReviseForm view={view} />}
    </section>
  )
}

const VIEW_NAMES: Record<PlanViewName, string> = {
  rendered: 'Rendered',
  source: 'Source',
  diff: 'What changed',
}

function ViewLinks({ view }: { view: SessionView }) {
  const { session, query, revisions } = view
  const page = sessionPage(session.case_id, session.number)
  const names: PlanViewName[] =
    revisions.length > 1 ? ['rendered', 'source', 'diff'] : ['rendered', 'source']
  return (
    <nav class="tabs" aria-label="How the plan is shown">
      {names.map((name) => (
        <a
          href={name === 'rendered' ? `${page}#plan` : `${page}?view=${name}#plan`}
          aria-current={query.view === name ? 'true' : undefined}
        >
          {VIEW_NAMES[name]}
        </a>
      ))}
    </nav>
  )
}

function PlanText({ view }: { view: SessionView }) {
  const { json, query, comparison } = view
  if (query.view === 'source') {
    return <NumberedSource text={json.plan} label="Source of the plan" />
  }
  if (query.view === 'rendered') return <RenderedPlan view={view} />
  if (comparison === null) return <p class="muted">There is no other revision of this plan.</p>
  const { with: other, isKnown, diff } = comparison
  return (
    <>
      <p class="muted small">
        Against the revision {WRITERS[other.by]} on <Time at={other.at} ago={false} />.
      </p>
      {!isKnown ? (
        <p class="notice">The text of that revision is not kept on this machine.</p>
      ) : diff === null ? (
        <p class="notice">The two texts are too different to be compared. Read the whole plan.</p>
      ) : diff.hunks.length === 0 ? (
        <p class="notice">Both texts are the same.</p>
      ) : (
        <HunksView hunks={diff.hunks} label="Changes of the plan" />
      )}
    </>
  )
}

/** Where the rendered text leaves something out, the source stands before it. */
function RenderedPlan({ view }: { view: SessionView }) {
  const { json, planHtml, planHidden } = view
  const rendered = <RenderedText html={planHtml} text={json.plan} />
  if (planHidden.length === 0) return rendered
  return (
    <>
      <div class="notice" data-kind="warn" id="plan-hidden">
        <p>
          This plan has parts that the rendered view does not show, as{' '}
          {planHidden.slice(0, 5).map((word, index) => (
            <>
              {index > 0 && ', '}
              <code>{word.slice(0, 60)}</code>
            </>
          ))}
          . Read its source, which is what will be approved; the rendered view stands below.
        </p>
      </div>
      <NumberedSource text={json.plan} label="Source of the plan" />
      {rendered}
    </>
  )
}

/** What cannot be rendered in time is shown as it is. */
function RenderedText({ html, text }: { html: string | null; text: string }) {
  if (text === '') return <p class="muted">There is none.</p>
  if (html !== null) return <div class="markdown">{raw(html)}</div>
  return (
    <pre class="plain" tabindex={0}>
      {visibleText(text)}
    </pre>
  )
}

function PlanErrors({ view }: { view: SessionView }) {
  const { plan, undertaking } = view
  if (plan.errors.length === 0 && undertaking.objection === null) return null
  return (
    <div class="notice" data-kind="bad" id="plan-errors">
      {undertaking.objection !== null && <p>{visibleText(undertaking.objection)}</p>}
      {plan.errors.length > 0 && (
        <>
          <p>This plan cannot be run as it stands, so nothing of it can be approved:</p>
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
