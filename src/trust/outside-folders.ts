/** Finds working folders of cases outside the workspace, which must be trusted. */

import { resolve } from 'node:path'
import { entriesIn } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { CASE_FILE, MAX_CASE_BYTES } from '../markdown/case-file.ts'
import { fieldReader, readFields } from '../markdown/fields.ts'
import { UUID } from '../model/name-patterns.ts'
import { realFolder } from '../settings/workdir.ts'
import type { Layout } from '../workspace/layout.ts'

/** A folder outside the workspace, by its real path, and the cases with it as their `workdir`. */
export interface OutsideFolder {
  folder: string
  cases: { id: string; title: string; workdir: string }[]
}

export interface WorkingFolders {
  /** Real paths: the workspace's root first. */
  inside: string[]
  outside: OutsideFolder[]
}

/** Reads the `workdir` of every case.md; unreadable ones are skipped. */
export async function workingFolders(layout: Layout): Promise<WorkingFolders> {
  const found = new Map<string, OutsideFolder>()
  const inside = new Set([layout.root])
  const ids = (await entriesIn(layout.cases)).filter((name) => UUID.test(name)).sort()
  for (const id of ids) {
    const named = await workdirOf(layout, id)
    const folder = named && (await realFolder(resolve(layout.root, named.workdir)))
    if (!folder) continue
    if (isWithin(layout.root, folder)) {
      inside.add(folder)
      continue
    }
    const entry = found.get(folder) ?? { folder, cases: [] }
    found.set(folder, entry)
    entry.cases.push({ id, ...named })
  }
  const outside = [...found.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1))
  return { inside: [...inside], outside }
}

async function workdirOf(
  layout: Layout,
  id: string,
): Promise<{ title: string; workdir: string } | null> {
  const within = layout.caseFolder(id)
  const read = await readRegular(layout.caseFile(id), { maxBytes: MAX_CASE_BYTES, within })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  if (!text?.ok || !text.text.includes('workdir')) return null
  const record = readFields(text.text, CASE_FILE)
  if (!record.ok) return null
  const fields = fieldReader(record.document, CASE_FILE)
  const workdir = fields.text('workdir')
  return workdir === null ? null : { title: fields.text('title') ?? id, workdir }
}
