/** What sets a workspace up, as steps. All are planned before the first one writes. */

import { isAbsolute, relative } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { readRegular, stampOf } from '../files/safe-read.ts'
import { storageError } from '../files/storage-error.ts'
import { writeObstacle } from '../files/write-obstacle.ts'
import { AppError } from '../model/app-error.ts'

/** A file or folder that a step creates or replaces. */
export interface PlannedFile {
  path: string
  /** What it will contain; undefined for a folder, or a file that git makes, which does not exist yet. */
  bytes?: Uint8Array
}

export interface Step {
  /** What it will do, as lines; empty if the operator need not know. */
  planned: readonly string[]
  /** What it leaves alone, and why. */
  notes?: readonly string[]
  files: readonly PlannedFile[]
  /** Other paths where it must be able to write: in git's folder, and in this machine's state. */
  places?: readonly string[]
  /** What to do instead if it cannot write, as a sentence. */
  instead?: string
  /** Returns what it did, as lines. */
  write(): Promise<readonly string[]>
}

/** A step that writes nothing, and says why. */
export function noteStep(...notes: string[]): Step {
  return { planned: [], notes, files: [], write: async () => [] }
}

/** Throws `storage_failed` if a step could not write one of its files, as far as permissions show. */
export async function requireWritable(steps: readonly Step[]): Promise<void> {
  for (const { files, places = [], instead } of steps) {
    for (const path of [...files.map((file) => file.path), ...places]) {
      const obstacle = await writeObstacle(path)
      if (obstacle === null) continue
      const { why, remedy } = obstacle
      throw new AppError(
        'storage_failed',
        `${path} cannot be written: ${why}. Nothing was written. ${remedy}, then try again.${instead === undefined ? '' : ` ${instead}`}`,
      )
    }
  }
}

/** Carries the steps out, and returns what they did. If one fails, the error says which files were written by then. */
export async function writeSteps(steps: readonly Step[], root: string): Promise<string[]> {
  const done: string[] = []
  const written: string[] = []
  for (const [index, { files, write }] of steps.entries()) {
    try {
      done.push(...(await write()))
      written.push(...files.map(({ path }) => path))
    } catch (error) {
      const notWritten: string[] = []
      for (const file of files) {
        const list = (await isWritten(file)) ? written : notWritten
        list.push(file.path)
      }
      const later = steps.slice(index + 1).flatMap((step) => step.files.map(({ path }) => path))
      throw unfinished(error, written, [...notWritten, ...later], root)
    }
  }
  return done
}

/** Whether the file is as planned, though the step failed: it may have failed only when it synced the folder. */
async function isWritten({ path, bytes }: PlannedFile): Promise<boolean> {
  if (bytes === undefined) return (await stampOf(path)) !== null
  try {
    const read = await readRegular(await realPathOf(path), { maxBytes: bytes.length })
    return read.ok && read.bytes.equals(bytes)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP', 'EACCES')) return false
    throw error
  }
}

function unfinished(
  error: unknown,
  written: readonly string[],
  notWritten: readonly string[],
  root: string,
): unknown {
  const names = (paths: readonly string[]) => paths.map((path) => shownPath(root, path)).join(', ')
  const rest = notWritten.length === 0 ? '' : ` Not written: ${names(notWritten)}.`
  const outcome =
    written.length === 0
      ? `None of these files was written: ${names(notWritten)}.`
      : `Written: ${names(written)}.${rest} If you do this again, what is written stays, and the rest follows.`
  const cause = error instanceof AppError ? error : storageError(error, notWritten[0] ?? root)
  if (cause instanceof AppError) {
    const { code, message, errors, extra } = cause
    return new AppError(code, `${message} ${outcome}`, { errors, extra, cause })
  }
  return new Error(`${String(cause)} ${outcome}`, { cause })
}

/** Relative to the workspace, or absolute outside of it. */
export function shownPath(root: string, path: string): string {
  return isAbsolute(path) && isWithin(root, path) ? relative(root, path) : path
}

/** The files of the steps, with these paths. */
export function shownFiles(steps: readonly Step[], root: string): string[] {
  return steps.flatMap(({ files }) => files.map(({ path }) => shownPath(root, path)))
}
