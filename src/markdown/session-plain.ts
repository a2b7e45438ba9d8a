import { newFrontmatter } from './field-edit.ts'
import { linesOf } from './lines.ts'

const KEY_LINE = /^(?:[-*] )?(?:\*\*)?([a-z_]+)(?:\*\*)?:(?:\*\*)?[ \t]*(.*?)[ \t]*$/
const KEYS = [
  'id',
  'case_id',
  'case_title',
  'session_type',
  'state',
  'started_at',
  'completed_at',
  'provider',
]

/**
 * The specification's own layout of a session file (§2.3): a title line, key lines, sections, no
 * frontmatter. Its key lines are read as if they were frontmatter.
 */
export function plainFrontmatter(text: string): string {
  const fields: [string, string][] = []
  for (const { text: line } of linesOf(text.replace(/^\ufeff/, ''))) {
    if (line.startsWith('## ')) break
    const match = KEY_LINE.exec(line)
    if (!match || !KEYS.includes(match[1]!) || fields.some(([key]) => key === match[1])) continue
    if (match[2] !== '') fields.push([match[1]!, match[2]!])
  }
  return newFrontmatter(fields)
}
