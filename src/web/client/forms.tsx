import { element } from './dom.ts'
import { fieldsOf, isChanged, lockForm } from './form-fields.ts'
import { refresh } from './refresh.ts'
import { type Problem, type Sent, send } from './send.ts'

/**
 * Forms that send JSON to the API; main.ts lists their attributes. Once the service has answered, the form dispatches
 * `sent`; a listener that prevents its default takes over from there.
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
    if (form?.matches('[data-send], #new-file-form'))
      form.toggleAttribute('data-dirty', isChanged(form))
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    const form = isTextField(event.target) ? formOf(event.target) : null
    if (!form?.dataset.send) return
    event.preventDefault()
    const button = submitButton(form)
    if (button && !button.disabled) form.requestSubmit(button)
  })
  document.addEventListener('reset', (event) => {
    const form = event.target as HTMLFormElement
    form.removeAttribute('data-dirty')
    showError(form, null)
  })
  document.addEventListener('refreshed', () => {
    for (const error of document.querySelectorAll<HTMLElement>('.form-error.unreachable'))
      error.firstElementChild!.textContent = `${ANSWERS_AGAIN} ${error.dataset.then}`
  })
  addEventListener('beforeunload', (event) => {
    if (document.querySelector('form[data-dirty]')) event.preventDefault()
  })
}

function formOf(target: EventTarget | null): HTMLFormElement | null {
  return (target as Partial<HTMLInputElement> | null)?.form ?? null
}

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement
}

/** `requestSubmit` without a button would send a form whose button is disabled. */
function submitButton(form: HTMLFormElement): HTMLButtonElement | undefined {
  return ([...form.elements] as HTMLButtonElement[]).find(
    (each) => each.matches('button') && each.type === 'submit',
  )
}

async function submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  const question = form.dataset.confirm
  if (question && !(await isConfirmed(question, submitter?.textContent ?? 'Yes'))) return
  const fields = fieldsOf(form)
  showError(form, null)
  if (form.dataset.onlyChanged !== undefined && Object.keys(fields ?? {}).length === 0)
    return finish(form, {})
  const unlock = lockForm(form)
  const { send: method = 'POST', ifMatch } = form.dataset
  const headers: Record<string, string> = ifMatch ? { 'if-match': ifMatch } : {}
  const sent = await send(method, form.getAttribute('action')!, fields, headers)
  unlock()
  const event = new CustomEvent<Sent>('sent', { detail: sent, bubbles: true, cancelable: true })
  if (!form.dispatchEvent(event)) return
  if (sent.ok) await finish(form, sent.body)
  else showError(form, sent.problem)
}

/** After a success the form is closed, and the page shows the result. */
export async function finish(
  form: HTMLFormElement,
  answer: Record<string, unknown>,
): Promise<void> {
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
  form.closest('details.disclosure')?.removeAttribute('open')
  await refresh()
}

/** Shows in a form why the service rejected it; null removes that. `then`: what to do once it answers again. */
export function showError(form: HTMLElement, problem: Problem | null, then = LOOK_AGAIN): void {
  form.querySelector('.form-error')?.remove()
  if (!problem) return
  const { code, detail, errors = [] } = problem
  const addsDetails = errors.length > 1 || (errors[0] && !detail.includes(errors[0].message))
  form.append(
    element(
      <div class={`form-error ${code}`} role="alert" data-own="" data-then={then}>
        <p>{detail}</p>
        {addsDetails && (
          <ul>
            {errors.map(({ path, message }) => (
              <li>
                {path}: {message}
              </li>
            ))}
          </ul>
        )}
      </div>,
    ),
  )
}

/** What was sent may have gone unseen: the message stays until it is sent again. */
const ANSWERS_AGAIN = "Casefile didn't answer, but it does now."
const LOOK_AGAIN = 'The page shows what it has: if your change is missing, try again.'

/** Asks in a dialog of the page. */
function isConfirmed(question: string, yes: string): Promise<boolean> {
  const dialog = element<HTMLDialogElement>(
    <dialog class="confirmation" aria-labelledby="confirmation-text">
      <p id="confirmation-text">{question}</p>
      <form method="dialog">
        <button type="submit" value="no" class="quiet">
          Cancel
        </button>
        <button type="submit" value="yes" class="danger">
          {yes.trim()}
        </button>
      </form>
    </dialog>,
  )
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
