/** Selects the lines of a case's files that the search index covers, by the kind of file. */
export type SearchField = 'description' | 'notes' | 'sessions' | 'proof'

export interface SearchedLine {
  /** From 1. */
  line: number
  text: string
  /** Where the searched part of the line begins: after the name of a field. */
  from: number
}

export function fieldOf(name: string): SearchField {
  if (name === 'case.md') return 'description'
  if (name.startsWith('sessions/')) return 'sessions'
  return name.startsWith('proof/') ? 'proof' : 'notes'
}

/** Frontmatter fields that contain text for people. */
const SEARCHED_FIELD = /^(title|reason|tags|outcome|diff):/
/** A line that continues the field above it, such as a list item. */
const CONTINUES_FIELD = /^([ \t]|- |$)/
/** Lines that every file of this kind contains. */
const BOILERPLATE =
  /^(# Session \d+: \w+|## (Proof checklist|Hypothesis|Plan|Execution output|Proof candidates)|(`{3,}|~{3,})verbatim)\s*$/
const TRAIL = '## Audit trail'

/** Returns the searched lines of a file. A memory file is searched completely. */
export function* searchedLines(field: SearchField, text: string): Iterable<SearchedLine> {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|[\n\r]/)
  const isRecord = field !== 'notes'
  const head = isRecord && lines[0]?.trimEnd() === '---' ? headEnd(lines) : 0
  // the last one, as the same heading may occur earlier in a text
  const trail = field === 'sessions' ? lines.lastIndexOf(TRAIL) : -1
  const end = trail === -1 ? lines.length : trail
  let isSearched = false
  for (let index = 0; index < end; index++) {
    const text = lines[index]!
    const isField = head > 0 && index <= head
    let from = 0
    if (isField) {
      const name = SEARCHED_FIELD.exec(text)?.[0] ?? ''
      if (!CONTINUES_FIELD.test(text)) isSearched = name !== ''
      from = isSearched ? name.length : text.length
    }
    if (isRecord && BOILERPLATE.test(text)) continue
    if (from < text.length) yield { line: index + 1, text, from }
  }
}

/** Returns the index of the line that closes the frontmatter; 0 without frontmatter. */
function headEnd(lines: readonly string[]): number {
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  return end === -1 ? 0 : end
}
