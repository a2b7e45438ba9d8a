/** Lists the memory files of a case. */

import { basename, join } from 'node:path'
import { entriesIn } from '../files/folder-names.ts'
import { type FileStamp, stampOf } from '../files/safe-read.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import { CASE_FILE } from '../markdown/case-file.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { fileIn } from './index/case-rows.ts'
import type { Catalog } from './index/catalog.ts'
import type { Layout } from './layout.ts'
import type { MemoryName } from './memory-files.ts'

export interface MemoryListing {
  filename: string
  kind: MemoryName['kind']
  size: number
  updated_at: string
}

/** Lists the memory files of a case as they were read: case.md and notes by name, then session files by number. */
export async function listMemory(
  { layout, catalog }: { layout: Layout; catalog: Pick<Catalog, 'entry'> },
  contents: CaseContents,
): Promise<MemoryListing[]> {
  const { id } = contents.case
  const entry = catalog.entry(id)
  if (!entry) return []
  const isHidden = entry.problems.some(({ code, file }) => code === 'unreadable' && file === '.')
  if (isHidden) await entriesIn(layout.caseFolder(id)) // throws why it cannot be listed
  const files = [
    ...[...entry.notes.keys(), CASE_FILE].sort(),
    ...contents.sessions.map(({ number }) => `sessions/${number}.md`),
  ]
  const listing: MemoryListing[] = []
  for (const file of files) {
    const path = join(layout.caseFolder(id), file)
    const stamp = fileIn(entry, file)?.stamp ?? (await stampOf(path))
    if (!stamp || !isFile(stamp)) continue
    const kind = file === CASE_FILE ? 'case' : file.includes('/') ? 'session' : 'notes'
    const updated_at = new Date(stamp.mtimeMs).toISOString()
    listing.push({ filename: basename(file), kind, size: stamp.size, updated_at })
    await yieldIfBusy()
  }
  return listing
}

function isFile(stamp: FileStamp): boolean {
  return (stamp.mode & 0o170000) === 0o100000
}
