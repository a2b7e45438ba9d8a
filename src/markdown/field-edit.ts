import { AppError } from '../model/app-error.ts'
import { readDocument } from './document.ts'
import { removeKey, setKey } from './yaml-edit.ts'
import { type YamlValue, yamlField } from './yaml-scalar.ts'

/** Sets frontmatter keys, each by a range edit; adds frontmatter if there is none. `read`: the text, if it is read already. */
export function withFields(
  text: string,
  fields: [string, YamlValue][],
  read = readDocument(text),
): string {
  if (fields.length === 0) return text
  if (!read.ok) throw new AppError('unreadable_file', read.message)
  const { front, eol, bodyStart } = read.document
  if (!front) {
    const block = newFrontmatter(fields, eol)
    const gap = text.length > bodyStart && !/^[\r\n]/.test(text.slice(bodyStart)) ? eol : ''
    return text.slice(0, bodyStart) + block + gap + text.slice(bodyStart)
  }
  let source = text.slice(front.start, front.end)
  for (const [key, value] of fields) source = setKey(source, key, value, eol)
  return text.slice(0, front.start) + source + text.slice(front.end)
}

/** Removes frontmatter keys with their lines. */
export function withoutFields(text: string, keys: readonly string[]): string {
  if (keys.length === 0) return text
  const read = readDocument(text)
  if (!read.ok) throw new AppError('unreadable_file', read.message)
  const { front, eol } = read.document
  if (!front) return text
  const source = text.slice(front.start, front.end)
  const edited = keys.reduce((source, key) => removeKey(source, key, eol), source)
  return text.slice(0, front.start) + edited + text.slice(front.end)
}

/** Returns a frontmatter block with one line per key, in this order. */
export function newFrontmatter(fields: [string, YamlValue][], eol = '\n'): string {
  const lines = fields.map(([key, value]) => `${key}: ${yamlField(key, value)}`.trimEnd() + eol)
  return `---${eol}${lines.join('')}---${eol}`
}
