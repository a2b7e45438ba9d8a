import { isControlChanged, lockForm } from './form-fields.ts'
import { showError } from './forms.tsx'
import { type Problem, send } from './send.ts'

/** The setup of a workspace, menus of agents, and cases that have nothing to plan with. */
export function startSetup(): void {
  const ask = () => {
    if (isShown('[data-agents=unknown]')) void findAgents(false)
  }
  document.addEventListener('toggle', ask, true) // it does not bubble
  document.addEventListener('click', (event) => {
    const target = event.target as Element
    if (target.closest('[data-find-agents]')) void findAgents(true)
    const button = target.closest<HTMLElement>('[data-run-tests]')
    if (button) void runTests(button, button.dataset.runTests!)
  })
  document.addEventListener('change', follow)
  document.addEventListener('refreshed', follow)
  document.addEventListener('submit', stopEmptyPlan, true)
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'setup-form') return
    event.preventDefault()
    void save(form, event.submitter, event.submitter?.id !== 'save-setup')
  })
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

async function load(again: boolean): Promise<void> {
  const places = () => document.querySelectorAll<HTMLElement>('[data-agents]')
  for (const place of places()) place.setAttribute('aria-busy', 'true')
  try {
    await fetch(`/agents/found${again ? '?again' : ''}`)
    const response = await fetch(location.href, {
      headers: { accept: 'text/html' },
      cache: 'no-cache',
    })
    if (!response.ok) return
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
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
      .map((input) => [keyOf(input), input.value]),
  )
  place.replaceChildren(...found.childNodes)
  if (place instanceof HTMLSelectElement && chosen !== null) place.value = chosen
  for (const input of place.querySelectorAll('input')) {
    const value = typed.get(keyOf(input))
    if (value === undefined) continue
    if (input.type === 'radio') input.checked ||= !input.disabled
    else input.value = value
  }
  if (focus instanceof HTMLInputElement)
    [...place.querySelectorAll('input')].find((input) => keyOf(input) === keyOf(focus))?.focus()
  else if (focus) place.querySelector<HTMLElement>('[data-find-agents]')?.focus()
}

function keyOf({ type, name, value, id }: HTMLInputElement): string {
  return type === 'radio' ? `${name} ${value}` : id
}

/** Shows what belongs to what is chosen. */
function follow(): void {
  const form = document.querySelector<HTMLFormElement>('#setup-form')
  const where = form?.querySelector<HTMLElement>('#setup-where')
  const chosen = form?.querySelector<HTMLInputElement>('input[name=provider]:checked')
  if (where) where.hidden = chosen?.dataset.hooks === undefined
  for (const step of form ? document.querySelectorAll<HTMLElement>('[data-planned-by]') : [])
    step.hidden = (step.dataset.plannedBy === 'runbook') !== (chosen?.value === 'runbook')
  const session = document.querySelector<HTMLFormElement>('#new-session-form')
  const nothing = session?.querySelector<HTMLElement>('#nothing-to-plan')
  const button = session?.querySelector<HTMLButtonElement>('button[type=submit]')
  if (!session || !nothing || !button) return
  const provider = session.querySelector<HTMLSelectElement>('[name=provider]')
  const isNothing = session.closest('[data-no-runbook]') !== null && provider?.value === 'runbook'
  nothing.hidden = !isNothing
  button.hidden = isNothing
}

/** A key sends a form whose button is hidden, too. */
function stopEmptyPlan(event: SubmitEvent): void {
  const nothing = (event.target as Element).querySelector<HTMLElement>('#nothing-to-plan')
  if (!nothing || nothing.hidden) return
  event.preventDefault()
  event.stopPropagation()
}

/** Saves the answers, and creates the case. */
async function save(
  form: HTMLFormElement,
  button: HTMLElement | null,
  createsCase: boolean,
): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  showError(form, null)
  const value = (selector: string) => form.querySelector<HTMLInputElement>(selector)?.value.trim()
  const chosen = form.querySelector<HTMLInputElement>('input[name=provider]:checked')
  if (!chosen) {
    const first = form.querySelector<HTMLInputElement>('input[name=provider]:enabled')
    const question = first?.closest('fieldset')
    if (question) showError(question, { code: 'unsaved', detail: 'Choose who plans the work.' })
    first?.focus()
    return
  }
  const hooks = form.querySelector<HTMLElement>('#setup-where')
  const unlock = isSaving(form, button)
  const changes = {
    ...(chosen.dataset.present === undefined ? { provider: chosen.value } : {}),
    ...(hooks && !hooks.hidden && value('input[name=where]:checked') === 'terminal'
      ? { in_terminal: true }
      : {}),
    ...answers(form),
  }
  if (Object.keys(changes).length > 0) {
    const saved = await send('PUT', '/setup', changes)
    if (!saved.ok) return fail(form, saved.problem, unlock)
  }
  const title = value('#first-title')
  if (!createsCase || title === undefined) return leave(form, '/')
  const description = form.querySelector<HTMLTextAreaElement>('#first-description')?.value ?? ''
  const created = await send('POST', '/cases', {
    title,
    ...(description === '' ? {} : { description }),
  })
  if (!created.ok) return fail(form, created.problem, unlock)
  leave(form, `/case/${created.body.id}`)
}

/** Installing hooks takes a moment: the button says that it goes on. Returns the undo. */
function isSaving(form: HTMLFormElement, button: HTMLElement | null): () => void {
  const unlock = lockForm(form)
  const text = button?.textContent ?? ''
  if (button) button.textContent = 'Saving…'
  return () => {
    unlock()
    if (button) button.textContent = text
  }
}

/** What the form says about tests, where it differs from what was found. */
function answers(form: HTMLFormElement): { tests?: string | null; checklist?: string[] } {
  const field = form.querySelector<HTMLInputElement>('#setup-tests')
  const proof = form.querySelector<HTMLInputElement>('input[name=proof]:checked')
  const command = field?.value.trim()
  return {
    ...(field && isControlChanged(field) ? { tests: command || null } : {}),
    ...(proof && proof.dataset.present === undefined
      ? { checklist: proof.value === 'tests' ? ['All tests pass (test-log, required)'] : [] }
      : {}),
  }
}

function fail(form: HTMLFormElement, problem: Problem, unlock: () => void): void {
  unlock()
  showError(form, problem)
}

function leave(form: HTMLFormElement, address: string): void {
  form.removeAttribute('data-dirty')
  location.assign(address)
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
  const setup = await send('GET', `/cases/${id}/setup`)
  if (!setup.ok) return fail(setup.problem)
  const { runbook } = setup.body.tests as { runbook: string }
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
