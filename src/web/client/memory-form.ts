import { button, make } from './case-elements.ts'
import { keptPanel } from './conflict-panel.ts'
import { sayProblem } from './forms.ts'
import { memoryConflict, unsavedPanel } from './memory-conflict.ts'
import { loadMemory, type MemoryFile, saveMemory } from './memory-file.ts'
import { keptText, shownText } from './memory-lines.ts'
import { notify } from './notices.ts'
import { refresh } from './refresh.ts'
import { answerOf } from './send.ts'

export interface MemoryForm {
  focus(): void
  /** Told which file is there now. */
  look(etag: string | null): Promise<void>
}

/** Puts a form into a place in which a memory file is edited; `began` is what stands in it. */
export function openMemoryForm(
  place: HTMLElement,
  address: string,
  began: MemoryFile,
  onClose: () => void,
): MemoryForm {
  /** What the next save replaces, and takes its line ends from. */
  let base = began
  /** The file that the operator is asked about. */
  let asked: string | null | undefined
  let isSaving = false
  const area = make('textarea', { id: 'memory-source', class: 'code', spellcheck: 'false' })
  area.value = shownText(began.text ?? '')
  let unchanged = area.value
  const between = make('div')
  const form = make(
    'form',
    { class: 'card form memory-form' },
    make(
      'div',
      { class: 'field' },
      make('label', { for: 'memory-source' }, 'Text, in markdown'),
      area,
    ),
    between,
    make(
      'div',
      { class: 'actions' },
      make('button', { type: 'submit', class: 'primary' }, 'Save'),
      button('Cancel', cancel, 'quiet'),
      make(
        'span',
        { class: 'small muted' },
        'Ctrl+Enter or Ctrl+S saves. Line ends stay as they are.',
      ),
    ),
  )
  place.replaceChildren(form)
  document.body.toggleAttribute('data-editing', true)
  fit()
  area.focus()
  area.setSelectionRange(0, 0)
  area.scrollTop = 0

  const isDirty = () => area.value !== unchanged
  /** For the page, which takes nothing away that is being written, and asks before it is left. */
  const mark = () => form.toggleAttribute('data-dirty', isDirty())
  form.addEventListener('input', () => {
    mark()
    fit()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void save()
  })
  form.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || (event.key !== 's' && event.key !== 'Enter')) return
    event.preventDefault()
    void save()
  })

  function fit(): void {
    area.rows = Math.min(40, Math.max(12, area.value.split('\n', 41).length + 1))
  }

  function close(): void {
    form.removeAttribute('data-dirty')
    document.body.removeAttribute('data-editing')
    place.replaceChildren()
    onClose()
  }

  function cancel(): void {
    const goOn = () => between.replaceChildren()
    if (isDirty()) between.replaceChildren(unsavedPanel({ throwAway: close, goOn }))
    else close()
  }

  async function save(): Promise<void> {
    if (isSaving) return
    isSaving = true
    area.readOnly = true
    form.setAttribute('data-busy', '')
    sayProblem(form, null)
    const text = keptText(base.text ?? '', area.value)
    try {
      const response = await saveMemory(address, base.etag, text)
      const sent = await answerOf(response)
      if (sent.ok) {
        close()
        notify('Saved.')
        await refresh()
        return
      }
      const now = sent.status === 412 ? await loadMemory(address) : base
      if (now.etag !== base.etag) ask(now)
      else sayProblem(form, sent.problem)
    } catch (error) {
      const detail = error instanceof TypeError ? AWAY : String(error) // of fetch, of loadMemory
      sayProblem(form, { code: 'unreachable', detail })
    } finally {
      isSaving = false
      area.readOnly = false
      form.removeAttribute('data-busy')
    }
  }

  /** Nothing that was typed is touched before the operator has chosen. */
  function ask(now: MemoryFile): void {
    asked = now.etag
    const rebase = () => {
      base = now
      asked = undefined
      between.replaceChildren()
    }
    between.replaceChildren(
      memoryConflict(now, area.value, {
        keepMine() {
          rebase()
          void save()
        },
        takeTheirs() {
          const mine = area.value
          rebase()
          put(shownText(now.text ?? ''))
          unchanged = area.value
          mark()
          between.replaceChildren(
            keptPanel(() => {
              between.replaceChildren()
              put(mine)
            }),
          )
        },
        goOn() {
          rebase()
          area.focus()
        },
      }),
    )
    between.scrollIntoView({ block: 'nearest' })
  }

  function put(text: string): void {
    area.value = text
    mark()
    fit()
    area.focus()
  }

  return {
    focus: () => area.focus(),
    async look(etag) {
      if (isSaving || etag === base.etag || etag === asked) return
      const now = await loadMemory(address)
      if (now.etag === base.etag) return
      if (isDirty() || [base.etag, now.etag, now.text].includes(null)) return ask(now)
      base = now
      put(shownText(now.text!))
      unchanged = area.value
      mark()
    },
  }
}

const AWAY = 'The service does not answer. What you wrote is still here; try again.'
