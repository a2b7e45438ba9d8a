import { textsOf } from './before-run-text.ts'
import type { Session } from './session.ts'
import { lastOf } from './trail.ts'

/** How a session left a file: enough to tell whether a commit has the same. */
export interface FileResult {
  /** The beginning of git's id of the file's bytes; null if the session deleted it. */
  object: string | null
  /** The beginning of the hash of its changed lines; null if it has none, such as a picture. */
  change: string | null
}

export interface SessionResults {
  /** By the name of the file, relative to the working folder. */
  files: ReadonlyMap<string, FileResult>
  /** Whether more files changed than are listed. */
  isCut: boolean
}

const DIGITS = 20
const ENTRY = /^([0-9a-f]{20}|-) ([0-9a-f]{20}|-) (.+)$/s

/** An entry of the audit line `diff_taken`. */
export function resultEntry(file: string, { object, change }: FileResult): string {
  return `${object?.slice(0, DIGITS) ?? '-'} ${change?.slice(0, DIGITS) ?? '-'} ${file}`
}

/** Null if the session has no diff, or is one of a version that did not write its results. */
export function sessionResults({ trail }: Pick<Session, 'trail'>): SessionResults | null {
  const { results, results_cut } = lastOf(trail, 'diff_taken')?.fields ?? {}
  if (!Array.isArray(results)) return null
  const entries = textsOf(results).flatMap((text): [string, FileResult][] => {
    const [, object, change, file] = ENTRY.exec(text) ?? []
    if (file === undefined) return []
    return [[file, { object: known(object), change: known(change) }]]
  })
  return { files: new Map(entries), isCut: results_cut === true }
}

function known(digits: string | undefined): string | null {
  return digits === undefined || digits === '-' ? null : digits
}
