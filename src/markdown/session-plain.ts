import { SESSION_KEYS } from '../model/session.ts'
import { lineWalk, trimBlanks } from './lines.ts'
import { yamlField } from './yaml-scalar.ts'

const KEY_LINE = /^(?:[-*] )?(?:\*\*)?([a-z_]+)(?:\*\*)?:(?:\*\*)?(.*)$/
/** The key lines of the specification, and two that people add. */
const KEYS: readonly string[] = SESSION_KEYS.filter(
  (key) => !['number', 'plan_sha256', 'diff', 'tests', 'failed_tests'].includes(key),
)

/**
 * The specification's own layout of a session file (§2.3): a title line, key lines, sections, no
 * frontmatter. Its key lines are read as if they were frontmatter, each on the line where it stands
 * (the opening `---` takes the place of the title), so that problems name the right line.
 */
export function plainFrontmatter(text: string): string {
  const seen = new Set<string>()
  const lines = ['---']
  const body = text.replace(/^\ufeff/, '')
  const walk = lineWalk(body)
  while (walk.move()) {
    if (body.startsWith('## ', walk.start)) break
    const match = walk.end > walk.start ? KEY_LINE.exec(body.slice(walk.start, walk.end)) : null
    const key = match?.[1] ?? ''
    const value = match ? trimBlanks(match[2]!) : ''
    if (value !== '' && KEYS.includes(key) && !seen.has(key)) {
      seen.add(key)
      lines.push(`${key}: ${yamlField(key, value)}`)
    } else if (walk.start > 0) lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n---\n`
}
