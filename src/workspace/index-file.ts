import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { INDEX_MARKER, type IndexEntry, indexEntry, indexPage } from '../markdown/case-index.ts'
import { type CaseFolder, shownState } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { Catalog } from './catalog.ts'
import { writeDurable } from './disk/durable-write.ts'
import { readRegular } from './disk/safe-read.ts'
import { isFolder } from './folder-names.ts'
import type { Layout } from './layout.ts'
import { hashOf } from './record.ts'

/** `memory/index.md`: the cases by state, for a person who browses in an editor (design §1). */
export interface IndexFile {
  /** To be called on every change; the file follows within a second or two. */
  changed(): void
  /** Writes now what is to be written, if anything is. */
  flush(): Promise<void>
  /** The last write; later changes are not followed. */
  close(): Promise<void>
}

interface IndexFileNeeds {
  layout: Pick<Layout, 'memoryRoot'>
  catalog: Pick<Catalog, 'ids' | 'folder'>
  log: (line: string) => void
  now?: () => number
  /** Why the file must not be there; empty where it may. */
  whyNot?: () => Promise<string>
  /** The shortest time between two writes. */
  everyMs?: number
}

const MAX_BYTES = 64 * 1024 * 1024
const SLICE_MS = 5
/** What a person saved only just now is left alone for a moment. */
const QUIET_MS = 2000

/**
 * Neither makes the memory root nor takes the place of a file that is not its own, which is said
 * once. The same cases give the same bytes, and the same bytes are not written again.
 */
export function createIndexFile(needs: IndexFileNeeds): IndexFile {
  const { layout, catalog, log, now = Date.now, everyMs = 1000 } = needs
  const path = join(layout.memoryRoot, 'index.md')
  let isStale = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let written = ''
  let said = ''

  function changed(): void {
    if (isClosed) return
    isStale = true
    timer ??= setTimeout(flush, everyMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  async function write(): Promise<void> {
    if (!isStale) return
    isStale = false
    try {
      say(await replace(Buffer.from(indexPage(await entriesOf(catalog)))))
    } catch (error) {
      if (error instanceof Refusal && error.code === 'changed_meanwhile') changed()
      else say(`index.md could not be written: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Says what is in the way, if anything is. */
  async function replace(bytes: Buffer): Promise<string> {
    if (!(await isFolder(layout.memoryRoot))) return ''
    const present = await readRegular(path, { maxBytes: MAX_BYTES })
    if (!present.ok && present.reason !== 'missing') {
      return `index.md is not written: what is in its place is not the service's (${present.detail})`
    }
    if (present.ok && !isOurs(present.bytes)) {
      return "index.md is not written: it is not the service's. Rename it, and the service writes one."
    }
    if (present.ok && present.bytes.equals(bytes)) return ''
    const why = (await needs.whyNot?.()) ?? ''
    if (why !== '') return why
    if (present.ok && hashOf(present.bytes) !== written && isRecent(present.stat.mtimeMs)) {
      changed()
      return ''
    }
    const expect = present.ok ? present.bytes : null
    await writeDurable(path, bytes, { expect, within: layout.memoryRoot })
    written = hashOf(bytes)
    return ''
  }

  function isRecent(mtimeMs: number): boolean {
    const age = now() - mtimeMs
    return age >= 0 && age < QUIET_MS
  }

  function say(line: string): void {
    if (line && line !== said) log(line)
    said = line
  }

  return {
    changed,
    flush,
    close() {
      isClosed = true
      return flush()
    },
  }
}

function isOurs(bytes: Buffer): boolean {
  const [line] = bytes.toString('utf8', 0, INDEX_MARKER.length + 2).split(/\r?\n/)
  return line === INDEX_MARKER
}

/** In slices, as 10,000 cases at once would keep every request waiting. */
async function entriesOf(catalog: IndexFileNeeds['catalog']): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = []
  let since = performance.now()
  for (const id of catalog.ids()) {
    const folder = catalog.folder(id)
    if (!folder) continue
    entries.push(entryOf(folder))
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
  return entries
}

/** After a change the catalog gives another folder, so each stands for one line. */
const made = new WeakMap<CaseFolder, IndexEntry>()

function entryOf(folder: CaseFolder): IndexEntry {
  const known = made.get(folder)
  if (known) return known
  const { id, title, created_at, type, outcome } = folder.case
  const state = shownState(folder)
  const problems = folder.problems.length
  const entry = indexEntry({ id, title, created_at, state, type, outcome, problems })
  made.set(folder, entry)
  return entry
}
