import { parseRequirements } from '../../markdown/requirement-line.ts'
import { usualSessionType } from '../../model/case-state.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import { element } from '../client/dom.ts'
import { lockForm } from '../client/form-fields.ts'
import { showError } from '../client/forms.tsx'
import { type Problem, type Sent, send } from '../client/send.ts'
import { store, stored } from '../client/tab-storage.ts'

const FAILED = 'not-planned'

/** The form of a new case: the requirements as they are written, and "Create and plan". */
export function start(): void {
  showWhyNotPlanned()
  const form = document.querySelector<HTMLFormElement>('#new-case')
  const text = form?.querySelector<HTMLTextAreaElement>('#new-checklist')
  if (!form || !text) return
  const preview = document.getElementById('requirement-preview')!
  const show = () => showRequirements(preview, text.value)
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

  followType(form)

  let wantsPlan = false
  form.addEventListener('submit', ({ submitter }) => {
    wantsPlan = submitter?.id === 'create-and-plan'
  })
  form.addEventListener('sent', (event) => {
    const { detail } = event as CustomEvent<Sent>
    if (!wantsPlan || !detail.ok) return
    event.preventDefault()
    void startPlanning(form, String(detail.body.id))
  })
}

/** Until a task is chosen, it is the usual one of the type of the case. */
function followType(form: HTMLFormElement): void {
  const type = form.querySelector<HTMLInputElement>('[name=type]')
  const task = form.querySelector<HTMLSelectElement>('#plan-type')
  if (!type || !task) return
  let isChosen = false
  task.addEventListener('change', () => {
    isChosen = true
  })
  type.addEventListener('input', () => {
    if (!isChosen) task.value = usualSessionType(type.value)
  })
}

/** The case is there whatever comes of the session, so its page says why that did not start. */
async function startPlanning(form: HTMLFormElement, id: string): Promise<void> {
  form.removeAttribute('data-dirty')
  lockForm(form)
  const value = (field: string) => form.querySelector<HTMLSelectElement>(field)?.value ?? ''
  const provider = value('#plan-provider')
  if (provider === 'runbook') {
    const setup = await send('GET', `/cases/${id}/setup?provider=runbook`)
    // its page says so, and what to do
    if (setup.ok && setup.body.plans_from === null) return location.assign(`/case/${id}`)
  }
  const fields = {
    type: value('#plan-type'),
    ...(provider === '' ? {} : { provider }),
  }
  const sent = await send('POST', `/cases/${id}/sessions`, fields)
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

function showRequirements(preview: HTMLElement, text: string): void {
  const items = parseRequirements(text)
  preview.hidden = items.length === 0
  preview.replaceChildren(
    ...items.map(({ description, type, required }) =>
      element(
        <li>
          <span class="gate-mark" aria-hidden="true">
            {required ? '○' : '–'}
          </span>
          <span>
            <bdi dir={directionOf(description)}>{visibleProse(description)}</bdi>{' '}
            <span class="small muted">
              {type}
              {required ? ', required' : ', optional'}
            </span>
          </span>
        </li>,
      ),
    ),
  )
}
