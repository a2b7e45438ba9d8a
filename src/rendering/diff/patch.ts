import { hash } from 'node:crypto'
import { parsePatch, type StructuredPatch } from 'diff'
import { counted } from '../../model/amounts.ts'
import { countLines, type DiffHunk, type FileDiff, numberedLines } from './shape.ts'

export interface Patch {
  /** Sorted by changed lines, most first. */
  files: FileDiff[]
  /** Which parts could not be read, and whether the patch was cut. */
  notes: string[]
}

export interface PatchLimits {
  files: number
  /** Lines of all files together, counting headers of hunks. Lines beyond are only counted. */
  lines: number
  /** The limit for one file, so that a large one leaves room for others. */
  linesOfFile: number
}

const LIMITS: PatchLimits = { files: 500, lines: 20_000, linesOfFile: 4000 }
const CUT = /\n?\[casefile: (the patch was cut here[^\]\n]*)\]\n*$/
const MAX_CUT_NOTE = 1000

/**
 * Pure. Parses the output of `git diff`, up to the limits. Never throws: a part that it cannot read becomes a note. It
 * ignores the counts in headers of hunks, because a patch may be cut, or lines may be redacted.
 */
export function readPatch(text: string, limits: Partial<PatchLimits> = {}): Patch {
  const { files: maxFiles, lines, linesOfFile } = { ...LIMITS, ...limits }
  const endAt = Math.max(0, text.length - MAX_CUT_NOTE)
  const cut = CUT.exec(text.slice(endAt))
  const whole = cut ? text.slice(0, endAt + cut.index) : text
  const notes = cut ? [`${cut[1]!.replace(/^t/, 'T')}.`] : []
  let at = lineFrom(whole, 0, 'diff --git ')
  if (/\S/.test(whole.slice(0, at))) {
    notes.push('The text before the first file is not part of a patch.')
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

/** Parses the part of one file, with at most `lines` lines. */
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
  const file: FileDiff = {
    ...head,
    id: hash('sha256', head.file).slice(0, 10),
    additions,
    deletions,
    hunks,
    unread: rest.lines,
    notes,
  }
  return { file, taken }
}

/** The head of a binary file is its whole part. Long names fit in this limit. */
const MAX_HEAD = 16 * 1024

type Head = Pick<FileDiff, 'file' | 'from' | 'status' | 'binary'>

/** Parses the lines before the first hunk of a file; adds to `notes` what it cannot read. */
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

/** Ends at a line end, unless the first line alone is longer. */
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

/** The name without the `a/` or `b/` of git; null for no file. */
function nameOf(name: string | undefined): string | null {
  if (!name || name === '/dev/null') return null
  return name.replace(/^[ab]\//, '')
}

interface HunkRead {
  hunk: DiffHunk
  /** The position after the hunk. */
  end: number
  /** The lines that were read, counting the header. */
  taken: number
  /** How many lines could not be read; null if the header has no line numbers, so that none could. */
  strange: number | null
}

/** Reads the hunk whose header is at `at`, with at most `most` lines. */
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
/**
 * Pure. The position of the next line, from `at` on, that begins with `start`; the length of the text if there is
 * none.
 */
function lineFrom(text: string, at: number, start: string): number {
  if (at === 0 && text.startsWith(start)) return 0
  const found = text.indexOf(`\n${start}`, Math.max(0, at - 1))
  return found < 0 ? text.length : found + 1
}

/** Pure. The position of the line after the one at `at`. */
function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Pure. Counts the lines of hunks from `at` on, without a string for each: there may be millions. */
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
