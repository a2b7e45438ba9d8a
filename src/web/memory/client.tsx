import { conflictPanel, restorePanel } from '../client/conflicts.tsx'
import { element } from '../client/dom.ts'
import { showError } from '../client/forms.tsx'
import { notify } from '../client/notices.ts'
import { beforeRefresh, refresh } from '../client/refresh.ts'
import { AWAY, readResponse } from '../client/send.ts'
import { textToEdit, textToSave } from './client/memory-lines.ts'

/** A memory file on the disk. */
interface MemoryFile {
  /** Null if there is none. */
  etag: string | null
  /** With its byte order mark and its own line ends; null if it is not UTF-8. */
  text: string | null
}

/** The editor of a memory file, on its page; and the form that names a new file. */
export function start(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'new-file-form') return
    event.preventDefault()
    const { value } = form.elements.namedItem('filename') as HTMLInputElement
    form.removeAttribute('data-dirty')
    location.assign(form.getAttribute('action') + encodeURIComponent(value))
  })
  const container = document.getElementById('memory-editor')
  if (!container) return
  const api = container.dataset.api!
  let editor: Editor | null = null

  const open = async (file?: MemoryFile) => {
    if (editor) return editor.focus()
    try {
      const base = file ?? (await load(api))
      if (base.text === null) return notify('The file is not UTF-8, so it cannot be edited here.')
      editor = openEditor(container, api, base, () => {
        editor = null
      })
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error))
    }
  }
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('#edit-memory')) void open()
  })
  const etagOn = (page: Document) => page.getElementById('memory-now')?.dataset.etag
  beforeRefresh((next) => {
    const etag = etagOn(next)
    // if this fails, the next save still sends If-Match
    if (etag !== undefined)
      editor?.fileIsNow(etag || null).catch((error: unknown) => notify(String(error)))
  })
  if (etagOn(document) === '') void open({ etag: null, text: '' })
  else if (location.hash === '#edit-memory') void open()
}

interface Editor {
  focus(): void
  /** The file on the disk has this ETag. */
  fileIsNow(etag: string | null): Promise<void>
}

function openEditor(
  container: HTMLElement,
  api: string,
  opened: MemoryFile,
  onClose: () => void,
): Editor {
  /** What the next save replaces, and takes its line ends from. */
  let base = opened
  /** The version that the conflict panel is about. */
  let shownETag: string | null | undefined
  let isSaving = false
  const planForm = () => document.querySelector<HTMLFormElement>('#plan-runbook')
  const form = element<HTMLFormElement>(
    <form class="card form memory-form">
      <div class="field">
        <label for="memory-source">Text (markdown)</label>
        <textarea id="memory-source" class="code" spellcheck={false} />
      </div>
      <div class="conflict-place" />
      <div class="actions">
        {planForm() && (
          <button type="button" class="primary" onClick={() => void save(true)}>
            Save and plan
          </button>
        )}
        <button type="submit" class={planForm() ? undefined : 'primary'}>
          Save
        </button>
        <button type="button" class="quiet" onClick={cancel}>
          Cancel
        </button>
        <span class="small muted">Ctrl+Enter or Ctrl+S saves. Line ends stay as they are.</span>
      </div>
    </form>,
  )
  const area = form.querySelector('textarea')!
  const conflictPlace = form.querySelector<HTMLElement>('.conflict-place')!
  area.value = textToEdit(opened.text ?? '')
  if (opened.etag === null)
    area.value ||= document.getElementById('memory-now')?.dataset.template ?? ''
  let unchanged = area.value
  container.replaceChildren(form)
  document.body.classList.add('editing')
  fit()
  area.focus()
  area.setSelectionRange(0, 0)
  area.scrollTop = 0

  const isDirty = () => area.value !== unchanged
  const markDirty = () => form.toggleAttribute('data-dirty', isDirty())
  form.addEventListener('input', () => {
    markDirty()
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
    document.body.classList.remove('editing')
    container.replaceChildren()
    onClose()
  }

  function cancel(): void {
    if (!isDirty()) {
      close()
      return
    }
    conflictPlace.replaceChildren(
      element(
        <div class="notice" data-tone="warn" role="alert">
          <p>Your changes are not saved.</p>
          <div class="actions">
            <button type="button" class="danger" onClick={close}>
              Discard
            </button>
            <button type="button" onClick={() => conflictPlace.replaceChildren()}>
              Keep editing
            </button>
          </div>
        </div>,
      ),
    )
  }

  async function save(andPlan = false): Promise<void> {
    if (isSaving) return
    isSaving = true
    area.readOnly = true
    form.setAttribute('data-busy', '')
    showError(form, null)
    const text = textToSave(base.text ?? '', area.value)
    try {
      const sent = await readResponse(await store(api, base.etag, text))
      if (sent.ok) {
        close()
        notify('Saved.')
        await refresh()
        if (andPlan) planForm()?.requestSubmit()
        return
      }
      const now = sent.status === 412 ? await load(api) : base
      if (now.etag !== base.etag) ask(now)
      else showError(form, sent.problem)
    } catch (error) {
      if (error instanceof TypeError) {
        const kept = 'Your text is still here.'
        showError(form, { ...AWAY, detail: `${AWAY.detail} ${kept}` }, `${kept} Save it again.`)
      } else showError(form, { code: 'unreadable_file', detail: String(error) })
    } finally {
      isSaving = false
      area.readOnly = false
      form.removeAttribute('data-busy')
    }
  }

  /** Nothing that was typed is touched before the operator has chosen. */
  function ask(now: MemoryFile): void {
    showError(form, null)
    // a save whose answer was lost
    if (now.etag !== null && now.text === textToSave(base.text ?? '', area.value)) {
      close()
      notify('Saved.')
      void refresh()
      return
    }
    shownETag = now.etag
    const rebase = () => {
      base = now
      shownETag = undefined
      conflictPlace.replaceChildren()
    }
    const theirs = now.text
    const isDeleted = now.etag === null
    const useTheirs = () => {
      const mine = area.value
      rebase()
      put(textToEdit(theirs ?? ''))
      unchanged = area.value
      markDirty()
      conflictPlace.replaceChildren(
        restorePanel(() => {
          conflictPlace.replaceChildren()
          put(mine)
        }),
      )
    }
    conflictPlace.replaceChildren(
      conflictPanel({
        subject: 'The file',
        what: isDeleted
          ? 'was deleted'
          : theirs === null
            ? 'changed to something other than UTF-8'
            : 'changed',
        changes:
          isDeleted || theirs === null
            ? []
            : [{ label: 'Text', theirs: textToEdit(theirs), mine: area.value }],
        onOverwrite() {
          rebase()
          void save()
        },
        ...(isDeleted || theirs === null ? {} : { onUseTheirs: useTheirs }),
        onKeepEditing() {
          rebase()
          area.focus()
        },
      }),
    )
    conflictPlace.scrollIntoView({ block: 'nearest' })
  }

  function put(text: string): void {
    area.value = text
    markDirty()
    fit()
    area.focus()
  }

  return {
    focus: () => area.focus(),
    async fileIsNow(etag) {
      if (isSaving || etag === base.etag || etag === shownETag) return
      const now = await load(api)
      if (now.etag === base.etag) return
      if (isDirty() || [base.etag, now.etag, now.text].includes(null)) return ask(now)
      base = now
      put(textToEdit(now.text!))
      unchanged = area.value
      markDirty()
    },
  }
}

/** Rejects with a message for the operator if the file can't be read. */
async function load(api: string): Promise<MemoryFile> {
  const response = await fetch(api, { cache: 'no-cache' })
  if (response.status === 404) return { etag: null, text: '' }
  if (!response.ok) {
    const problem = (await response.json().catch(() => null)) as { detail?: string } | null
    const why = problem?.detail ?? `the service answered ${response.status}.`
    throw new Error(`The file cannot be read: ${why}`)
  }
  const bytes = await response.arrayBuffer()
  return { etag: response.headers.get('etag'), text: decode(bytes) }
}

/** Writes the file only if it still has this ETag; null for no file. */
function store(api: string, etag: string | null, text: string): Promise<Response> {
  const precondition: Record<string, string> =
    etag === null ? { 'if-none-match': '*' } : { 'if-match': etag }
  const headers = { 'casefile-client': 'console', ...precondition }
  return fetch(api, { method: 'PUT', headers, body: new TextEncoder().encode(text) })
}

function decode(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
