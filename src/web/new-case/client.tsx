import { parseRequirements } from '../../markdown/requirement-line.ts'
import { usualSessionType } from '../../model/case-state.ts'
import { element } from '../client/dom.ts'
import { lockForm } from '../client/form-fields.ts'
import { showError } from '../client/forms.tsx'
import { type Problem, type Sent, send } from '../client/send.ts'
import { store, stored } from '../client/tab-storage.ts'
import { RequirementItem } from './requirement-item.tsx'

const FAILED = 'not-planned'

/** The form of a new case: the requirements as they are written, and "Create and plan". */
export function start(): void {
  showWhyNotPlanned()
  const form = document.querySelector<HTMLFormElement>('#new-case')
  const text = form?.querySelector<HTMLTextAreaElement>('#new-checklist')
  if (!form || !text) return
  const show = () => showRequirements(text.value)
  text.addEventListener('input', show)
  for (const button of form.querySelectorAll<HTMLElement>('[data-requirement]')) {
    button.addEventListener('click', () => {
      const before = text.value.trimEnd()
      text.value = `${before}${before === '' ? '' : '\n'}${button.dataset.requirement}\n`
      text.dispatchEvent(new Event('input', { bubbles: true }))
      button.hidden = true
      text.focus()
    })
  }
  // what the browser restored after Back
  show()

  let wantsPlan = false
  form.addEventListener('submit', ({ submitter }) => {
    wantsPlan = submitter?.id === 'create-and-plan'
  })
  form.addEventListener('sent', (event) => {
    const { detail } = event as CustomEvent<Sent>
    if (!wantsPlan || !detail.ok) return
    event.preventDefault()
    void planNewCase(form, detail.body)
  })
}

/** The case is there whatever comes of the session, so its page says why that did not start. */
export async function planNewCase(form: HTMLFormElement, created: Record<string, unknown>) {
  const id = String(created.id)
  form.removeAttribute('data-dirty')
  lockForm(form)
  const setup = await send('GET', `/cases/${id}/setup`)
  // its page says so, and what to do
  if (setup.ok && setup.body.plans_from === null) return location.assign(`/case/${id}`)
  const type = usualSessionType(String(created.type))
  const sent = await send('POST', `/cases/${id}/sessions`, { type })
  if (sent.ok) return location.assign(`/case/${id}/session/${sent.body.number}`)
  store(FAILED, JSON.stringify({ id, problem: sent.problem }))
  location.assign(`/case/${id}?not-planned#new-session`)
}

/** Opens the form of a new session with the error of the one that "Create and plan" did not start. */
function showWhyNotPlanned(): void {
  const form = document.querySelector<HTMLFormElement>('#new-session-form')
  const text = stored(FAILED)
  if (!form || text === null) return
  store(FAILED, null)
  const { id, problem } = JSON.parse(text) as { id: string; problem: Problem }
  if (!form.action.includes(id)) return
  form.closest('details')?.setAttribute('open', '')
  showError(form, problem)
}

function showRequirements(text: string): void {
  const items = parseRequirements(text)
  document.getElementById('requirements')!.hidden = items.length === 0
  document
    .getElementById('requirement-preview')!
    .replaceChildren(...items.map((item) => element(<RequirementItem item={item} />)))
}
