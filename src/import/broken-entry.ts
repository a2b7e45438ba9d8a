/** Where in a list of entries a JSON text breaks. */
export interface BrokenEntry {
  /** Counted from 1; null where it is not in an entry. */
  entry: number | null
  /** What is wrong with it, in the words of the parser. */
  why: string
  line: number
}

/**
 * Finds which entry of a JSON array keeps it from being read: the first that is no JSON by itself, or the one
 * that the text ends in. The parser's own message names a place only sometimes.
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
        return { entry: null, why: 'more follows behind its end', line: lineAt(at) }
      start = at + 1
    }
  }
  return { entry: entry + 1, why: 'the text ends in the middle of it', line: lineAt(text.length) }
}

/** Empty where it is JSON. */
function whyNot(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return (error as SyntaxError).message
  }
}
