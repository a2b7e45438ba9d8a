import { element } from '../../client/dom.ts'
import { isControlChanged, lockForm } from '../../client/form-fields.ts'
import { showError } from '../../client/forms.tsx'
import { type Problem, send } from '../../client/send.ts'

type Changes = Record<string, unknown>

/** The form that sets a workspace up. `readAnswers` shows what casefile.md says now, and keeps what was typed. */
export function startSetupForm(readAnswers: () => Promise<void>): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'setup-form') return
    event.preventDefault()
    void save(form, event.submitter, readAnswers)
  })
  for (const type of ['change', 'input'])
    document.addEventListener(type, (event) => {
      const target = event.target as HTMLElement
      if (!target.closest('#setup-answers')) return
      if (type === 'change') agree(target)
      showSoon()
    })
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows what the button would write, when the typing has paused. */
export function showSoon(): void {
  clearTimeout(timer)
  timer = setTimeout(() => void showPlan(), 250)
}

let shown = 0

async function showPlan(): Promise<void> {
  const form = document.querySelector<HTMLFormElement>('#setup-form')
  const place = form?.querySelector<HTMLElement>('#setup-plan')
  if (!form || !place) return
  const changes = changesOf(form)
  const number = ++shown
  const planned =
    changes === null || Object.keys(changes).length === 0
      ? null
      : await send('PUT', '/setup?dry_run=true', changes)
  if (number !== shown) return
  place.hidden = changes === null
  if (planned === null) place.replaceChildren('Nothing changes.')
  else if (planned.ok) place.replaceChildren(planView(planned.body as unknown as Planned))
  else place.replaceChildren(planned.problem.detail)
}

interface Planned {
  wrote: string[]
  removed: string[]
  next: string[]
}

function planView({ wrote, removed, next }: Planned): HTMLElement {
  return element(
    <div>
      {wrote.length + removed.length === 0 && <h2>No file changes</h2>}
      <Files title="This will be written" paths={wrote} />
      <Files title="This will be deleted" paths={removed} />
      <p class="small muted">
        Next, here or in a terminal:{' '}
        {next.map((command) => (
          <code class="setup-next">{command}</code>
        ))}
      </p>
    </div>,
  )
}

function Files({ title, paths }: { title: string; paths: string[] }) {
  if (paths.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="plain-list">
        {paths.map((path) => (
          <li>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The hooks of an agent are not removed while it is to work in a terminal: the answer given last counts. */
function agree(answered: HTMLElement): void {
  const find = (selector: string) =>
    document.querySelector<HTMLInputElement>(`#setup-answers input${selector}`)
  const provider = find('[name=provider]:checked')
  const isRemoved = provider && find(`[name=remove-hooks][value="${CSS.escape(provider.value)}"]`)
  const terminal = find('[name=where][value=terminal]')
  if (!isRemoved?.checked || !terminal?.checked) return
  if (answered === terminal) isRemoved.checked = false
  else find('[name=where][value=spawned]')!.checked = true
}

/** What the form says, where it differs from what was found; null if it does not say who plans. */
function changesOf(form: HTMLFormElement): Changes | null {
  const checked = (name: string) =>
    form.querySelector<HTMLInputElement>(`input[name=${name}]:checked`)
  const provider = checked('provider')
  if (!provider) return null
  const hooks = form.querySelector<HTMLElement>('#setup-where')
  const tests = form.querySelector<HTMLInputElement>('#setup-tests')
  const proof = checked('proof')
  const memory = checked('memory')
  const signs = form.querySelector<HTMLInputElement>('#setup-sign')
  const unhooked = form.querySelectorAll<HTMLInputElement>('input[name=remove-hooks]:checked')
  return {
    ...(provider.dataset.present === undefined ? { provider: provider.value } : {}),
    ...(hooks && !hooks.hidden && checked('where')?.value === 'terminal'
      ? { in_terminal: true }
      : {}),
    ...(unhooked.length > 0 ? { remove_hooks: [...unhooked].map(({ value }) => value) } : {}),
    ...(tests && isControlChanged(tests) ? { tests: tests.value.trim() || null } : {}),
    ...(proof && proof.dataset.present === undefined
      ? { checklist: proof.value === 'tests' ? ['All tests pass (test-log, required)'] : [] }
      : {}),
    ...(memory && memory.value !== 'with-code' ? { memory: memory.value } : {}),
    ...(signs && isControlChanged(signs) ? { sign_approvals: signs.checked } : {}),
  }
}

/** Saves the answers, and creates the case. */
async function save(
  form: HTMLFormElement,
  button: HTMLElement | null,
  readAnswers: () => Promise<void>,
): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  showError(form, null)
  const changes = changesOf(form)
  if (changes === null) {
    const first = form.querySelector<HTMLInputElement>('input[name=provider]:enabled')
    const question = first?.closest('fieldset')
    if (question) showError(question, { code: 'unsaved', detail: 'Choose who plans the work.' })
    first?.focus()
    return
  }
  const seen = form.querySelector<HTMLInputElement>('#setup-seen')!
  const unlock = isSaving(form, button)
  if (Object.keys(changes).length > 0) {
    const saved = await send('PUT', '/setup', changes, { 'if-match': seen.dataset.etag! })
    if (!saved.ok) {
      const problem = saved.status === 412 ? await conflict(JSON.parse(seen.value)) : saved.problem
      unlock()
      if (saved.status === 412) await readAnswers()
      showError(form, problem)
      return
    }
    seen.dataset.etag = saved.etag ?? seen.dataset.etag
  }
  const title = form.querySelector<HTMLInputElement>('#first-title')?.value.trim()
  if (button?.id === 'save-setup' || title === undefined) return leave(form, '/')
  const description = form.querySelector<HTMLTextAreaElement>('#first-description')?.value ?? ''
  const created = await send('POST', '/cases', {
    title,
    ...(description === '' ? {} : { description }),
  })
  if (created.ok) return leave(form, `/case/${created.body.id}`)
  unlock()
  showError(form, created.problem)
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

function leave(form: HTMLFormElement, address: string): void {
  form.removeAttribute('data-dirty')
  location.assign(address)
}

/** What casefile.md says now, where it is not what the form was made from. */
async function conflict(seen: Changes): Promise<Problem> {
  const read = await send('GET', '/setup')
  if (!read.ok) return read.problem
  const { configured, provider, tests, checklist, sign_approvals } = read.body
  const now: Changes = {
    provider: configured ? provider : null,
    tests: (tests as { command: string } | null)?.command ?? null,
    checklist,
    sign_approvals,
  }
  const changed = Object.keys(now)
    .filter((key) => JSON.stringify(now[key]) !== JSON.stringify(seen[key]))
    .map((key) => `${key}: ${valueText(now[key])}`)
  const says = changed.length === 0 ? '' : ` It says now ${changed.join('; ')}.`
  return {
    code: 'precondition_failed',
    detail: `casefile.md was changed after this form was shown, so nothing was written.${says} The form shows it, with your own answers. Save again if they are still right.`,
  }
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return value === null ? 'none' : String(value)
}
