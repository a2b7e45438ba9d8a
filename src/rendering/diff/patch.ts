import { parsePatch, type StructuredPatch } from 'diff'
import { counted } from '../../model/amounts.ts'
import { countLines, type DiffHunk, type FileDiff, numberedLines } from './shape.ts'

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

/** Of a binary file's part all is head. Names have room in this. */
const MAX_HEAD = 16 * 1024

type Head = Pick<FileDiff, 'file' | 'from' | 'status' | 'binary'>

/** What a file's part of a patch says before its first hunk; what it cannot read is said in `notes`. */
function readHead(whole: string, notes: string[]): Head {
  const head = beginningOf(whole)
  const patch = parsed(head, notes)
  const before = nameOf(patch?.oldFileName)
  const after = nameOf(patch?.newFileName)
  if (!before && !after) {
    const file = head.split('\n')[0]!.replace(/^diff --git /, '')
    return { file, from: null, status: 'changed', binary: false }
  }
  const { isCreate, isDelete, isRename, oldMode, newMode } = patch!
  if (oldMode && newMode) notes.push(`The mode changed from ${oldMode} to ${newMode}.`)
  const status = isCreate ? 'new' : isDelete ? 'deleted' : isRename ? 'renamed' : 'changed'
  return {
    file: after ?? before!,
    from: isRename ? before : null,
    status,
    binary: patch!.isBinary ?? /^GIT binary patch$/m.test(head),
  }
}

/** In whole lines, unless the first alone is longer. */
function beginningOf(head: string): string {
  if (head.length <= MAX_HEAD) return head
  const end = head.lastIndexOf('\n', MAX_HEAD - 1) + 1
  return head.slice(0, end || Math.min(nextLine(head, 0), MAX_HEAD)).toWellFormed()
}

function parsed(head: string, notes: string[]): StructuredPatch | undefined {
  try {
    return parsePatch(head)[0]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    notes.push(`The head of this file's part could not be read: ${reason}.`)
    return undefined
  }
}

/** Without git's `a/` and `b/`; null for no file. */
function nameOf(name: string | undefined): string | null {
  if (!name || name === '/dev/null') return null
  return name.replace(/^[ab]\//, '')
}

interface HunkRead {
  hunk: DiffHunk
  /** Where the reading stopped. */
  end: number
  /** How many lines were read, with the header. */
  taken: number
  /** How many of them could not be read; null if none could, for want of line numbers. */
  strange: number | null
}

/** The hunk whose header is at `at`, with at most as many lines. */
function readHunk(section: string, at: number, most: number): HunkRead {
  let end = nextLine(section, at)
  const header = lineAt(section, at, end)
  const raw: string[] = []
  while (end < section.length && raw.length < most && !section.startsWith('@@ ', end)) {
    const next = nextLine(section, end)
    raw.push(lineAt(section, end, next))
    end = next
  }
  const [, before, after] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(header) ?? []
  const taken = 1 + raw.length
  if (!before || !after) return { hunk: { header, lines: [] }, end, taken, strange: null }
  const start = { old: Number(before), new: Number(after) }
  const { lines, strange } = numberedLines(raw, start)
  return { hunk: { header, lines }, end, taken, strange }
}

function lineAt(section: string, from: number, to: number): string {
  return section.slice(from, section[to - 1] === '\n' ? to - 1 : to)
}
/** Pure. Where the next line begins that starts so, from `at` on; the length of the text if none does. */
function lineFrom(text: string, at: number, start: string): number {
  if (at === 0 && text.startsWith(start)) return 0
  const found = text.indexOf(`\n${start}`, Math.max(0, at - 1))
  return found < 0 ? text.length : found + 1
}

/** Pure. Where the line after the one at `at` begins. */
function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Pure. How many lines of hunks stand from `at` on, without making a string of each: there may be millions. */
function signsFrom(
  text: string,
  at: number,
): { lines: number; additions: number; deletions: number } {
  const signs = { lines: 0, additions: 0, deletions: 0 }
  for (let line = at; line < text.length; line = nextLine(text, line)) {
    const sign = text[line]
    if (sign === '+') signs.additions++
    if (sign === '-') signs.deletions++
    if (sign === '+' || sign === '-' || sign === ' ') signs.lines++
  }
  return signs
}
