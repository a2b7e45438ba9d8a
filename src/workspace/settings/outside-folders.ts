import { CASE_FILE, MAX_CASE_BYTES } from '../../markdown/case-file.ts'
import { fieldReader, recordHead } from '../../markdown/fields.ts'
import { UUID } from '../../model/words.ts'
import { decodeUtf8, readRegular } from '../disk/safe-read.ts'
import { entriesIn } from '../folder-names.ts'
import type { Layout } from '../layout.ts'
import { outsideFolder } from '../workdir.ts'

/** A folder outside of the workspace, by its real path, and the cases that name it as their `workdir`. */
export interface OutsideFolder {
  folder: string
  cases: { id: string; title: string; workdir: string }[]
}

/** Reads every case.md for its `workdir`; one that cannot be read names none. */
export async function outsideFolders(layout: Layout): Promise<OutsideFolder[]> {
  const found = new Map<string, OutsideFolder>()
  const ids = (await entriesIn(layout.cases)).filter((name) => UUID.test(name)).sort()
  for (const id of ids) {
    const named = await workdirOf(layout, id)
    const folder = named && (await outsideFolder(layout.root, named.workdir))
    if (!folder) continue
    const entry = found.get(folder) ?? { folder, cases: [] }
    found.set(folder, entry)
    entry.cases.push({ id, ...named })
  }
  return [...found.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

async function workdirOf(
  layout: Layout,
  id: string,
): Promise<{ title: string; workdir: string } | null> {
  const within = layout.caseFolder(id)
  const read = await readRegular(layout.caseFile(id), { maxBytes: MAX_CASE_BYTES, within })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  if (!text?.ok || !text.text.includes('workdir')) return null
  const head = recordHead(text.text, CASE_FILE)
  if (!head.ok) return null
  const fields = fieldReader(head.head, CASE_FILE)
  const workdir = fields.text('workdir')
  return workdir === null ? null : { title: fields.text('title') ?? id, workdir }
}
