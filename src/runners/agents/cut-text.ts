const SENTENCE = 300

/** The first characters of a text, as a copy: a slice would keep the whole of it in memory. */
export function beginningOf(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters)).toString()
}

/** What a program said as a part of a sentence: in one line, not too long, without its full stop. */
export function clauseOf(text: string, part: 'beginning' | 'end' = 'beginning'): string {
  const line = text.replace(/\s+/g, ' ').trim().toWellFormed()
  if (line.length <= SENTENCE) return withoutStop(line)
  if (part === 'end') return withoutStop(`…${line.slice(-SENTENCE).toWellFormed()}`)
  return `${line.slice(0, SENTENCE).toWellFormed()}…`
}

function withoutStop(line: string): string {
  return line.replace(/[.\s]+$/, '')
}
