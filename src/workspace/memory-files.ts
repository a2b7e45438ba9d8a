/** Reads and writes the memory files of a case by name: notes that people and agents write. */

import { basename, dirname, join, relative } from 'node:path'
import { writeDurable } from '../files/durable-write.ts'
import { kindsNow } from '../files/folder-names.ts'
import { stampNow } from '../files/read-now.ts'
import { type ReadResult, readRegular } from '../files/safe-read.ts'
import { CASE_FILE } from '../markdown/case-file.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { isMemoryName, MEMORY_NAME_RULE } from '../model/memory-name.ts'
import { SESSION_FILE } from '../model/name-patterns.ts'
import type { ReplacedFileTrackers } from './late-saves/trackers.ts'
import type { Layout } from './layout.ts'

export const MAX_MEMORY_BYTES = 10 * 1024 * 1024

/** What a memory file name refers to. */
export type MemoryName =
  | { kind: 'case' }
  | { kind: 'session'; number: number }
  | { kind: 'notes'; filename: string }

/** Resolves a name; `latest.md` is the newest session. Throws `invalid_filename` or `not_found`. */
export function memoryName(layout: Layout, contents: CaseContents, filename: string): MemoryName {
  if (!isMemoryName(filename)) throw invalidName(filename, `expected ${MEMORY_NAME_RULE}`)
  for (const reserved of ['case.md', 'latest.md']) {
    if (filename.toLowerCase() === reserved && filename !== reserved) {
      throw invalidName(
        filename,
        `expected "${reserved}" in lower case, as some file systems ignore case`,
      )
    }
  }
  if (filename === 'case.md') return { kind: 'case' }
  const newest = contents.sessions.at(-1)?.number
  const number = filename === 'latest.md' ? newest : Number(SESSION_FILE.exec(filename)?.[1])
  if (filename !== 'latest.md' && !SESSION_FILE.test(filename)) {
    return {
      kind: 'notes',
      filename: noteNameOnDisk(layout.caseFolder(contents.case.id), filename),
    }
  }
  if (number === undefined || !contents.sessions.some((session) => session.number === number)) {
    throw new AppError('not_found', `Case ${contents.case.id} has no session file ${filename}.`)
  }
  return { kind: 'session', number }
}

/** Throws `invalid_filename` for the name of a conflict copy, which is no memory file. It can be read. */
export function mustBeWritten(filename: string): void {
  if (!isConflictCopy(filename)) return
  throw invalidName(filename, 'expected a name that no program gives a copy of a case file')
}

/** Returns the name on disk of a note. Throws `invalid_filename` if it is case.md or history.md by another spelling. */
function noteNameOnDisk(caseFolder: string, filename: string): string {
  const isFolding = ignoresCase(caseFolder)
  const onDisk = /[^ -~]/.test(filename) || isFolding ? nameOnDisk(caseFolder, filename) : filename
  const actual = isFolding ? onDisk.toLowerCase() : onDisk
  if (actual !== filename && (actual === CASE_FILE || actual === HISTORY_FILE)) {
    throw invalidName(filename, `expected "${actual}", which is the same file on this disk`)
  }
  return onDisk
}

/** Whether the disk finds a file by its name in any case, as those of macOS and Windows do. */
function ignoresCase(caseFolder: string): boolean {
  const upper = join(dirname(caseFolder), basename(caseFolder).toUpperCase())
  return stampNow(upper)?.ino === stampNow(caseFolder)?.ino
}

/** Returns the listed name of the file that this name opens, which may differ in case or Unicode normal form. */
function nameOnDisk(caseFolder: string, filename: string): string {
  const kinds = kindsNow(caseFolder)
  if (kinds === null || kinds === 'hidden' || kinds.has(filename)) return filename
  const names = [...kinds.keys()]
  const composed = filename.normalize()
  const sameText = names.find((name) => name.normalize() === composed)
  if (sameText !== undefined) return sameText
  const opened = stampNow(join(caseFolder, filename))
  if (opened === null) return filename
  return names.find((name) => stampNow(join(caseFolder, name))?.ino === opened.ino) ?? filename
}

function invalidName(filename: string, expected: string): AppError {
  const got = `"${filename.slice(0, 120).toWellFormed()}"`
  return new AppError('invalid_filename', `${got} is not a valid memory file name: ${expected}.`, {
    errors: [{ path: 'filename', message: `${expected}; got ${got}` }],
  })
}

export function memoryPath(layout: Layout, id: string, name: MemoryName): string {
  if (name.kind === 'case') return layout.caseFile(id)
  if (name.kind === 'session') return layout.sessionFile(id, name.number)
  return layout.memoryFile(id, name.filename)
}

export async function readMemory(
  layout: Layout,
  id: string,
  name: MemoryName,
): Promise<ReadResult> {
  return readRegular(memoryPath(layout, id, name), {
    maxBytes: MAX_MEMORY_BYTES,
    within: layout.caseFolder(id),
  })
}

/** Replaces a memory file with exactly these bytes. `present` is the current content, null if there is no file. */
export async function writeMemory(
  { layout, lateSaves }: { layout: Layout; lateSaves: ReplacedFileTrackers },
  id: string,
  name: MemoryName,
  { bytes, present }: { bytes: Uint8Array; present: Buffer | null },
): Promise<void> {
  const within = layout.caseFolder(id)
  const path = memoryPath(layout, id, name)
  if (present === null) return writeDurable(path, bytes, { expect: null, within })
  const tracker = lateSaves.trackerFor({ id, file: relative(within, path) }, present)
  await writeDurable(path, bytes, { expect: present, tracker, within })
}
