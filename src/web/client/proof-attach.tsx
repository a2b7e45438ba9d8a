import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofTypeOf } from '../proof/proof-type.ts'
import { element } from './dom.ts'
import { fieldsOf, lockForm } from './form-fields.ts'
import { finish, showError } from './forms.tsx'
import { clearNotices } from './notices.ts'
import { type ProofFile, readProofFile } from './proof-file.ts'
import { restoreFocusAfter } from './restore-focus.ts'
import { send } from './send.ts'

const PREVIEW = 1500

/** The file chosen last, by its form. Its text never goes through a text field, which would change line ends. */
const chosen = new WeakMap<HTMLFormElement, Promise<ProofFile>>()

/** The form that attaches proof: text, or a file instead of it. */
export function startProofAttaching(): void {
  document.addEventListener('change', (event) => {
    const input = event.target as HTMLInputElement
    if (input.id === 'proof-file') void choose(input.form!, input.files?.[0])
  })
  document.addEventListener('reset', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id === 'attach-form') void choose(form, undefined)
  })
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target as HTMLFormElement
      if (form.id !== 'attach-form') return
      event.preventDefault()
      event.stopPropagation() // before forms.tsx sends it
      void attach(form)
    },
    true,
  )
}

async function choose(form: HTMLFormElement, file: File | undefined): Promise<void> {
  chosen.delete(form)
  showError(form, null)
  const shown = form.querySelector<HTMLElement>('#chosen-file')!
  shown.hidden = true
  enableText(form, file === undefined)
  if (!file) return
  form.querySelector<HTMLInputElement>('input[name=type]')!.value = proofTypeOf(file.name)
  const reading = readProofFile(file)
  chosen.set(form, reading)
  const read = await reading
  if (chosen.get(form) !== reading) return // another file was chosen since, or none
  if (!read.ok) {
    chosen.delete(form)
    enableText(form, true)
    form.querySelector<HTMLInputElement>('#proof-file')!.value = ''
    showError(form, { code: 'bad_file', detail: read.why })
    return
  }
  const isCut = read.text.length > PREVIEW
  const preview = isCut ? `${read.text.slice(0, PREVIEW)} …` : read.text
  shown.replaceChildren(
    element(
      <p class="small">
        {file.name}, {file.size.toLocaleString('en')} bytes. It is attached byte for byte.
      </p>,
    ),
    element(<pre>{visibleText(preview)}</pre>),
  )
  shown.hidden = false
}

function enableText(form: HTMLFormElement, isEnabled: boolean): void {
  const area = form.querySelector<HTMLTextAreaElement>('textarea[name=content]')!
  area.disabled = !isEnabled
  area.closest<HTMLElement>('.field')!.hidden = !isEnabled
}

async function attach(form: HTMLFormElement): Promise<void> {
  if (form.hasAttribute('data-busy')) return
  const fields = fieldsOf(form)
  const unlock = lockForm(form)
  showError(form, null)
  const file = await chosen.get(form)
  if (file && !file.ok) return unlock() // the error is shown already
  const content = file ? { content: file.text } : {}
  const sent = await send('POST', form.getAttribute('action')!, { ...fields, ...content })
  unlock()
  if (!sent.ok) return showError(form, sent.problem)
  clearNotices()
  restoreFocusAfter(form, sent.body)
  await finish(form, sent.body)
}
