const SENTENCE = 300

/** The first characters of a text, as a copy: a slice would keep the whole text in memory. */
export function beginningOf(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters)).toString()
}

/** A program's text as part of a sentence: on one line, shortened, without its final period. */
export function clauseOf(text: string, part: 'beginning' | 'end' = 'beginning'): string {
  const line = text.replace(/\s+/g, ' ').trim().toWellFormed()
  if (line.length <= SENTENCE) return withoutStop(line)
  if (part === 'end') return withoutStop(`…${line.slice(-SENTENCE).toWellFormed()}`)
  return `${line.slice(0, SENTENCE).toWellFormed()}…`
}

function withoutStop(line: string): string {
  return line.replace(/[.\s]+$/, '')
}
