import { join } from 'node:path'
import { writeDurable } from '../files/durable-write.ts'
import { isFolder } from '../files/folder-names.ts'
import { readRegular } from '../files/safe-read.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import { INDEX_SEEN_BY_GIT, isIndexSeenByGit } from '../git/seen-by-git.ts'
import { INDEX_MARKER, indexLine, indexTableTop, indexTop } from '../markdown/case-index.ts'
import { AppError } from '../model/app-error.ts'
import { CASE_STATES } from '../model/case-state.ts'
import { NEEDS_YOU } from '../model/state-groups.ts'
import type { TriageRow } from '../model/triage-row.ts'
import type { Ownership } from '../state/owner/ownership.ts'
import type { CaseLists } from './index/lists.ts'
import type { Layout } from './layout.ts'

/** Writes `memory/index.md`: the cases by state, for people who browse the files. */
export interface IndexFile {
  /** Writes the file once this was not called for a while. Call it on every change. */
  writeSoon(): void
  /** Writes the file now, if it is outdated. */
  write(): Promise<void>
  /** Writes what changed a last time and ignores later changes. */
  close(): Promise<void>
}

interface IndexFileDeps {
  layout: Pick<Layout, 'memoryRoot'>
  lists: Pick<CaseLists, 'newest'>
  ownership: Pick<Ownership, 'lost'>
  /** `indexFile`: how long nothing must change before the file is written, in ms. */
  limits: { indexFile: number }
  log(line: string): void
}

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Does not create the memory root, and does not replace a file that the service did not write; the latter is logged
 * once. The same cases give the same bytes, which are not written again.
 */
export function createIndexFile(deps: IndexFileDeps): IndexFile {
  const { layout, lists, ownership, limits, log } = deps
  const path = join(layout.memoryRoot, 'index.md')
  let isClosed = false
  let timer: NodeJS.Timeout | null = null
  let writing = Promise.resolve()
  let isSeenByGit: Promise<boolean> | null = null
  let lastLogged = ''

  function writeSoon(): void {
    if (isClosed) return
    if (timer) timer.refresh()
    else timer = setTimeout(() => void write(), limits.indexFile).unref()
  }

  function write(): Promise<void> {
    if (isClosed) return writing
    if (timer) clearTimeout(timer)
    timer = null
    writing = writing.then(writeOnce)
    return writing
  }

  async function writeOnce(): Promise<void> {
    try {
      const why = await replace(await indexText(lists.newest({}, null, null)))
      logOnce(why === '' ? '' : `index.md is not written: ${why}`)
    } catch (error) {
      if (error instanceof AppError && error.code === 'changed_meanwhile') writeSoon()
      else
        logOnce(`index.md could not be written: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Replaces the file. Returns why it must not, or an empty string. */
  async function replace(bytes: Buffer): Promise<string> {
    if (ownership.lost.aborted) return ownership.lost.reason.message
    if (!(await isFolder(layout.memoryRoot))) return ''
    isSeenByGit ??= isIndexSeenByGit(layout.memoryRoot)
    if (await isSeenByGit) return INDEX_SEEN_BY_GIT
    const present = await readRegular(path, { maxBytes: MAX_BYTES })
    if (!present.ok && present.reason !== 'missing') {
      return `something else has this name (${present.detail})`
    }
    if (present.ok && !isOurs(present.bytes)) {
      return "the existing file is not the service's. Rename it to let the service write one."
    }
    if (present.ok && present.bytes.equals(bytes)) return ''
    const expect = present.ok ? present.bytes : null
    await writeDurable(path, bytes, { expect, within: layout.memoryRoot })
    return ''
  }

  function logOnce(line: string): void {
    if (line && line !== lastLogged) log(line)
    lastLogged = line
  }

  return {
    writeSoon,
    write,
    async close() {
      const last = timer ? write() : writing
      isClosed = true
      await last
    },
  }
}

function isOurs(bytes: Buffer): boolean {
  const [line] = bytes.toString('utf8', 0, INDEX_MARKER.length + 2).split(/\r?\n/)
  return line === INDEX_MARKER
}

/** Number of rows processed without a pause. */
const RUN = 200

/** Builds the bytes of `index.md` from rows, newest first. */
async function indexText(all: readonly TriageRow[]): Promise<Buffer> {
  const needing = all.filter(({ needs }) => needs && NEEDS_YOU.includes(needs.kind)).length
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
