import { diffTable } from './case-diff.ts'
import { make } from './case-elements.ts'
import { conflictPanel, keptPanel } from './conflict-panel.ts'
import { type Control, controlsOf, isControlChanged } from './form-fields.ts'
import { type Sent, send } from './send.ts'

type TextControl = Exclude<Control, HTMLSelectElement>

/** A field that is changed here, and that somebody else has changed since the form was shown. */
interface Rival {
  control: TextControl
  now: string
}

/**
 * Forms with `data-conflict`, the address of what they change: where that was changed meanwhile (412),
 * the form says what there is now. Where it was in other fields than its own, it is simply sent again.
 */
export function startCaseConflicts(): void {
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    const address = target.dataset.conflict
    clear(target)
    if (address === undefined || detail.ok || detail.status !== 412) return
    event.preventDefault()
    void resolve(target, address)
  })
}

async function resolve(form: HTMLFormElement, address: string): Promise<void> {
  const found = await send('GET', address)
  if (!found.ok) return say(form, unreadable(found.problem.detail))
  const rivals = rivalsIn(form, found.body)
  const rebase = () => {
    form.dataset.ifMatch = found.etag ?? ''
  }
  const sendAgain = () => {
    rebase()
    form.requestSubmit()
  }
  if (rivals.length === 0) return sendAgain()
  const takeIt = () => {
    rebase()
    takeTheirs(form, rivals)
  }
  say(
    form,
    conflictPanel({
      title: 'Not saved: it was changed meanwhile.',
      more: 'There is now:',
      shown: [make('ul', {}, ...rivals.map(rivalItem))],
      keepMine: { label: 'Save mine over it', run: sendAgain },
      takeTheirs: { label: 'Take what is there now', run: takeIt },
    }),
  )
}

function unreadable(why: string): HTMLElement {
  return make(
    'div',
    { class: 'notice conflict', 'data-kind': 'warn', role: 'alert' },
    make('p', {}, make('strong', {}, 'Not saved: it was changed meanwhile.')),
    make('p', {}, `What there is now cannot be read. ${why} Your text is still here.`),
  )
}

function rivalsIn(form: HTMLFormElement, json: Record<string, unknown>): Rival[] {
  return (controlsOf(form) as TextControl[])
    .filter(isControlChanged)
    .map((control) => ({ control, now: textOf(json[control.name], control) }))
    .filter(({ control, now }) => now !== control.defaultValue && now !== control.value)
}

function textOf(value: unknown, { dataset }: TextControl): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(dataset.as === 'list' ? ', ' : ' ')
  return String(value).replace(/\r\n?/g, '\n')
}

function rivalItem({ control, now }: Rival): HTMLElement {
  const name = control.labels?.[0]?.textContent ?? control.name
  if (control instanceof HTMLInputElement) {
    const value = now === '' ? make('em', {}, 'nothing') : make('strong', {}, now)
    return make('li', {}, `${name}: `, value)
  }
  const label = 'What is there now, and what you have'
  return make(
    'li',
    {},
    `${name}, with − what is there and + yours:`,
    diffTable(now, control.value, label),
  )
}

/** What was written stays at hand. */
function takeTheirs(form: HTMLFormElement, rivals: readonly Rival[]): void {
  const mine = rivals.map(({ control }) => ({ control, text: control.value }))
  for (const { control, now } of rivals) {
    control.value = now
    control.defaultValue = now
  }
  const putBack = () => {
    for (const { control, text } of mine) control.value = text
    mine[0]?.control.dispatchEvent(new Event('input', { bubbles: true }))
    clear(form)
  }
  say(form, keptPanel(putBack))
  rivals[0]?.control.dispatchEvent(new Event('input', { bubbles: true }))
}

function say(form: HTMLFormElement, panel: HTMLElement): void {
  clear(form)
  panel.setAttribute('data-own', '')
  form.append(panel)
}

function clear(form: HTMLFormElement): void {
  form.querySelector(':scope > .conflict')?.remove()
}
