/** The files of a case by what they are, which decides how much a match in one counts. */
export type Place = 'description' | 'notes' | 'sessions' | 'proof'

export interface SearchedLine {
  /** From 1. */
  line: number
  text: string
  /** Where in it that begins which is searched: behind the name of a field. */
  from: number
}

export function placeOf(name: string): Place {
  if (name === 'case.md') return 'description'
  if (name.startsWith('sessions/')) return 'sessions'
  return name.startsWith('proof/') ? 'proof' : 'notes'
}

/** What of the frontmatter is text for people. */
const TOLD_FIELD = /^(title|reason|tags|outcome|diff):/
/** A line that belongs to the field above it, such as a tag in a list of a line each. */
const GOES_ON = /^([ \t]|- |$)/
/** What every file of its kind has says nothing of this one. */
const FURNITURE =
  /^(# Session \d+: \w+|## (Proof checklist|Hypothesis|Plan|Execution output|Proof candidates)|(`{3,}|~{3,})verbatim)\s*$/
const TRAIL = '## Audit trail'

/** The lines of a file that are searched. A note is the person's own: all of it is. */
export function* searchedLines(place: Place, text: string): Iterable<SearchedLine> {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|[\n\r]/)
  const isRecord = place !== 'notes'
  const head = isRecord && lines[0]?.trimEnd() === '---' ? headEnd(lines) : 0
  // it is the last section: the same words before it are part of a text
  const trail = place === 'sessions' ? lines.lastIndexOf(TRAIL) : -1
  const end = trail === -1 ? lines.length : trail
  let isTold = false
  for (let index = 0; index < end; index++) {
    const text = lines[index]!
    const isField = head > 0 && index <= head
    let from = 0
    if (isField) {
      const name = TOLD_FIELD.exec(text)?.[0] ?? ''
      if (!GOES_ON.test(text)) isTold = name !== ''
      from = isTold ? name.length : text.length
    }
    if (isRecord && FURNITURE.test(text)) continue
    if (from < text.length) yield { line: index + 1, text, from }
  }
}

/** The index of the line that closes the frontmatter; 0 where none does. */
function headEnd(lines: readonly string[]): number {
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  return end === -1 ? 0 : end
}
