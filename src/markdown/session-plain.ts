import { SESSION_KEYS } from '../model/session.ts'
import { linesOf, trimBlanks } from './lines.ts'
import { yamlField } from './yaml-scalar.ts'

const KEY_LINE = /^(?:[-*] )?(?:\*\*)?([a-z_]+)(?:\*\*)?:(?:\*\*)?(.*)$/
/** The key lines of the specification, and two that people add. */
const KEYS: readonly string[] = SESSION_KEYS.filter(
  (key) => !['number', 'plan_sha256', 'diff', 'tests'].includes(key),
)

/**
 * The specification's own layout of a session file (§2.3): a title line, key lines, sections, no
 * frontmatter. Its key lines are read as if they were frontmatter, each on the line where it stands
 * (the opening `---` takes the place of the title), so that problems name the right line.
 */
export function plainFrontmatter(text: string): string {
  const seen = new Set<string>()
  const lines = ['---']
  for (const { text: line, start } of linesOf(text.replace(/^\ufeff/, ''))) {
    if (line.startsWith('## ')) break
    const match = KEY_LINE.exec(line)
    const key = match?.[1]
    const value = trimBlanks(match?.[2] ?? '')
    const known = key !== undefined && KEYS.includes(key) && !seen.has(key) && value !== ''
    if (known) {
      seen.add(key)
      lines.push(`${key}: ${yamlField(key, value)}`)
    } else if (start > 0) lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n---\n`
}
