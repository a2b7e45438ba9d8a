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

/** Writes `memory/index.md`: the cases by state, for people who browse the files. */
export interface IndexFile {
  /** Call it on every change. The file follows within a second or two, later if there are many cases. */
  changed(): void
  /** Writes the file now if it is outdated. */
  flush(): Promise<void>
  /** Writes the file a last time and ignores later changes. */
  close(): Promise<void>
}

interface IndexFileDeps {
  layout: Pick<Layout, 'memoryRoot'>
  /** Returns case rows after a position, newest first. */
  rows: CaseLists['newestRows']
  log: (line: string) => void
  now?: () => number
  /** Why the file must not be written; empty if it may. */
  whyNot?: () => Promise<string>
  /** Minimum time between two writes. */
  everyMs?: number
}

const MAX_BYTES = 64 * 1024 * 1024
/**
 * Building the file takes time per case. With many cases it is written less often and waits longer for a pause, so
 * that it does not slow down requests: for 10,000 cases every 3 s.
 */
const EVERY_MS_PER_CASE = 0.3
/** A file that a person just saved is not overwritten for this time. */
const QUIET_MS = 2000

/**
 * Does not create the memory root and does not replace a file that the service did not write; the latter is logged
 * once. The same cases give the same bytes, which are not written again.
 */
export function createIndexFile(deps: IndexFileDeps): IndexFile {
  const { layout, rows, log, now = Date.now, everyMs = 1000 } = deps
  const path = join(layout.memoryRoot, 'index.md')
  let isStale = false
  let isClosed = false
  let staleSince = 0
  let lastChange = 0
  /** Maximum time that the next write waits for a pause. */
  let maxDelayMs = 0
  let notBefore = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let written = ''
  let lastLogged = ''

  function changed(): void {
    if (isClosed) return
    lastChange = performance.now()
    if (!isStale) staleSince = lastChange
    isStale = true
    timer ??= setTimeout(beginInPause, Math.max(everyMs, notBefore - lastChange)).unref()
  }

  function beginInPause(): void {
    const now = performance.now()
    const waitMs = Math.min(lastChange + everyMs - now, staleSince + maxDelayMs - now)
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
      maxDelayMs = found.length * EVERY_MS_PER_CASE
      logOnce(await replace(await indexText(found)))
    } catch (error) {
      if (error instanceof AppError && error.code === 'changed_meanwhile') changed()
      else
        logOnce(`index.md could not be written: ${error instanceof Error ? error.message : error}`)
    }
    notBefore = performance.now() + maxDelayMs
  }

  /** Replaces the file. Returns why it could not, or an empty string. */
  async function replace(bytes: Buffer): Promise<string> {
    if (!(await isFolder(layout.memoryRoot))) return ''
    const present = await readRegular(path, { maxBytes: MAX_BYTES })
    if (!present.ok && present.reason !== 'missing') {
      return `index.md is not written, because something else has this name (${present.detail})`
    }
    if (present.ok && !isOurs(present.bytes)) {
      return "index.md is not written: the existing file is not the service's. Rename it to let the service write one."
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

  function logOnce(line: string): void {
    if (line && line !== lastLogged) log(line)
    lastLogged = line
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

/** Number of rows processed without a pause. */
const RUN = 200

/** Reads all rows, newest first. Changes while they are read make the file outdated again. */
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

/** Builds the bytes of `index.md` from rows, newest first. */
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
