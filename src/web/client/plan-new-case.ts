import { usualSessionType } from '../../model/case-state.ts'
import { lockForm } from './form-fields.ts'
import { showError } from './forms.tsx'
import { type Problem, send } from './send.ts'
import { store, stored } from './storage.ts'

const FAILED = 'not-planned'

/** The case is there whatever comes of the session, so its page says why that did not start. */
export async function planNewCase(form: HTMLFormElement, created: Record<string, unknown>) {
  const id = String(created.id)
  form.removeAttribute('data-dirty')
  lockForm(form)
  const status = await send('GET', `/cases/${id}/status`)
  const start = status.ok ? (status.body.start as { plans_from: string | null } | null) : null
  // its page says so, and what to do
  if (start?.plans_from === null) return location.assign(`/case/${id}`)
  const type = usualSessionType(String(created.type))
  const sent = await send('POST', `/cases/${id}/sessions`, { type })
  if (sent.ok) return location.assign(`/case/${id}/session/${sent.body.number}`)
  store(FAILED, JSON.stringify({ id, problem: sent.problem }))
  location.assign(`/case/${id}?not-planned#new-session`)
}

/** Opens the form of a new session with the error of the one that "Create and plan" did not start. */
export function showWhyNotPlanned(): void {
  const form = document.querySelector<HTMLFormElement>('#new-session-form')
  const text = stored(FAILED)
  if (!form || text === null) return
  store(FAILED, null)
  const { id, problem } = JSON.parse(text) as { id: string; problem: Problem }
  if (!form.action.includes(id)) return
  form.closest('details')?.setAttribute('open', '')
  showError(form, problem)
}
