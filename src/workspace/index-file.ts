import { join } from 'node:path'
import { writeDurable } from '../files/durable-write.ts'
import { isFolder } from '../files/folder-names.ts'
import { readRegular } from '../files/safe-read.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import {
  INDEX_MARKER,
  type IndexRow,
  indexLine,
  indexTableTop,
  indexTop,
} from '../markdown/case-index.ts'
import { CASE_STATES, type CaseState } from '../model/case-state.ts'
import { byCreation } from '../model/proof.ts'
import { Refusal } from '../model/refusal.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { Catalog } from './catalog.ts'
import type { Layout } from './layout.ts'
import { hashOf } from './record.ts'

/** `memory/index.md`: the cases by state, for a person who browses in an editor. */
export interface IndexFile {
  /** To be called on every change; the file follows within a second or two, later where there are many cases. */
  changed(): void
  /** Writes now what is to be written, if anything is. */
  flush(): Promise<void>
  /** The last write; later changes are not followed. */
  close(): Promise<void>
}

interface IndexFileNeeds {
  layout: Pick<Layout, 'memoryRoot'>
  catalog: Pick<Catalog, 'ids' | 'row'>
  log: (line: string) => void
  now?: () => number
  /** Why the file must not be there; empty where it may. */
  whyNot?: () => Promise<string>
  /** The shortest time between two writes. */
  everyMs?: number
}

const MAX_BYTES = 64 * 1024 * 1024
/** Making it takes time for each case, so it is made less often where there are many: 10,000 take 3 s. */
const EVERY_MS_PER_CASE = 0.3
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
  let notBefore = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let written = ''
  let said = ''

  function changed(): void {
    if (isClosed) return
    isStale = true
    timer ??= setTimeout(begin, Math.max(everyMs, notBefore - performance.now())).unref()
  }

  function begin(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  function flush(): Promise<void> {
    return begin()
  }

  async function write(): Promise<void> {
    if (!isStale) return
    isStale = false
    const ids = catalog.ids()
    try {
      const row = (id: string) => rowOf(catalog.row(id))
      say(await replace(await indexText(ids, row)))
    } catch (error) {
      if (error instanceof Refusal && error.code === 'changed_meanwhile') changed()
      else say(`index.md could not be written: ${error instanceof Error ? error.message : error}`)
    }
    notBefore = performance.now() + ids.length * EVERY_MS_PER_CASE
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

function rowOf(of: TriageRow | undefined): IndexRow | undefined {
  if (!of) return undefined
  const { id, title, created_at, state, type, outcome, needs, problems } = of
  const isYours = needs !== null && needs.kind !== 'running'
  return {
    id,
    title,
    created_at,
    state,
    type,
    outcome,
    needs: isYours ? needs.text : '',
    problems,
  }
}

/** So many rows are sorted, or lines put together, without a pause. */
const RUN = 200

/** The bytes of `index.md`. The rows come in any order and give the same bytes in each. */
async function indexText(
  ids: readonly string[],
  row: (id: string) => IndexRow | undefined,
): Promise<Buffer> {
  const tables = new Map<CaseState, IndexRow[]>(CASE_STATES.map((state) => [state, []]))
  let cases = 0
  let needing = 0
  let withProblems = 0
  for (const id of ids) {
    const found = row(id)
    if (found) {
      tables.get(found.state)?.push(found)
      cases++
      if (found.needs !== '') needing++
      if (found.problems > 0) withProblems++
    }
    await yieldIfBusy()
  }
  const pieces = [Buffer.from(indexTop(cases, needing, withProblems))]
  for (const [state, rows] of tables) {
    if (rows.length === 0) continue
    pieces.push(Buffer.from(indexTableTop(state, rows.length)))
    const sorted = await newestFirst(rows)
    for (let at = 0; at < sorted.length; at += RUN) {
      pieces.push(
        Buffer.from(
          sorted
            .slice(at, at + RUN)
            .map(indexLine)
            .join(''),
        ),
      )
      await yieldIfBusy()
    }
  }
  return Buffer.concat(pieces)
}

/** Sorted in runs, which are merged: all at once would keep requests waiting. */
async function newestFirst(rows: readonly IndexRow[]): Promise<IndexRow[]> {
  let runs: IndexRow[][] = []
  for (let at = 0; at < rows.length; at += RUN) {
    runs.push(rows.slice(at, at + RUN).sort((a, b) => byCreation(b, a)))
    await yieldIfBusy()
  }
  while (runs.length > 1) {
    const merged: IndexRow[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await mergedRuns(runs[at]!, runs[at + 1] ?? []))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedRuns(one: IndexRow[], other: IndexRow[]): Promise<IndexRow[]> {
  const merged: IndexRow[] = []
  let [i, j] = [0, 0]
  while (i < one.length && j < other.length) {
    merged.push(byCreation(one[i]!, other[j]!) > 0 ? one[i++]! : other[j++]!)
    if (merged.length % RUN === 0) await yieldIfBusy()
  }
  while (i < one.length) merged.push(one[i++]!)
  while (j < other.length) merged.push(other[j++]!)
  return merged
}
