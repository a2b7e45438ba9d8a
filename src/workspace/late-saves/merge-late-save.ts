import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeDurable } from '../../files/durable-write.ts'
import { isFolder, proofIds, sessionNumbers } from '../../files/folder-names.ts'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { decodeUtf8, readRegular } from '../../files/safe-read.ts'
import { CASE_FILE, MAX_CASE_BYTES, readCase } from '../../markdown/case-file.ts'
import { hasChange, mergeLines } from '../../markdown/merge.ts'
import { mergeRecord, mergeSession } from '../../markdown/merge-record.ts'
import { MAX_PROOF_BYTES, readProof } from '../../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../../markdown/session-file.ts'
import { AppError } from '../../model/app-error.ts'
import { isSealed } from '../../model/session.ts'
import { makeInnerFolder } from '../case-making.ts'
import type { Layout } from '../layout.ts'
import { MAX_MEMORY_BYTES } from '../memory-files.ts'
import { keepConflictCopy } from './conflict-copy.ts'
import type { FileOfCase, ReplacedFileTrackers } from './trackers.ts'

/** What an editor saved into a file that the service had just replaced. */
export interface LateSave extends FileOfCase {
  /** The bytes that both the service and the editor started from. */
  base: Buffer
  theirs: Buffer
}

export interface MergeDeps extends ReplacedFileTrackers {
  layout: Layout
  mutex: KeyedMutex
  now(): string
  log(line: string): void
}

/** A merge is tried so often while an editor is saving the file, then a conflict copy is written. */
const ATTEMPTS = 5
const PAUSE_MS = 100

/**
 * Merges a late save into the file. If both changed the same lines, or if the file may not be replaced, it writes a
 * conflict copy beside the file. The caller has the case's mutex.
 */
export async function mergeLateSave(
  { layout, now, log, trackerFor }: MergeDeps,
  save: LateSave,
  mayReplace: boolean,
): Promise<void> {
  const { id, file, base, theirs } = save
  const within = layout.caseFolder(id)
  const path = join(within, file)
  const what = `a late save of ${file} in case ${id}`
  if (!(await isFolder(within))) return log(`${what} is gone, as the case was deleted`)
  for (let attempt = 1; mayReplace && attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await delay(PAUSE_MS)
    const ours = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
    if (!ours.ok) break
    if (isHalfSaved(ours.bytes, base)) continue
    const merged = ours.bytes.equals(theirs) ? theirs : await mergedBytes(save, ours.bytes)
    if (merged === null) break
    if (merged.equals(ours.bytes)) return
    if (await replaced(path, merged, ours.bytes)) return log(`merged ${what}`)
  }
  if (dirname(file) !== '.') await makeInnerFolder(dirname(path))
  const name = await keepConflictCopy(path, theirs, { time: now(), within })
  log(`${what} could not be merged; it was saved beside the file as ${name}`)

  async function replaced(path: string, bytes: Buffer, expect: Buffer): Promise<boolean> {
    try {
      await writeDurable(path, bytes, { expect, within, tracker: trackerFor(save, expect) })
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'changed_meanwhile') return false
      throw error
    }
  }
}

/** Empty or without its last newline: an editor is still writing it. */
export function isHalfSaved(bytes: Buffer, before: Buffer): boolean {
  const isClosed = (text: Buffer) => text.at(-1) === 0x0a
  return bytes.length === 0 || (isClosed(before) && !isClosed(bytes))
}

/** Returns null if the changes conflict, or the result would not be a valid record. */
async function mergedBytes({ id, file, base, theirs }: LateSave, ours: Buffer) {
  const texts = [base, ours, theirs].map((bytes) => decodeUtf8(bytes))
  const [before, present, saved] = texts.map((decoded) => (decoded.ok ? decoded.text : null))
  if (before == null || present == null || saved == null) return null
  const versions = { base: before, ours: present, theirs: saved }
  const [number] = sessionNumbers(namesIn('sessions', file))
  const [proof] = proofIds(namesIn('proof', file))
  const isRecord = file === CASE_FILE || proof !== undefined
  const merge = number !== undefined ? mergeSession : isRecord ? mergeRecord : mergeLines
  const text = merge(versions)
  if (text === null) return hasChange(versions) ? ours : null
  return (await isSound(text)) ? Buffer.from(text) : null

  async function isSound(text: string): Promise<boolean> {
    const bytes = Buffer.byteLength(text)
    const made = { case_id: id, created_at: new Date(0).toISOString() }
    if (file === CASE_FILE) {
      return bytes <= MAX_CASE_BYTES && (await readCase(text, { id, ...made })).value !== null
    }
    if (number !== undefined) {
      const { value } = readSession(text, { number, case_title: '', ...made })
      return bytes <= MAX_SESSION_BYTES && value !== null && !isSealed(value)
    }
    if (proof === undefined) return bytes <= MAX_MEMORY_BYTES
    return bytes <= MAX_PROOF_BYTES && readProof(text, { id: proof, ...made }).value !== null
  }
}

/** The name of a file that lies in this folder of a case, else nothing. */
function namesIn(folder: string, file: string): string[] {
  return dirname(file) === folder ? [basename(file)] : []
}
