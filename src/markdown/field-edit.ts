import { Refusal } from '../model/refusal.ts'
import { readEnvelope } from './envelope.ts'
import { setYaml } from './yaml-edit.ts'
import { type YamlValue, yamlField } from './yaml-scalar.ts'

/** The file with these frontmatter keys set, each by a range edit; a file without one gets one. */
export function withFields(text: string, fields: [string, YamlValue][]): string {
  if (fields.length === 0) return text
  const read = readEnvelope(text)
  if (!read.ok) throw new Refusal('unreadable_file', read.message)
  const { front, eol, bodyStart } = read.envelope
  if (!front) {
    const block = newFrontmatter(fields, eol)
    const gap = text.length > bodyStart && !/^[\r\n]/.test(text.slice(bodyStart)) ? eol : ''
    return text.slice(0, bodyStart) + block + gap + text.slice(bodyStart)
  }
  let source = text.slice(front.start, front.end)
  for (const [key, value] of fields) source = setYaml(source, key, value, eol)
  return text.slice(0, front.start) + source + text.slice(front.end)
}

/** A frontmatter block with a line for each key, in the order given. */
export function newFrontmatter(fields: [string, YamlValue][], eol = '\n'): string {
  const lines = fields.map(([key, value]) => `${key}: ${yamlField(key, value)}`.trimEnd() + eol)
  return `---${eol}${lines.join('')}---${eol}`
}
