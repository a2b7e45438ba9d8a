import { counted } from '../../model/amounts.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionApi, sessionPage } from '../shell/addresses.ts'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { InputField, TextField } from '../shell/field.tsx'
import type { SessionPageData } from './data.ts'
import { BusyNotice } from './line-notice.tsx'

/**
 * The buttons below a plan that waits for approval. The form sends the hash of the plan above it, and
 * client/plan-approval.tsx disables the button when the plan changes while the page is open. Where the page shows only
 * the changes of a plan, there is a link to all of it instead of the button.
 */
export function ApproveBar({ data }: { data: SessionPageData }) {
  const { session, json, plan, query, summary, isBroken, drafts, occupant } = data
  const isBarred =
    isBroken || plan.errors.length > 0 || summary.objection !== null || json.plan === ''
  const stepsToRun = plan.steps.filter((step) => summary.willRun(step)).length
  return (
    <div class="approve-bar needs-script stack" id="approve">
      <form
        class="stack"
        id="approve-form"
        data-send="POST"
        action={`${sessionApi(session)}/approve`}
        data-barred={isBarred ? '' : undefined}
        data-approvals={session.trail.filter(({ event }) => event === 'plan_approved').length}
      >
        <input type="hidden" name="plan_sha256" value={json.plan_sha256 ?? ''} />
        {occupant?.canWait && <input type="hidden" name="queue" value="true" data-list="json" />}
        {occupant && <BusyNotice occupant={occupant} />}
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
            <button
              type="submit"
              class="primary"
              id="approve-button"
              disabled={isBarred}
              aria-describedby="approve-hash"
            >
              {occupant?.canWait ? 'Approve, and wait in line' : approveText(data, stepsToRun)}
            </button>
          )}
          <button type="button" data-opens="revise" data-key="r">
            {drafts === 0 ? 'Request changes' : `Request changes (${drafts})`}
          </button>
          <button type="button" data-opens="comment" data-key="c">
            Comment
          </button>
          {query.view !== 'diff' && (
            <span class="muted small plan-hash" id="approve-hash">
              approves exactly this text{' '}
              <code title={json.plan_sha256 ?? ''}>{json.plan_sha256?.slice(0, 12)}</code>
            </span>
          )}
        </div>
      </form>
    </div>
  )
}

function approveText({ session, plan, summary, drafts }: SessionPageData, stepsToRun: number) {
  const approve = drafts === 0 ? 'Approve' : `Approve with ${counted(drafts, 'note')}`
  if (session.origin === 'terminal') return approve
  if (session.provider !== OWN_PROVIDER && !plan.isRunbook) {
    return drafts === 0 ? `Approve and start ${session.provider}` : approve
  }
  return summary.objection === null && stepsToRun > 0 && drafts === 0
    ? `Approve and run ${counted(stepsToRun, 'step')}`
    : approve
}

/** A comment by the number of its line, for who uses no pointer, or on the whole plan. */
export function CommentForm({ data }: { data: SessionPageData }) {
  const { session, json } = data
  return (
    <FormDisclosure
      id="comment"
      label="Comment"
      data-send="POST"
      data-focus="#comment-{id}"
      action={`${sessionApi(session)}/comments`}
    >
      <input type="hidden" name="plan_sha256" value={json.plan_sha256 ?? ''} />
      <TextField
        id="comment-text"
        label="Comment"
        hint="It stays a draft until you request changes or approve."
        name="text"
        rows={3}
        required
      />
      <InputField
        id="comment-lines"
        label="Line or lines (empty for the whole plan)"
        name="lines"
        class="short"
        inputmode="numeric"
        placeholder="12 or 12-14"
        pattern="[0-9]+(-[0-9]+)?"
        data-list="lines"
      />
      <FormActions submit="Add comment" primary />
    </FormDisclosure>
  )
}

export function EditForm({ data }: { data: SessionPageData }) {
  const { json, etag, session } = data
  return (
    <FormDisclosure
      id="edit"
      label="Edit the plan"
      data-send="PUT"
      data-if-match={etag}
      data-conflict="The plan"
      data-focus="#approve-button"
      action={`${sessionApi(session)}/plan`}
    >
      <TextField
        id="edit-plan"
        label="Plan"
        hint={
          <>
            Code blocks marked <code>run</code> are the steps. Saving starts nothing.
          </>
        }
        name="plan"
        class="code"
        rows={18}
        spellcheck={false}
        required
        text={json.plan}
      />
      <TextField
        id="edit-hypothesis"
        label="Hypothesis"
        name="hypothesis"
        class="code"
        rows={4}
        text={json.hypothesis}
      />
      <FormActions submit="Save the plan" cancel="Discard" primary />
    </FormDisclosure>
  )
}

export function ReviseForm({ data }: { data: SessionPageData }) {
  const { session, planObjection, drafts } = data
  const isOwn = session.provider === OWN_PROVIDER
  return (
    <FormDisclosure
      id="revise"
      label="Request changes"
      data-send="POST"
      action={`${sessionApi(session)}/revise`}
    >
      {isOwn ? (
        <>
          <p>The plan came from {data.planSource}. Edit that, then rebuild the plan.</p>
          <input type="hidden" name="note" value="Rebuild the plan." />
        </>
      ) : (
        <TextField
          id="revise-note"
          label={drafts === 0 ? 'What should change?' : 'Anything else? (optional)'}
          hint={reviseHint(session, drafts)}
          name="note"
          rows={drafts === 0 ? 4 : 2}
          required={drafts === 0}
          data-empty="omit"
        />
      )}
      {planObjection !== null && <p class="notice">{visibleText(planObjection)}</p>}
      <FormActions
        submit={
          isOwn
            ? 'Rebuild the plan'
            : drafts === 0
              ? 'Request changes'
              : `Send ${counted(drafts, 'comment')}`
        }
        primary
        disabled={planObjection !== null}
      />
    </FormDisclosure>
  )
}

function reviseHint({ origin, provider }: SessionPageData['session'], drafts: number): string {
  const what = drafts === 0 ? 'this note' : `your ${counted(drafts, 'comment')}`
  return origin === 'terminal'
    ? `The agent gets ${what} in its terminal, or with your next prompt if it no longer waits. Its new plan needs your approval again.`
    : `${provider} gets its plan back with ${what} and writes a new one, which needs your approval again.`
}

/** Stops a running session, after the operator has confirmed it. */
export function StopForm({ data: { session } }: { data: SessionPageData }) {
  const { number, origin } = session
  const isInTerminal = origin === 'terminal'
  return (
    <form
      class="needs-script"
      id="stop-form"
      data-send="POST"
      data-confirm={
        isInTerminal
          ? `Abandon session ${number}? The agent keeps running in its terminal, but can't change anything until you approve a new plan.`
          : `Stop session ${number}? Everything it runs is ended, and the session cannot be continued.`
      }
      data-focus="#session-head h1"
      action={`${sessionApi(session)}/abandon`}
    >
      <button type="submit" class="danger" data-key="x">
        {isInTerminal ? 'Abandon' : 'Stop'}
      </button>
    </form>
  )
}

/** Abandons a session that does not run, with a reason. */
export function AbandonForm({ data: { session } }: { data: SessionPageData }) {
  return (
    <FormDisclosure
      id="abandon"
      label="Abandon this session"
      data-send="POST"
      data-confirm={`Abandon session ${session.number}? It cannot be continued.`}
      data-focus="#session-head h1"
      action={`${sessionApi(session)}/abandon`}
    >
      <InputField
        id="abandon-reason"
        label="Reason (optional)"
        name="reason"
        maxlength={2000}
        data-empty="omit"
      />
      <div class="actions">
        <button type="submit" class="danger">
          Abandon
        </button>
      </div>
    </FormDisclosure>
  )
}
