import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofTypeOf } from '../case/proof-type.ts'
import { make } from './case-elements.ts'
import { focusAfter } from './focus-after.ts'
import { fieldsOf, holdForm } from './form-fields.ts'
import { sayProblem } from './forms.ts'
import { clearNotices } from './notices.ts'
import { type ProofFile, readProofFile } from './proof-file.ts'
import { refresh } from './refresh.ts'
import { send } from './send.ts'

const PREVIEW = 1500

/**
 * The file that was chosen last, by its form, while it is read and after: its text never goes through a
 * text field, which would change line ends.
 */
const chosen = new WeakMap<HTMLFormElement, Promise<ProofFile>>()

/** The form that attaches proof: with a file in place of the text. */
export function startProofAttaching(): void {
  document.addEventListener('change', (event) => {
    const input = event.target as HTMLInputElement
    if (input.matches('[data-proof-file]')) void choose(input.form!, input.files?.[0])
  })
  document.addEventListener('reset', (event) => {
    const form = event.target as HTMLFormElement
    if (form.hasAttribute('data-proof')) void choose(form, undefined)
  })
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target as HTMLFormElement
      if (!form.hasAttribute('data-proof')) return
      event.preventDefault()
      event.stopPropagation() // before the general handler of forms
      void attach(form)
    },
    true,
  )
}

async function choose(form: HTMLFormElement, file: File | undefined): Promise<void> {
  chosen.delete(form)
  sayProblem(form, null)
  const shown = form.querySelector<HTMLElement>('[data-chosen]')!
  shown.hidden = true
  takeText(form, file === undefined)
  if (!file) return
  form.querySelector<HTMLInputElement>('input[name=type]')!.value = proofTypeOf(file.name)
  const reading = readProofFile(file)
  chosen.set(form, reading)
  const read = await reading
  if (chosen.get(form) !== reading) return // another one was chosen since, or none
  if (!read.ok) {
    chosen.delete(form)
    takeText(form, true)
    form.querySelector<HTMLInputElement>('[data-proof-file]')!.value = ''
    sayProblem(form, { code: 'bad_file', detail: read.why })
    return
  }
  const isCut = read.text.length > PREVIEW
  const preview = isCut ? `${read.text.slice(0, PREVIEW)} …` : read.text
  const size = `${file.name}, ${file.size.toLocaleString('en')} bytes, as it is:`
  shown.replaceChildren(make('p', { class: 'small' }, size), make('pre', {}, visibleText(preview)))
  shown.hidden = false
}

/** Whether the proof is what is typed. */
function takeText(form: HTMLFormElement, takes: boolean): void {
  const area = form.querySelector<HTMLTextAreaElement>('textarea[name=content]')!
  area.disabled = !takes
  area.closest<HTMLElement>('.field')!.hidden = !takes
}

async function attach(form: HTMLFormElement): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  const fields = fieldsOf(form)
  const release = holdForm(form)
  sayProblem(form, null)
  const file = await chosen.get(form)
  if (file && !file.ok) return release() // what is wrong with it was said when it was read
  const content = file ? { content: file.text } : {}
  const sent = await send('POST', form.getAttribute('action')!, { ...fields, ...content })
  release()
  if (!sent.ok) return sayProblem(form, sent.problem)
  clearNotices()
  focusAfter(form, sent.body)
  form.removeAttribute('data-dirty')
  form.reset()
  form.closest('details')?.removeAttribute('open')
  await refresh()
}
