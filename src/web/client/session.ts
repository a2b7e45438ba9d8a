import { startOutput } from './output.ts'
import { startApproval } from './plan-approval.ts'
import { startPlanEdit } from './plan-edit.ts'
import { startClock } from './session-clock.ts'
import { followSteps } from './session-steps.ts'

/** What only the page of a session has. */
export function startSession(): void {
  if (document.body.dataset.page !== 'session') return
  startOutput()
  startApproval()
  startPlanEdit()
  startClock()
  followSteps()
  document.addEventListener('click', openOrClose)
}

/** `data-opens` unfolds the details of that id and goes to its first field; `data-closes` folds it. */
function openOrClose(event: Event): void {
  const button = (event.target as Element).closest<HTMLElement>('[data-opens], [data-closes]')
  if (!button) return
  const { opens, closes } = button.dataset
  document.getElementById(closes ?? '')?.removeAttribute('open')
  const details = document.getElementById(opens ?? '')
  if (!details) return
  details.setAttribute('open', '')
  details.scrollIntoView({ block: 'nearest' })
  details.querySelector<HTMLElement>('textarea, input')?.focus()
}
