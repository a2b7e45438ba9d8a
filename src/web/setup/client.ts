import { isControlChanged, lockForm } from '../client/form-fields.ts'
import { finish, showError } from '../client/forms.tsx'
import { planNewCase } from '../client/plan-new-case.ts'
import { fetchPage } from '../client/refresh.ts'
import { type Problem, type Sent, send } from '../client/send.ts'

const INTENT_FORM = 'new-intent-form'

/** The setup of a workspace, menus of agents, and cases that have nothing to plan with. */
export function start(): void {
  const ask = () => {
    if (isShown('[data-agents=unknown]')) void findAgents(false)
  }
  document.addEventListener(
    'toggle',
    ({ target }) => {
      ask()
      const form = (target as Element).querySelector<HTMLFormElement>(':scope > [data-proposed]')
      if (form) void proposeIntent(form)
    },
    true, // it does not bubble
  )
  document.addEventListener('click', (event) => {
    const target = event.target as Element
    if (target.closest('[data-find-agents]')) void findAgents(true)
    const button = target.closest<HTMLElement>('[data-run-tests]')
    if (button) void runTests(button, button.dataset.runTests!)
  })
  document.addEventListener('input', ({ target }) => {
    const form = (target as Element).closest<HTMLFormElement>(`#${INTENT_FORM}`)
    if (form) showLimits(form)
  })
  document.addEventListener('sent', (event) => void runIntent(event as CustomEvent<Sent>))
  document.addEventListener('change', follow)
  document.addEventListener('refreshed', follow)
  document.addEventListener('submit', stopEmptyPlan, true)
  startSetupForm()
  follow()
  ask()
}

function isShown(selector: string): boolean {
  return [...document.querySelectorAll(selector)].some((each) => each.checkVisibility())
}

let asked: Promise<void> | null = null

/** Waits until the service has asked the agents, then shows what it found. */
function findAgents(again: boolean): Promise<void> {
  asked ??= load(again).finally(() => {
    asked = null
  })
  return asked
}

async function load(again: boolean, page = location.href): Promise<void> {
  const places = () => document.querySelectorAll<HTMLElement>('[data-agents]')
  for (const place of places()) place.setAttribute('aria-busy', 'true')
  try {
    await fetch(`/agents/found${again ? '?again' : ''}`)
    const { page: next } = await fetchPage(page)
    if (!next) return
    for (const [name, value] of Object.entries(setupForm(next)?.dataset ?? {}))
      if (value !== undefined) setupForm(document)!.dataset[name] = value
    for (const place of places()) {
      const found = next.getElementById(place.id)
      if (found) show(place, found)
    }
    follow()
  } catch {
    // the service is away: the page says so, and the menu stays as it is
  } finally {
    for (const place of places()) place.removeAttribute('aria-busy')
  }
}

/** Replaces what a menu or a list offers. What was chosen stays chosen. */
function show(place: HTMLElement, found: HTMLElement): void {
  place.dataset.agents = found.dataset.agents
  if (place.innerHTML === found.innerHTML) return
  const focus = place.contains(document.activeElement) ? document.activeElement : null
  const chosen = place instanceof HTMLSelectElement && isControlChanged(place) ? place.value : null
  const typed = new Map(
    [...place.querySelectorAll('input')]
      .filter((input) => isControlChanged(input) && (input.type !== 'radio' || input.checked))
      .map((input) => [keyOf(input), { value: input.value, checked: input.checked }]),
  )
  place.replaceChildren(...found.childNodes)
  if (place instanceof HTMLSelectElement && chosen !== null) place.value = chosen
  for (const input of place.querySelectorAll('input')) {
    const before = typed.get(keyOf(input))
    if (before === undefined) continue
    if (input.type === 'radio') input.checked ||= !input.disabled
    else if (input.type === 'checkbox') input.checked = before.checked
    else input.value = before.value
  }
  if (focus instanceof HTMLInputElement)
    [...place.querySelectorAll('input')].find((input) => keyOf(input) === keyOf(focus))?.focus()
  else if (focus) place.querySelector<HTMLElement>('[data-find-agents]')?.focus()
}

function keyOf({ type, name, value, id }: HTMLInputElement): string {
  return type === 'radio' ? `${name} ${value}` : id
}

/** Offers no plan where there is nothing to plan with. */
function follow(): void {
  const session = document.querySelector<HTMLFormElement>('#new-session-form')
  const nothing = session?.querySelector<HTMLElement>('#nothing-to-plan')
  const button = session?.querySelector<HTMLButtonElement>('button[type=submit]')
  if (!session || !nothing || !button) return
  const provider = session.querySelector<HTMLSelectElement>('[name=provider]')
  const isNothing = session.closest('[data-no-runbook]') !== null && provider?.value === 'runbook'
  nothing.hidden = !isNothing
  button.hidden = isNothing
}

const setupForm = (page: Document) => page.querySelector<HTMLFormElement>('#setup-form')

/** Once the setup is saved, the first case is made and planned. */
function startSetupForm(): void {
  document.addEventListener('sent', (event) => {
    const form = event.target as HTMLFormElement
    const { detail: sent } = event as CustomEvent<Sent>
    const title = form.querySelector<HTMLInputElement>('#first-title')?.value.trim() ?? ''
    if (form.id === 'first-case' && sent.ok) {
      event.preventDefault()
      void planNewCase(form, sent.body)
    }
    if (form.id !== 'setup-form') return
    if (sent.ok && title !== '') {
      event.preventDefault()
      void createFirst(form, title)
    } else if (!sent.ok && sent.status === 412) {
      event.preventDefault()
      // the page of a workspace that is set up has no such form, besides this one
      void load(false, '/configure').then(() => showError(form, sent.problem))
    }
  })
}

async function createFirst(form: HTMLFormElement, title: string): Promise<void> {
  const { value } = form.querySelector<HTMLTextAreaElement>('#first-description')!
  const unlock = lockForm(form)
  const created = await send('POST', '/cases', { title, description: value })
  unlock()
  if (created.ok) return planNewCase(form, created.body)
  showError(form, created.problem)
}

/** Fills the fields of an intent that are empty with what the case and the repository propose. */
async function proposeIntent(form: HTMLFormElement): Promise<void> {
  const address = form.dataset.proposed!
  delete form.dataset.proposed
  const status = await send('GET', address)
  if (!status.ok) return showError(form, status.problem)
  const { intent = {} } = (status.body.start ?? {}) as { intent?: Record<string, string[]> }
  for (const [name, entries] of Object.entries(intent)) {
    const input = form.elements.namedItem(name) as HTMLInputElement
    if (input.value === '') input.value = entries.join(', ')
  }
  showLimits(form)
  // an intent that may write nothing is seldom meant
  if (fieldValue(form, 'paths') === '') form.querySelector('details')!.open = true
}

const fieldValue = (form: HTMLFormElement, name: string) =>
  (form.elements.namedItem(name) as HTMLInputElement).value.trim()

/** What the intent allows, also where its fields are folded: it is approved with the click that sends it. */
function showLimits(form: HTMLFormElement): void {
  const listed = (name: string) => fieldValue(form, name) || 'nothing'
  const parts = [
    `May write to: ${listed('paths')}`,
    `may run: ${listed('commands')}`,
    `proved by: ${listed('proof')}`,
    `by ${fieldValue(form, 'provider') || 'no agent yet'}`,
  ]
  form.querySelector('summary')!.textContent = parts.join(' · ')
}

/** Approves the intent that the form has just made a session of, and goes to it. */
async function runIntent(event: CustomEvent<Sent>): Promise<void> {
  const form = event.target as HTMLFormElement
  const { detail: sent } = event
  if (form.id !== INTENT_FORM || !sent.ok || sent.body.state !== 'plan_ready') return
  event.preventDefault()
  const { case_id, id, plan_sha256 } = sent.body
  const unlock = lockForm(form)
  // where that is not possible, it waits on its page
  await send('POST', `/cases/${case_id}/sessions/${id}/approve`, { plan_sha256, queue: true })
  unlock()
  await finish(form, sent.body)
}

/** A key sends a form whose button is hidden, too. */
function stopEmptyPlan(event: SubmitEvent): void {
  const nothing = (event.target as Element).querySelector<HTMLElement>('#nothing-to-plan')
  if (!nothing || nothing.hidden) return
  event.preventDefault()
  event.stopPropagation()
}

/** Writes a runbook.md that runs just the tests, and plans with it. */
async function runTests(button: HTMLElement, id: string): Promise<void> {
  const place = button.closest<HTMLElement>('.notice')!
  showError(place, null)
  button.setAttribute('disabled', '')
  const fail = (problem: Problem) => {
    button.removeAttribute('disabled')
    showError(place, problem)
  }
  const status = await send('GET', `/cases/${id}/status`)
  if (!status.ok) return fail(status.problem)
  const { runbook } = (status.body.start as { tests: { runbook: string } }).tests
  const text = new Blob([runbook], { type: 'text/markdown' })
  const ifNew = { 'if-none-match': '*' }
  const file = await send('PUT', `/cases/${id}/memory/runbook.md`, text, ifNew)
  if (!file.ok) return fail(file.problem)
  const session = await send('POST', `/cases/${id}/sessions`, {
    type: 'verifying',
    provider: 'runbook',
  })
  if (!session.ok) return fail(session.problem)
  location.assign(`/case/${id}/session/${session.body.number}`)
}
