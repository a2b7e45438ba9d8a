import { sayProblem } from './forms.ts'
import { sayBusyFolder } from './plan-busy-folder.ts'
import { changedNotice } from './plan-changed-notice.ts'
import { sayUnsaved } from './plan-unsaved.ts'
import { refresh } from './refresh.ts'
import type { Sent } from './send.ts'

/**
 * Approve is for the text that the operator has read, and once. When another text takes its place while the page is
 * open, the button is held back until he says that he has read that too; and while he has written what is not saved.
 */
export function startApproval(): void {
  let last = shownHash()
  /** The hash of the text that was read, or counts as read. */
  let read = last
  /** The hash of the text whose approval has been taken: the page may be a moment behind. */
  let approved: string | null = null
  /** That Approve is held back, and the hash of the text that it is for. */
  let notice: { element: HTMLElement; of: string } | null = null

  function hold(): void {
    const shown = shownHash()
    if (read === null) read = shown
    if (notice && (shown !== notice.of || shown === read)) {
      notice.element.remove()
      const isAnother = shown !== null && shown !== read
      notice = isAnother ? { element: changedNotice(read!, 'again'), of: shown } : null
    } else if (shown !== null && shown !== read) {
      notice ??= { element: changedNotice(read!, 'just now'), of: shown }
    }
    const { form, button } = approval()
    // what was said of another text
    if (form && shown !== last) sayProblem(form, null)
    last = shown
    if (notice && form && button && !notice.element.isConnected) form.before(notice.element)
    arm()
  }

  function arm(): void {
    const { form, button } = approval()
    if (!form || !button) return
    const shown = shownHash()
    const isUnsaved = sayUnsaved(form)
    button.disabled =
      form.hasAttribute('data-barred') ||
      isUnsaved ||
      shown !== read ||
      (approved !== null && shown === approved)
  }

  /** Back to what else is said of the button, if what is shown is what the notice is for. */
  function release(): void {
    if (!notice || notice.of !== shownHash()) return
    read = notice.of
    notice.element.remove()
    notice = null
    arm()
    approval().button?.focus()
  }

  document.addEventListener('refreshed', hold)
  document.addEventListener('input', arm)
  document.addEventListener('reset', arm)
  document.addEventListener('click', (event) => {
    const target = event.target as Element
    if (target.closest('[data-have-read]')) release()
    else if (target.closest('#to-approve')) {
      event.preventDefault()
      const place = document.querySelector<HTMLElement>(
        '[data-have-read], #approve-button:not([disabled]), #read-whole, .unsaved-said a',
      )
      place?.scrollIntoView({ block: 'center' })
      place?.focus()
    }
  })
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    // who saved a plan has read it
    if (target.id === 'edit-form' && detail.ok) read = String(detail.body.plan_sha256)
    if (target.id !== 'approve-form') return
    if (detail.ok) {
      approved = shownHash()
      arm()
      return
    }
    const { problem } = detail
    if (problem.code === 'plan_changed' && problem.plan_sha256 !== read) {
      event.preventDefault()
      void refresh()
    }
    if (problem.code === 'folder_busy') {
      event.preventDefault()
      sayBusyFolder(target, problem)
    }
  })
}

function approval(): { form: HTMLFormElement | null; button: HTMLButtonElement | null } {
  const form = document.querySelector<HTMLFormElement>('#approve-form')
  return { form, button: form?.querySelector<HTMLButtonElement>('[type=submit]') ?? null }
}

function shownHash(): string | null {
  const input = approval().form?.querySelector('input[name=plan_sha256]')
  return input?.getAttribute('value') || null
}
