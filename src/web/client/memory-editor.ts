import { loadMemory, type MemoryFile } from './memory-file.ts'
import { type MemoryForm, openMemoryForm } from './memory-form.ts'
import { notify } from './notices.ts'
import { beforeRefresh } from './refresh.ts'

/** The editor of a memory file, on its page: see `MemoryPage`. */
export function startMemoryEditor(): void {
  const place = document.getElementById('memory-editor')
  if (!place) return
  const address = place.dataset.memory!
  let editor: MemoryForm | null = null

  const open = async (file?: MemoryFile) => {
    if (editor) return editor.focus()
    try {
      const base = file ?? (await loadMemory(address))
      if (base.text === null) return notify('The file is not UTF-8, so it cannot be edited here.')
      editor = openMemoryForm(place, address, base, () => {
        editor = null
      })
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error))
    }
  }
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('[data-edit-memory]')) void open()
  })
  beforeRefresh((next) => {
    const now = next.getElementById('memory-now')
    // where this fails, the next save is held to the ETag all the same
    if (now) editor?.look(now.dataset.etag || null).catch((error: unknown) => notify(String(error)))
  })
  if (place.hasAttribute('data-new')) void open({ etag: null, text: '' })
}
