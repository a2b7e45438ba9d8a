import { type Field, type PlainFront, plainFront } from './plain-front.ts'
import { type YamlValue, yamlField } from './yaml-scalar.ts'

/**
 * Sets keys of plain frontmatter, each on its line, without the parser but with the same result; null if that is not
 * certain, and then the parser is used. The edits are read again to check that nothing else changed.
 */
export function withPlainFields(text: string, fields: [string, YamlValue][]): string | null {
  let edited = text
  let front = plainFront(text)
  for (const [key, value] of fields) {
    const field = front?.fields.get(key)
    if (!front || !field) return null
    if (same(field.value, value)) continue
    const next = replaced(edited, key, field, value)
    const after = next === null ? null : plainFront(next)
    if (next === null || !after || !isOnly(front, after, key, value)) return null
    edited = next
    front = after
  }
  return front && edited
}

/**
 * Returns null if the value has more lines, brackets, or trailing spaces. Plain frontmatter has no comments after
 * scalars.
 */
function replaced(text: string, key: string, field: Field, value: YamlValue): string | null {
  const isScalar = field.text !== null
  if (!text.startsWith(`${key}:`, field.at) || (!isScalar && field.value !== null)) return null
  const from = field.at + key.length + 1
  const lf = text.indexOf('\n', from)
  const end = text[lf - 1] === '\r' ? lf - 1 : lf
  const gap = /^ */.exec(text.slice(from, end))![0]
  if (isScalar ? text[end - 1] === ' ' : end > from) return null
  const written = yamlField(key, value)
  return text.slice(0, from) + (written && (gap || ' ') + written) + text.slice(end)
}

function isOnly(before: PlainFront, after: PlainFront, key: string, value: YamlValue): boolean {
  const others = ({ fields }: PlainFront) =>
    [...fields].filter(([name]) => name !== key).map(([name, field]) => [name, field.value])
  return same(after.fields.get(key)?.value, value) && same(others(before), others(after))
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
