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
import { AppError } from '../model/app-error.ts'
import { CASE_STATES } from '../model/case-state.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { CaseLists, Place } from '../state/case-lists.ts'
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

interface IndexFileDeps {
  layout: Pick<Layout, 'memoryRoot'>
  /** The rows of all cases behind a place, the newest first. */
  rows: CaseLists['newestRows']
  log: (line: string) => void
  now?: () => number
  /** Why the file must not be there; empty where it may. */
  whyNot?: () => Promise<string>
  /** The shortest time between two writes. */
  everyMs?: number
}

const MAX_BYTES = 64 * 1024 * 1024
/**
 * Making it takes time for each case. So if there are many it is made less often, and waits longer for a pause between
 * changes, as it would slow down the requests that make them: 10,000 cases every 3 s.
 */
const EVERY_MS_PER_CASE = 0.3
/** What a person saved only just now is left alone for a moment. */
const QUIET_MS = 2000

/**
 * Neither makes the memory root nor takes the place of a file that is not its own, which is said
 * once. The same cases give the same bytes, and the same bytes are not written again.
 */
export function createIndexFile(deps: IndexFileDeps): IndexFile {
  const { layout, rows, log, now = Date.now, everyMs = 1000 } = deps
  const path = join(layout.memoryRoot, 'index.md')
  let isStale = false
  let isClosed = false
  let staleSince = 0
  let lastChange = 0
  /** How long the next write waits for a pause, at most. */
  let patienceMs = 0
  let notBefore = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let written = ''
  let said = ''

  function changed(): void {
    if (isClosed) return
    lastChange = performance.now()
    if (!isStale) staleSince = lastChange
    isStale = true
    timer ??= setTimeout(beginInPause, Math.max(everyMs, notBefore - lastChange)).unref()
  }

  function beginInPause(): void {
    const now = performance.now()
    const waitMs = Math.min(lastChange + everyMs - now, staleSince + patienceMs - now)
    if (waitMs < 1) void begin()
    else timer = setTimeout(beginInPause, waitMs).unref()
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
    try {
      const found = await allRows(rows)
      patienceMs = found.length * EVERY_MS_PER_CASE
      say(await replace(await indexText(found)))
    } catch (error) {
      if (error instanceof AppError && error.code === 'changed_meanwhile') changed()
      else say(`index.md could not be written: ${error instanceof Error ? error.message : error}`)
    }
    notBefore = performance.now() + patienceMs
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
    const why = (await deps.whyNot?.()) ?? ''
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

/** So many rows are read, or lines put together, without a pause. */
const RUN = 200

/** The newest first. What changes while they are read makes the file stale again. */
async function allRows(rows: IndexFileDeps['rows']): Promise<IndexRow[]> {
  const all: IndexRow[] = []
  for (let last: Place | null = null; ; ) {
    const found = rows(last, RUN)
    for (const { summary } of found) all.push(rowOf(JSON.parse(summary)))
    last = found.at(-1) ?? null
    if (!last || found.length < RUN) return all
    await yieldIfBusy()
  }
}

function rowOf({
  id,
  title,
  created_at,
  state,
  type,
  outcome,
  needs,
  problems,
}: TriageRow): IndexRow {
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

/** The bytes of `index.md`, of rows with the newest first. */
async function indexText(all: readonly IndexRow[]): Promise<Buffer> {
  const needing = all.filter(({ needs }) => needs !== '').length
  const withProblems = all.filter(({ problems }) => problems > 0).length
  const pieces = [Buffer.from(indexTop(all.length, needing, withProblems))]
  for (const state of CASE_STATES) {
    const rows = all.filter((row) => row.state === state)
    if (rows.length === 0) continue
    pieces.push(Buffer.from(indexTableTop(state, rows.length)))
    for (let at = 0; at < rows.length; at += RUN) {
      const lines = rows.slice(at, at + RUN).map(indexLine)
      pieces.push(Buffer.from(lines.join('')))
      await yieldIfBusy()
    }
  }
  return Buffer.concat(pieces)
}
