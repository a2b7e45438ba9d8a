import { counted } from '../../model/amounts.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import type { SessionView } from './session-view.ts'

/** The path of the session in the API. */
export function apiPath({ session }: Pick<SessionView, 'session'>): string {
  return `/cases/${session.case_id}/sessions/${session.id}`
}

/**
 * What the operator can do with a plan that waits. The form names the very text above it by its hash;
 * the script holds the button back when that text changes while the page is open. What shows a part of
 * the text alone leads back to all of it.
 */
export function ApproveBar({ view }: { view: SessionView }) {
  const { session, json, plan, query, undertaking, isBroken } = view
  const isBarred =
    isBroken || plan.errors.length > 0 || undertaking.objection !== null || json.plan === ''
  const running = plan.steps.filter((step) => undertaking.willRun(step)).length
  return (
    <div class="approve-bar" id="approve">
      <form
        id="approve-form"
        class="needs-script"
        data-send="POST"
        action={`${apiPath(view)}/approve`}
        data-barred={isBarred ? '' : undefined}
      >
        <input type="hidden" name="plan_sha256" value={json.plan_sha256 ?? ''} />
        <div class="actions">
          {query.view === 'diff' ? (
            <a
              class="button primary"
              id="read-whole"
              href={`${sessionPage(session.case_id, session.number)}#plan`}
            >
              Read the whole plan to approve it
            </a>
          ) : (
            <button type="submit" class="primary" id="approve-button" disabled={isBarred}>
              {approveText(view, running)}
            </button>
          )}
          <button type="button" data-opens="edit" data-key="e" data-key-name="Edit the plan">
            Edit
          </button>
          <button type="button" data-opens="revise" data-key="r" data-key-name="Revise the plan">
            Revise
          </button>
          {query.view !== 'diff' && (
            <span class="muted small plan-hash">
              exactly this text,{' '}
              <code title={json.plan_sha256 ?? ''}>{json.plan_sha256?.slice(0, 12)}</code>
            </span>
          )}
        </div>
      </form>
    </div>
  )
}

function approveText({ session, plan, undertaking }: SessionView, running: number): string {
  if (session.provider !== OWN_PROVIDER && !plan.isRunbook) {
    return `Approve, and let ${session.provider} work`
  }
  return undertaking.objection === null && running > 0
    ? `Approve and run ${counted(running, 'step')}`
    : 'Approve'
}

export function EditForm({ view }: { view: SessionView }) {
  const { json, etag } = view
  return (
    <details id="edit" class="plan-form needs-script" data-close="">
      <summary>Edit the plan</summary>
      <form
        class="form"
        id="edit-form"
        data-send="PUT"
        data-if-match={etag}
        data-plan={json.plan_sha256}
        action={`${apiPath(view)}/plan`}
      >
        <div class="field">
          <label for="edit-plan">Plan</label>
          <textarea id="edit-plan" name="plan" class="code" rows={18} spellcheck={false} required>
            {`\n${json.plan}`}
          </textarea>
          <p class="hint">
            Fences marked <code>run</code> are what will be run. Saving starts nothing.
          </p>
        </div>
        <div class="field">
          <label for="edit-hypothesis">Hypothesis</label>
          <textarea id="edit-hypothesis" name="hypothesis" class="code" rows={4}>
            {`\n${json.hypothesis}`}
          </textarea>
        </div>
        <div class="actions">
          <button type="submit" class="primary">
            Save the plan
          </button>
          <button type="reset" class="quiet" data-closes="edit">
            Discard
          </button>
        </div>
      </form>
    </details>
  )
}

export function ReviseForm({ view }: { view: SessionView }) {
  const isOwn = view.session.provider === OWN_PROVIDER
  const { planObjection } = view
  return (
    <details id="revise" class="plan-form needs-script" data-close="">
      <summary>Ask for another plan</summary>
      <form class="form" data-send="POST" action={`${apiPath(view)}/revise`}>
        <div class="field">
          <label for="revise-note">What should change?</label>
          <textarea id="revise-note" name="note" rows={4} required />
          <p class="hint">
            {isOwn
              ? 'The runbook provider makes a new plan from runbook.md and the case as they are now: change those first.'
              : `${view.session.provider} gets its plan back with this note, and writes another one, which needs your approval again.`}
          </p>
        </div>
        {planObjection !== null && <p class="notice">{visibleText(planObjection)}</p>}
        <div class="actions">
          <button type="submit" class="primary" disabled={planObjection !== null}>
            Request changes
          </button>
        </div>
      </form>
    </details>
  )
}

export function AbandonForm({ view }: { view: SessionView }) {
  const { session, turn } = view
  const question =
    turn.who === 'running'
      ? `Abandon session ${session.number}? What it runs is stopped, and it cannot be taken up again.`
      : `Abandon session ${session.number}? It cannot be taken up again.`
  return (
    <details id="abandon" class="plan-form needs-script" data-close="">
      <summary>Abandon this session</summary>
      <form
        class="form"
        data-send="POST"
        data-confirm={question}
        action={`${apiPath(view)}/abandon`}
      >
        <div class="field">
          <label for="abandon-reason">Why? (one line, if you like)</label>
          <input id="abandon-reason" name="reason" maxlength={2000} data-empty="omit" />
        </div>
        <div class="actions">
          <button type="submit" class="danger">
            Abandon
          </button>
        </div>
      </form>
    </details>
  )
}
