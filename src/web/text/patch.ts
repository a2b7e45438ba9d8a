import { counted } from '../../model/amounts.ts'
import { countLines, type DiffHunk, type FileDiff } from './diff-shape.ts'
import { readHead } from './patch-head.ts'
import { readHunk } from './patch-hunk.ts'
import { lineFrom, signsFrom } from './patch-lines.ts'

export interface Patch {
  /** Those with the most changed lines first. */
  files: FileDiff[]
  /** What could not be read, and whether the patch was cut. */
  notes: string[]
}

/** A hunk's header counts as a line. */
export interface PatchLimits {
  files: number
  /** Of all files. Those beyond are only counted. */
  lines: number
  /** So that a large file leaves room for those after it. */
  linesOfFile: number
}

const LIMITS: PatchLimits = { files: 500, lines: 20_000, linesOfFile: 4000 }
const CUT = /\n?\[casefile: (the patch was cut here[^\]\n]*)\]\n*$/
const MAX_CUT_NOTE = 1000

/**
 * Pure. Reads a patch as `git diff` writes it, as far as the limits go. Never throws: what it does not
 * understand becomes a note. The counts in hunk headers are not relied on, since a patch may be cut, and
 * what was redacted in it may have had more lines.
 */
export function readPatch(text: string, limits: Partial<PatchLimits> = {}): Patch {
  const { files: maxFiles, lines, linesOfFile } = { ...LIMITS, ...limits }
  const endAt = Math.max(0, text.length - MAX_CUT_NOTE)
  const cut = CUT.exec(text.slice(endAt))
  const whole = cut ? text.slice(0, endAt + cut.index) : text
  const notes = cut ? [`${cut[1]!.replace(/^t/, 'T')}.`] : []
  let at = lineFrom(whole, 0, 'diff --git ')
  if (/\S/.test(whole.slice(0, at))) {
    notes.push('What stands before the first file is no part of a patch.')
  }
  const files: FileDiff[] = []
  let left = 0
  let room = lines
  while (at < whole.length) {
    const end = lineFrom(whole, at + 1, 'diff --git ')
    if (files.length < maxFiles) {
      const { file, taken } = readFile(whole.slice(at, end), Math.min(room, linesOfFile))
      room -= taken
      files.push(file)
    } else left++
    at = end
  }
  if (left > 0) notes.push(`${counted(left, 'more file is', 'more files are')} left out here.`)
  files.sort((a, b) => changed(b) - changed(a) || (a.file < b.file ? -1 : 1))
  return { files, notes }
}

function changed({ additions, deletions }: FileDiff): number {
  return additions + deletions
}

/** With at most `lines` of its lines. */
function readFile(section: string, lines: number): { file: FileDiff; taken: number } {
  const notes: string[] = []
  let at = lineFrom(section, 0, '@@ ')
  const head = readHead(section.slice(0, at), notes)
  const hunks: DiffHunk[] = []
  let taken = 0
  let strange = 0
  let isUnclear = false
  while (at < section.length && taken < lines) {
    const read = readHunk(section, at, lines - taken - 1)
    hunks.push(read.hunk)
    taken += read.taken
    strange += read.strange ?? 0
    isUnclear ||= read.strange === null
    at = read.end
  }
  if (isUnclear) notes.push('A part of it could not be read: its line numbers are missing.')
  if (strange > 0) notes.push(`${counted(strange, 'line')} of it could not be read.`)
  const read = countLines(hunks)
  const rest = signsFrom(section, at)
  const additions = read.additions + rest.additions
  const deletions = read.deletions + rest.deletions
  return { file: { ...head, additions, deletions, hunks, unread: rest.lines, notes }, taken }
}
