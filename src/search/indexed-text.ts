/** What is indexed of a case: its texts line by line, without what a search skips, and what stands beside them. */

import type { TextColumn } from '../state/search-tables.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'

/** Of a longer file only the beginning is searched. */
const MAX_CHARACTERS = 256 * 1024

/** The one field of the frontmatter whose lines are found, without its name: title, tags and outcome have a column. */
const REASON = 'reason:'
/** A line that continues the field above it, such as a list item. */
const CONTINUES_FIELD = /^([ \t]|- |$)/
/** Lines that every file of this kind contains. */
const BOILERPLATE =
  /^(# Session \d+: \w+|## (Proof checklist|Hypothesis|Plan|Execution output|Changes|Proof candidates)|(`{3,}|~{3,})verbatim)\s*$/
const TRAIL = '## Audit trail'

/** Characters with a meaning in the index. FTS5 reads them as blanks. */
export const MARK = {
  /** Between words that no blank separates. */
  split: '\x01',
  /** Before and after what matches. */
  open: '\x02',
  close: '\x03',
  /** Before the parts of the names of a line. */
  parts: '\x04',
}
const MARKS = /[\0-\x04]/g

/** Scripts without blanks between words, and Korean, which attaches particles: each character is a word. */
export const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々`
/** Such a character, or a code that colours terminal output. */
const ENDS_WORD = new RegExp(`[${UNSPACED}]|\\x1b\\[[\\d;]*[A-Za-z]`, 'gv')
const ASCII_WORDS = /^[\x00-\x1a\x1c-\x7f]*$/
const LETTERS = /[\p{L}\p{N}]+/gu
/** Where the second part of a name such as `readFile` begins, and all of them. */
const PART = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const ALL_PARTS = new RegExp(PART, 'gu')

export function columnOf(name: string): Exclude<TextColumn, 'tags'> {
  if (name === 'case.md') return 'description'
  if (name.startsWith('sessions/')) return 'sessions'
  return name.startsWith('proof/') ? 'proof' : 'notes'
}

/** Separates words where FTS5 would not, in texts and in queries. */
export function separated(text: string): string {
  const plain = text.replace(MARKS, ' ')
  return ASCII_WORDS.test(plain) ? plain : plain.normalize().replace(ENDS_WORD, `$&${MARK.split}`)
}

/** A line as indexed: with the parts of its names behind it, such as `read File` for `readFile`. */
export function indexedLine(line: string): string {
  if (!PART.test(line)) return separated(line)
  const names = line.match(LETTERS)!.filter((name) => PART.test(name))
  return separated(line) + MARK.parts + names.map((name) => name.replace(ALL_PARTS, ' ')).join(' ')
}

/** The lines of a file as indexed. What is not searched is blank. A memory file is searched completely. */
export function indexedText(name: string, text: string): string {
  const lines = text
    .slice(0, MAX_CHARACTERS)
    .replace(/^\ufeff/, '')
    .split(/\r\n|[\n\r]/)
  if (columnOf(name) === 'notes') return lines.map(indexedLine).join('\n')
  const head = lines[0]?.trimEnd() === '---' ? headEnd(lines) : 0
  // the last one, as the same heading may occur earlier in a text
  const trail = name.startsWith('sessions/') ? lines.lastIndexOf(TRAIL) : -1
  let isSearched = false
  return lines
    .slice(0, trail === -1 ? lines.length : trail)
    .map((line, index) => {
      if (BOILERPLATE.test(line)) return ''
      if (head === 0 || index > head) return indexedLine(line)
      const isReason = name === 'case.md' && line.startsWith(REASON)
      if (!CONTINUES_FIELD.test(line)) isSearched = isReason
      return isSearched ? indexedLine(isReason ? line.slice(REASON.length).trim() : line) : ''
    })
    .join('\n')
}

/** Returns the index of the line that closes the frontmatter; 0 without frontmatter. */
function headEnd(lines: readonly string[]): number {
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  return end === -1 ? 0 : end
}

/** What is indexed of a case beside its texts. */
export interface IndexedCase {
  /** The names and hashes of the files that can be read. */
  files: [name: string, hash: string][]
  title: string
  /** Also the title, the outcome and the id. */
  tags: string
}

export function indexedCase({ id, file, sessions, proofs, notes }: CaseEntry): IndexedCase {
  const files: [string, string][] = [
    ['case.md', file.hash],
    ...[...sessions].map(([number, { hash }]): [string, string] => [`sessions/${number}.md`, hash]),
    ...[...proofs].map(([proof, { hash }]): [string, string] => [`proof/${proof}.md`, hash]),
    ...[...notes].map(([name, { hash }]): [string, string] => [name, hash]),
  ]
  const { title, tags, outcome } = file.value
  return {
    files: files.filter(([, hash]) => hash !== ''),
    title: Buffer.from(title).toString(), // a part of a text would keep all of it in memory
    tags: [indexedLine(title), ...tags, outcome, id].join(' '),
  }
}
