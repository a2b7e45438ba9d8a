import { typeByName } from '../../../model/proof-type.ts'
import { visibleText } from '../../../rendering/hidden-characters.ts'
import { element } from '../../client/dom.ts'
import { fieldsOf, lockForm } from '../../client/form-fields.ts'
import { finish, showError } from '../../client/forms.tsx'
import { clearNotices } from '../../client/notices.ts'
import { restoreFocusAfter } from '../../client/restore-focus.ts'
import { send } from '../../client/send.ts'
import { previewOf } from './picture-preview.ts'
import { type ProofFile, readProofFile } from './proof-file.ts'

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
  const type = typeByName(file.name)
  showType(form, type === 'log' ? '' : type) // its content may say more than its name
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
  if ('picture' in read) showType(form, 'screenshot')
  const preview =
    'picture' in read
      ? ((await previewOf(read.picture)) ?? element(<p>It can't be shown here.</p>))
      : element(<pre class="plain-text small">{visibleText(startOf(read.text))}</pre>)
  if (chosen.get(form) !== reading) return
  shown.replaceChildren(
    element(
      <p class="small">
        {file.name}, {file.size.toLocaleString('en')} bytes. It is attached byte for byte.
      </p>,
    ),
    preview,
  )
  shown.hidden = false
}

function showType(form: HTMLFormElement, type: string): void {
  form.querySelector<HTMLInputElement>('input[name=type]')!.value = type
}

function startOf(text: string): string {
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)} …` : text
}

/** Opens the form with a file that was dropped or pasted. False if the page has no such form. */
export function openAttaching(files: FileList): boolean {
  const input = document.querySelector<HTMLInputElement>('#proof-file')
  const disclosure = input?.closest('details')
  if (!input || !disclosure) return false
  disclosure.open = true
  input.files = files
  input.dispatchEvent(new Event('change', { bubbles: true }))
  input.form!.querySelector<HTMLButtonElement>('button[type=submit]')!.focus()
  return true
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
  const address = form.getAttribute('action')!
  const sent =
    file && 'picture' in file
      ? await send(
          'POST',
          `${address}?${queryOf(fields)}`,
          new Blob([file.picture], { type: file.type }),
        )
      : await send('POST', address, file ? { ...fields, content: file.text } : fields)
  unlock()
  if (!sent.ok) return showError(form, sent.problem)
  clearNotices()
  restoreFocusAfter(form, sent.body)
  await finish(form, sent.body)
}

/** The fields that a picture is sent with. */
function queryOf(fields: Record<string, unknown> = {}): URLSearchParams {
  const { type, session_id } = fields
  return new URLSearchParams({
    ...(type ? { type: String(type) } : {}),
    ...(session_id === undefined ? {} : { session_id: String(session_id) }),
  })
}
