/** Remembers in the state folder what each audit trail contained when this machine last wrote it. */

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
import { gitNamesOf } from '../git/contents.ts'
import { readTrailLine, trailLineText } from '../markdown/trail.ts'
import { type ServiceFields, type Session, serviceFields } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'

/** The audit trail of a session when this machine last wrote it, or last accepted it from git. */
export interface RememberedTrail {
  lines: TrailLine[]
  fields: ServiceFields
  /** Git object names of the file at that time. */
  gitNames: string[]
  /**
   * Git object names before the last write. After a crash between remembering and writing, the file still has one of
   * these.
   */
  gitNamesBefore: string[]
}

/**
 * Remembers the audit trails of sessions that this machine writes, so that the next start detects changes made while
 * no service ran. Each session has one file. Each write appends to it before the session's own file is replaced.
 */
export interface TrailMemory {
  recall(caseId: string, sessionId: string): RememberedTrail | null
  /** Resolves when it is stored. `keptLines` is the number of lines before this write. */
  remember(session: Session, text: string, keptLines: number): Promise<void>
  /** Replaces the remembered trail by one from git; does nothing for an unknown session. */
  accept(session: Session, text: string): Promise<void>
  forget(caseId: string): void
}

/** One line of JSON in the file, for each write. */
interface Entry {
  /** Keep this many earlier lines, then append `lines`. */
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

/** A trail memory for commands that only read a workspace. */
export function readTrailMemory(folder: string): TrailMemory {
  const { recall } = createTrailMemory(folder)
  return { recall, async remember() {}, async accept() {}, forget() {} }
}

/** Returns null if the file is invalid: then the session counts as unknown. */
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

/** Returns null for a line cut off by a crash: then the session file was not written either. */
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
