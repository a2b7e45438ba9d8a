import { confirmed } from './confirmation.ts'
import { fieldsOf, holdForm, isChanged } from './form-fields.ts'
import { refresh } from './refresh.ts'
import { type Problem, type Sent, send } from './send.ts'

/**
 * Forms that speak to the JSON endpoints: `data-send` is the method, `action` the address. Each named
 * control is a field: a checkbox true or false, others text; `data-empty="omit"` leaves a field out
 * when it is empty, `data-empty="null"` sends null, `data-as="words"` and `data-as="list"` (with commas)
 * a list. `data-only-changed` sends what was changed. `data-if-match` is the ETag of what was shown.
 * `data-confirm` asks first. After a success `data-then` leads to an address, `{name}` in it from the
 * answer; else the page is brought up to date.
 */
export function startForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (!form.dataset.send) return
    event.preventDefault()
    void submit(form, event.submitter)
  })
  document.addEventListener('input', (event) => {
    const form = formOf(event.target)
    if (!form?.dataset.send) return
    form.toggleAttribute('data-dirty', isChanged(form))
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    const form = isWriting(event.target) ? formOf(event.target) : null
    if (!form?.dataset.send) return
    event.preventDefault()
    const button = submitButton(form)
    if (button && !button.disabled) form.requestSubmit(button)
  })
  document.addEventListener('reset', (event) => {
    const form = event.target as HTMLFormElement
    form.removeAttribute('data-dirty')
    sayProblem(form, null)
  })
  // a page that came was answered
  document.addEventListener('refreshed', () => {
    for (const said of document.querySelectorAll('.problem-said[data-code=unreachable]'))
      said.remove()
  })
  addEventListener('beforeunload', (event) => {
    if (document.querySelector('form[data-dirty] textarea')) event.preventDefault()
  })
}

function formOf(target: EventTarget | null): HTMLFormElement | null {
  return (target as Partial<HTMLInputElement> | null)?.form ?? null
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement
}

/** `requestSubmit` without a button would pass over one that is held back. */
function submitButton(form: HTMLFormElement): HTMLButtonElement | undefined {
  return ([...form.elements] as HTMLButtonElement[]).find(
    (each) => each.matches('button') && each.type === 'submit',
  )
}

async function submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  const question = form.dataset.confirm
  if (question && !(await confirmed(question, submitter?.textContent ?? 'Yes'))) return
  const fields = fieldsOf(form)
  sayProblem(form, null)
  if (form.dataset.onlyChanged !== undefined && Object.keys(fields ?? {}).length === 0)
    return done(form, {})
  const release = holdForm(form)
  const { send: method = 'POST', ifMatch } = form.dataset
  const headers: Record<string, string> = ifMatch ? { 'if-match': ifMatch } : {}
  const sent = await send(method, form.getAttribute('action')!, fields, headers)
  release()
  const told = new CustomEvent<Sent>('sent', { detail: sent, bubbles: true, cancelable: true })
  if (!form.dispatchEvent(told)) return
  if (sent.ok) await done(form, sent.body)
  else sayProblem(form, sent.problem)
}

async function done(form: HTMLFormElement, answer: Record<string, unknown>): Promise<void> {
  form.removeAttribute('data-dirty')
  const then = form.dataset.then
  if (then) {
    const address = then.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(answer[name])),
    )
    location.assign(address)
    return
  }
  form.reset()
  form.closest('details[data-close]')?.removeAttribute('open')
  form.closest('dialog')?.close()
  await refresh()
}

/** Shows in a form why it was refused, or with null that it was not. */
export function sayProblem(form: HTMLElement, problem: Problem | null): void {
  form.querySelector('.problem-said')?.remove()
  if (!problem) return
  const said = document.createElement('div')
  said.className = 'problem-said'
  said.dataset.code = problem.code
  said.setAttribute('role', 'alert')
  said.setAttribute('data-own', '')
  const detail = document.createElement('p')
  detail.textContent = problem.detail
  said.append(detail)
  const lines = problem.errors ?? []
  if (lines.length > 1 || (lines[0] && !problem.detail.includes(lines[0].message))) {
    const list = document.createElement('ul')
    for (const { path, message } of lines) {
      const item = document.createElement('li')
      item.textContent = `${path}: ${message}`
      list.append(item)
    }
    said.append(list)
  }
  form.append(said)
}
