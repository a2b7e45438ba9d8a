import { hasEnded, isSessionState } from '../../../model/session-state.ts'
import { element } from '../../client/dom.ts'
import { showError } from '../../client/forms.tsx'
import { refresh } from '../../client/refresh.ts'
import { rememberSeen, reportSeen } from '../../client/seen-plans.tsx'
import { type Problem, type Sent, send } from '../../client/send.ts'
import { hiddenStep } from './plan-lines.ts'

/**
 * Approve is enabled only for the text that the operator has reviewed, and only once. If the plan changes while the page
 * is open, it is disabled until they say that they have reviewed the changes; and while an edit of theirs is unsaved.
 */
export function startApproval(): void {
  let displayed = displayedHash()
  /** The hash of the text that was reviewed, or counts as reviewed. */
  let reviewed = displayed
  /** What was approved: the page may take a moment to show it. */
  let approved: string | null = null
  /** The notice that the plan changed, and the hash of the text that it is about. */
  let notice: { element: HTMLElement; hash: string } | null = null

  function onRefreshed(): void {
    const hash = displayedHash()
    reviewed ??= hash
    if (notice && (hash !== notice.hash || hash === reviewed)) {
      notice.element.remove()
      const isAnother = hash !== null && hash !== reviewed
      notice = isAnother ? { element: changedNotice(reviewed!, true), hash } : null
    } else if (hash !== null && hash !== reviewed) {
      notice ??= { element: changedNotice(reviewed!, false), hash }
    }
    const { form, button } = approval()
    if (form && hash !== displayed) showError(form, null) // it was about another text
    displayed = hash
    if (notice && form && button && !notice.element.isConnected) form.before(notice.element)
    update()
  }

  function update(): void {
    const { form, button } = approval()
    if (!form || !button) return
    const hash = displayedHash()
    const api = new URL(form.action).pathname.replace(/\/approve$/, '')
    if (hash !== null) void reportSeen(api, hash)
    const isUnsaved = showUnsavedWarning(form)
    const isHidden = showHiddenStep(form)
    button.disabled =
      form.hasAttribute('data-barred') ||
      isUnsaved ||
      isHidden ||
      hash !== reviewed ||
      displayedApproval() === approved
    // hidden characters have to be looked at here
    if (!button.disabled && hash !== null && document.querySelector('#plan-hidden') === null) {
      const page = location.pathname
      const title = /Session \d+: .*(?= · .* · )/.exec(document.title)?.[0] ?? page
      rememberSeen({
        api,
        page,
        title,
        hash,
      })
    }
  }

  /** Only if the text on the page is the one that the notice is about. */
  function markReviewed(): void {
    if (!notice || notice.hash !== displayedHash()) return
    reviewed = notice.hash
    notice.element.remove()
    notice = null
    update()
    approval().button?.focus()
  }

  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target as HTMLElement
      if (!form.matches('#revise-form, #send-comments') || !isCommentUnsaved()) return
      event.preventDefault()
      event.stopPropagation()
      showError(form, {
        code: 'unsaved',
        detail: 'You have an unsaved comment. Add or discard it before sending the others.',
      })
      showUnsaved('comment')
    },
    true, // before it is sent
  )
  document.addEventListener('refreshed', onRefreshed)
  document.addEventListener('input', update)
  document.addEventListener('reset', update)
  addEventListener('resize', update)
  addEventListener('focus', update)
  document.addEventListener('click', (event) => {
    const target = event.target as Element
    const shown = target.closest<HTMLButtonElement>('#show-unsaved')
    if (shown) showUnsaved(shown.value as keyof typeof UNSAVED)
    else if (target.closest('#plan-reviewed')) markReviewed()
    else if (target.closest('#to-approve')) {
      event.preventDefault()
      const next = document.querySelector<HTMLElement>(NEXT)
      next?.scrollIntoView({ block: 'center' })
      next?.focus()
    }
  })
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    // saving a plan counts as reviewing it
    if (target.matches('#edit-form') && detail.ok) reviewed = String(detail.body.plan_sha256)
    if (target.id !== 'approve-form') return
    if (detail.ok) {
      approved = displayedApproval()
      update()
      return
    }
    const { problem } = detail
    if (problem.code === 'plan_changed' && problem.plan_sha256 !== reviewed) {
      event.preventDefault()
      void refresh()
    }
    if (problem.code === 'folder_busy') {
      event.preventDefault()
      void refresh() // which offers to wait in line
      showFolderBusy(target, problem)
    }
  })
  update()
}

/** Approve, or what has to be done before it. */
const NEXT =
  '#plan-reviewed, #approve-button:not([disabled]), #read-whole, .unsaved-warning button, #approve button:not([disabled])'

function approval(): { form: HTMLFormElement | null; button: HTMLButtonElement | null } {
  const form = document.querySelector<HTMLFormElement>('#approve-form')
  return { form, button: form?.querySelector<HTMLButtonElement>('[type=submit]') ?? null }
}

function displayedHash(): string | null {
  const input = approval().form?.querySelector('input[name=plan_sha256]')
  return input?.getAttribute('value') || null
}

/** The text, and how often it was approved: an approval that was taken back can be given again. */
function displayedApproval(): string {
  return `${displayedHash()} ${approval().form?.dataset.approvals}`
}

/** A notice that replaces another ignores clicks at first: they were meant for the other. */
const IGNORE_CLICKS_MS = 600

function changedNotice(reviewed: string, isAgain: boolean): HTMLElement {
  const notice = element(
    <div id="plan-changed" class="notice with-actions" data-tone="warn" data-own="" role="alert">
      <p>
        The plan {isAgain ? 'changed again' : 'just changed'}.{' '}
        <a href={`?view=diff&against=${reviewed.slice(0, 16)}#plan`}>Review the changes</a> before
        approving.
      </p>
      <button type="button" id="plan-reviewed" disabled={isAgain}>
        I've reviewed the changes
      </button>
    </div>,
  )
  const button = notice.querySelector('button')!
  if (isAgain) {
    setTimeout(() => {
      button.disabled = false
    }, IGNORE_CLICKS_MS)
  }
  return notice
}

const UNSAVED = {
  edit: 'You have an unsaved edit. Save or discard it before approving.',
  revise: 'You have an unsent change request. Send or discard it before approving.',
  comment: 'You have an unsaved comment. Add or discard it before approving.',
}

/** The forms that each text is about. */
const UNSAVED_FORMS: Record<keyof typeof UNSAVED, string> = {
  edit: '#edit form[data-dirty]',
  revise: '#revise form[data-dirty]',
  comment: '#comment form[data-dirty], .comment-composer[data-dirty], .comment form[data-dirty]',
}

/** Warns in the form of Approve about what is written below it; true if something is. */
function showUnsavedWarning(form: HTMLElement): boolean {
  const unsaved = (['edit', 'revise', 'comment'] as const).find((id) =>
    document.querySelector(UNSAVED_FORMS[id]),
  )
  const shown = form.querySelector<HTMLElement>('.unsaved-warning')
  if (shown && unsaved && shown.classList.contains(unsaved)) return true
  shown?.remove()
  if (!unsaved) return false
  form.append(
    element(
      <p class={`notice unsaved-warning ${unsaved}`} data-tone="warn" data-own="" role="status">
        {UNSAVED[unsaved]}{' '}
        <button type="button" class="quiet compact" id="show-unsaved" value={unsaved}>
          Show it
        </button>
      </p>,
    ),
  )
  return true
}

/** Warns if a step can't be read as a whole in this window; true if so. */
function showHiddenStep(form: HTMLElement): boolean {
  const step = hiddenStep()
  const text = step && `This page doesn't show ${step} as a whole, so it can't approve the plan.`
  const shown = form.querySelector<HTMLElement>('.hidden-step')
  if (shown && shown.dataset.step === step) return true
  shown?.remove()
  if (!text) return false
  form.append(
    element(
      <p class="notice hidden-step" data-tone="bad" data-own="" data-step={step} role="status">
        {text} Make the window wider, or use <code>casefile approve</code> in a terminal.
      </p>,
    ),
  )
  return true
}

function isCommentUnsaved(): boolean {
  return document.querySelector(UNSAVED_FORMS.comment) !== null
}

function showUnsaved(id: keyof typeof UNSAVED): void {
  const form = document.querySelector<HTMLFormElement>(UNSAVED_FORMS[id])
  form?.scrollIntoView({ block: 'center' })
  form?.querySelector<HTMLElement>('textarea, input:not([type=hidden])')?.focus()
}

/** The other session may belong to another case, whose events this page doesn't get. */
const POLL_MS = 2_000

/** Shows that another session runs in the same folder, with a link to it, for as long as it runs. */
function showFolderBusy(form: HTMLElement, problem: Problem): void {
  showError(form, problem)
  const error = form.querySelector<HTMLElement>('.form-error')
  const { case_id, session_id } = (problem.running ?? {}) as Record<string, unknown>
  if (!error || typeof case_id !== 'string' || typeof session_id !== 'string') return
  const link = element(<a href={`/case/${case_id}/session/${session_id}`}>Show that session</a>)
  error.querySelector('p')?.append(' ', link)
  const poll = async () => {
    if (!error.isConnected) return
    const sent = await send('GET', `/cases/${case_id}/sessions/${session_id}`)
    const state = sent.ok ? sent.body.state : null
    if (sent.status === 404 || (isSessionState(state) && hasEnded(state))) {
      error.remove()
      void refresh()
    } else setTimeout(() => void poll(), POLL_MS)
  }
  setTimeout(() => void poll(), POLL_MS)
}
