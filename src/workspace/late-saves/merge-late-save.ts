/** Merges a late save into the file that replaced the editor's file, or writes a conflict copy beside it. */

import { basename, dirname, join } from 'node:path'
import { writeDurable } from '../../files/durable-write.ts'
import { isFolder, proofIds, sessionNumbers } from '../../files/folder-names.ts'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { decodeUtf8, readRegular } from '../../files/safe-read.ts'
import { CASE_FILE, MAX_CASE_BYTES, readCase } from '../../markdown/case-file.ts'
import { holdsChange, mergeLines, type Versions } from '../../markdown/merge.ts'
import { mergeRecord, mergeSession } from '../../markdown/merge-record.ts'
import { MAX_PROOF_BYTES, readProof } from '../../markdown/proof-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../../markdown/session-file.ts'
import { AppError } from '../../model/app-error.ts'
import { isSealed } from '../../model/session.ts'
import { makeInnerFolder } from '../case-making.ts'
import type { Layout } from '../layout.ts'
import { MAX_MEMORY_BYTES } from '../memory-files.ts'
import { keepConflictCopy } from './conflict-copy.ts'
import type { FileOfCase, ReplacedFileTrackers } from './pre-images.ts'

/** What an editor saved into a file that the service had just replaced. */
export interface LateSave extends FileOfCase {
  /** The bytes that both the service and the editor started from; null if unknown. */
  base: Buffer | null
  theirs: Buffer
}

export interface LateSaveMergeDeps extends ReplacedFileTrackers {
  layout: Layout
  mutex: KeyedMutex
  now(): string
  log(line: string): void
}

/** `busy`: nothing was done because the file is being saved again. `case_deleted`: the case folder is gone. */
export type MergeResult = 'safe' | 'busy' | 'case_deleted'

/**
 * Merges a late save into the file. If both changed the same lines, it writes a conflict copy beside the file. Takes
 * the case's mutex. Returns `busy` only if `isPatient`.
 */
export type MergeLateSave = (save: LateSave, isPatient: boolean) => Promise<MergeResult>

export function createLateSaveMerge(deps: LateSaveMergeDeps): MergeLateSave {
  const { layout, mutex, log } = deps

  async function restore(save: LateSave, isPatient: boolean): Promise<MergeResult> {
    const { id, file, theirs } = save
    const within = layout.caseFolder(id)
    const path = join(within, file)
    if (!(await isFolder(within))) return 'case_deleted'
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const ours = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
      const isHalf = !ours.ok || isHalfSaved(ours.bytes, save.base)
      if (isHalf && isPatient) return 'busy'
      if (isHalf) break
      const merged = ours.bytes.equals(theirs) ? theirs : await mergedBytes(save, ours.bytes)
      if (merged === null) break
      if (merged.equals(ours.bytes)) return 'safe'
      if (await written(path, merged, ours.bytes)) {
        log(`merged a late save of ${file} in case ${id}`)
        return 'safe'
      }
    }
    if (dirname(file) !== '.') await makeInnerFolder(dirname(path))
    const name = await keepConflictCopy(path, theirs, { time: deps.now(), within })
    log(
      `a late save of ${file} in case ${id} could not be merged; it was saved beside the file as ${name}`,
    )
    return 'safe'

    async function written(path: string, bytes: Buffer, expect: Buffer): Promise<boolean> {
      try {
        await writeDurable(path, bytes, { expect, within, tracker: deps.trackerFor(save, expect) })
        return true
      } catch (error) {
        if (error instanceof AppError && error.code === 'changed_meanwhile') return false
        throw error
      }
    }
  }

  return (save, isPatient) => mutex.run(save.id, () => restore(save, isPatient))
}

/** Empty or without its last newline: an editor is still writing it. */
function isHalfSaved(bytes: Buffer, before: Buffer | null): boolean {
  const isClosed = (text: Buffer | null) => text?.at(-1) === 0x0a
  return bytes.length === 0 || (isClosed(before) && !isClosed(bytes))
}

/** After so many attempts (an editor that saves continuously) a conflict copy is written. */
const ATTEMPTS = 5

/** Returns null if the changes conflict, or the result would not be a valid record. */
async function mergedBytes({ id, file, base, theirs }: LateSave, ours: Buffer) {
  const texts = [base ?? theirs, ours, theirs].map((bytes) => decodeUtf8(bytes))
  const [before, present, saved] = texts.map((decoded) => (decoded.ok ? decoded.text : null))
  if (base === null || before == null || present == null || saved == null) return null
  const { merge, maxBytes, isSound } = recordOf(id, file)
  const versions = { base: before, ours: present, theirs: saved }
  const text = merge(versions)
  if (text === null && holdsChange(versions)) return ours
  if (text === null || Buffer.byteLength(text) > maxBytes || !(await isSound(text))) return null
  return Buffer.from(text)
}

interface Kind {
  merge(versions: Versions): string | null
  maxBytes: number
  isSound(text: string): boolean | Promise<boolean>
}

function recordOf(id: string, file: string): Kind {
  const created_at = new Date(0).toISOString()
  const name = basename(file)
  if (file === CASE_FILE) {
    const isSound = async (text: string) =>
      (await readCase(text, { id, created_at })).value !== null
    return { merge: mergeRecord, maxBytes: MAX_CASE_BYTES, isSound }
  }
  const [number] = file === `sessions/${name}` ? sessionNumbers([name]) : []
  if (number !== undefined) {
    const origin = { case_id: id, number, case_title: '', created_at }
    const isSound = (text: string) => {
      const { value } = readSession(text, origin)
      return value !== null && !isSealed(value)
    }
    return { merge: mergeSession, maxBytes: MAX_SESSION_BYTES, isSound }
  }
  const [proof] = file === `proof/${name}` ? proofIds([name]) : []
  if (proof !== undefined) {
    const origin = { id: proof, case_id: id, created_at }
    const isSound = (text: string) => readProof(text, origin).value !== null
    return { merge: mergeRecord, maxBytes: MAX_PROOF_BYTES, isSound }
  }
  return { merge: mergeLines, maxBytes: MAX_MEMORY_BYTES, isSound: () => true }
}
