/** The place where a JSON list of entries is broken. */
export interface BrokenEntry {
  /** The entry's number, from 1; null if the error is not inside an entry. */
  entry: number | null
  /** The parser's error message. */
  why: string
  line: number
}

/**
 * Finds the entry that makes a JSON array invalid: the first that is not valid JSON itself, or the one in which the
 * text ends. The parser's own message does not always have a position.
 */
export function brokenEntry(text: string): BrokenEntry {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  let entry = 0
  let start = text.search(/\S/) + 1
  if (text[start - 1] !== '[') return { entry: null, why: whyNot(text), line: lineAt(start) }
  let depth = 0
  let isString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]!
    if (isString) {
      if (character === '\\') at++
      else if (character === '"') isString = false
      continue
    }
    if (character === '"') isString = true
    else if (character === '{' || character === '[') depth++
    else if (depth > 0 && (character === '}' || character === ']')) depth--
    else if (depth === 0 && (character === ',' || character === ']')) {
      entry++
      const why = whyNot(text.slice(start, at))
      if (why !== '') return { entry, why, line: lineAt(at) }
      if (character === ']')
        return { entry: null, why: 'there is text after its end', line: lineAt(at) }
      start = at + 1
    }
  }
  return { entry: entry + 1, why: 'the text ends in the middle of it', line: lineAt(text.length) }
}

/** Why a text is not JSON; empty if it is. */
function whyNot(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return (error as SyntaxError).message
  }
}
