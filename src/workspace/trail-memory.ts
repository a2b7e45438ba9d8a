/** What each audit trail said when this machine last wrote it, in the state folder. */

import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { syncDescriptor } from '../files/descriptors.ts'
import { syncFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { storageError } from '../files/storage-error.ts'
import { readTrailLine, trailLineText } from '../markdown/trail.ts'
import { type ServiceFields, type Session, serviceFields } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import { gitNamesOf } from './git/git-contents.ts'

/** What the trail of a session said when this machine last wrote it, or last accepted it from git. */
export interface RememberedTrail {
  lines: TrailLine[]
  fields: ServiceFields
  /** The names that git would give to the file as it was then. */
  gitNames: string[]
  /** The same for the file before the last write. If we crashed after remembering, the file is still that one. */
  gitNamesBefore: string[]
}

/**
 * Remembers the trails of the sessions that this machine writes, in the state folder: so that lines which somebody
 * adds, changes or removes while no service runs are noticed by the next start. One file for each session, to which
 * each write of the session appends before the session's own file is replaced.
 */
export interface TrailMemory {
  recall(caseId: string, sessionId: string): RememberedTrail | null
  /** Resolves when it is on the disk. `keptLines`: how many lines the trail had before this write. */
  remember(session: Session, text: string, keptLines: number): Promise<void>
  /** Replaces what is remembered by a trail that came from git; does nothing for a session that is not remembered. */
  accept(session: Session, text: string): Promise<void>
  forget(caseId: string): void
}

/** Its file has one such line of JSON for each write. */
interface Entry {
  /** Keep this many of the earlier lines, then append `lines`. */
  at: number
  lines: string[]
  fields: ServiceFields
  git: string[]
}

export function createTrailMemory(folder: string): TrailMemory {
  const pathOf = (caseId: string, sessionId: string) => join(folder, caseId, sessionId)

  async function append(session: Session, text: string, keptLines: number): Promise<void> {
    const path = pathOf(session.case_id, session.id)
    const size = sizeOf(path) ?? 0
    const isNew = size === 0
    const from = isNew ? 0 : keptLines
    const entry: Entry = {
      at: from,
      lines: session.trail.slice(from).map(trailLineText),
      fields: serviceFields(session),
      git: gitNamesOf(text),
    }
    try {
      if (isNew) mkdirSync(join(folder, session.case_id), { recursive: true, mode: 0o700 })
      const fd = openSync(path, 'a', 0o600)
      try {
        // the leading line break ends a line that a crash left half-written
        writeFileSync(fd, `\n${JSON.stringify(entry)}\n`)
        await syncDescriptor(fd)
      } catch (error) {
        ftruncateSync(fd, size)
        throw error
      } finally {
        closeSync(fd)
      }
      if (isNew) await syncFolder(join(folder, session.case_id))
    } catch (error) {
      throw storageError(error, path)
    }
  }

  return {
    recall(caseId, sessionId) {
      const text = textOf(pathOf(caseId, sessionId))
      return text === null ? null : trailIn(text)
    },
    remember: append,
    async accept(session, text) {
      if (sizeOf(pathOf(session.case_id, session.id)) !== null) await append(session, text, 0)
    },
    forget(caseId) {
      rmSync(join(folder, caseId), { recursive: true, force: true })
    },
  }
}

/** For commands that only read a workspace: nothing is written. */
export function readTrailMemory(folder: string): TrailMemory {
  const { recall } = createTrailMemory(folder)
  return { recall, async remember() {}, async accept() {}, forget() {} }
}

/** Null if the file is not a valid trail: then the session counts as not remembered. */
function trailIn(text: string): RememberedTrail | null {
  let lines: string[] = []
  let last: Entry | null = null
  let gitNamesBefore: string[] = []
  for (const line of text.split('\n')) {
    const entry = line === '' ? null : entryIn(line)
    if (!entry) continue
    if (entry.at > lines.length) return null
    lines = [...lines.slice(0, entry.at), ...entry.lines]
    gitNamesBefore = last?.git ?? []
    last = entry
  }
  const read = lines.map((line) => readTrailLine(line)).filter((line) => line !== null)
  if (!last || read.length < lines.length) return null
  return { lines: read, fields: last.fields, gitNames: last.git, gitNamesBefore }
}

/** Null for a line that a crash cut off: the session file was not written either. */
function entryIn(line: string): Entry | null {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function textOf(path: string): string | null {
  if (sizeOf(path) === null) return null
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}
