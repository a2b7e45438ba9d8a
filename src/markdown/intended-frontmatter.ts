import { FILE_KEYS } from '../model/case-fields.ts'
import { type Line, linesOf } from './lines.ts'

const SESSION_AND_PROOF_KEYS = [
  'number',
  'case_id',
  'case_title',
  'session_type',
  'started_at',
  'completed_at',
  'plan_sha256',
  'approved_by',
  'session_id',
  'sha256',
  'verified',
  'verified_at',
  'verified_by',
]
const SETTING_KEYS = ['timeout', 'env', 'steps', 'providers', 'memory_root']
/** Known fields of records and settings, which distinguish a block of fields from other text. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...FILE_KEYS,
  ...SESSION_AND_PROOF_KEYS,
  ...SETTING_KEYS,
])
/** Displaced frontmatter is searched within this many lines, and has at most as many. */
const MAX_LINES = 200
/** The beginning of frontmatter in TOML (`+++`) or JSON (`;;;`, or an object with a field of a case). */
const OTHER_FORMAT =
  /^(?:(\+{3,}|;{3,})[ \t]*(?:[\r\n]|$)|\{[ \t]*\r?\n\s*"(?:id|title|state|type|tags|created_at)"[ \t]*:)/
/** A `---` line, also with the dashes that word processors make of it. */
const RULE = /^[ \t]*(?:-{2,}|[\u2013\u2014]-*)[ \t]*$/
const KEY = /^[ \t]*["']?([a-z_][a-z0-9_-]*)["']?[ \t]*:(?:[ \t]|$)/
/** Headings of sections and fences belong to the body. */
const BODY = /^ {0,3}(?:#{2,6}[ \t]|```|~~~)/
const YAML_LINE = /^(?:[ \t]|- |#)/

/**
 * Finds intended frontmatter in a file without valid one: below blank lines, an indented `---` or other text, or
 * without its first `---`. Otherwise its fields would silently count as not set.
 */
export function findIntendedFrontmatter(
  text: string,
  from: number,
): { at: number; message: string } | null {
  const start = text.slice(from, from + 1000)
  const shown = start.trimStart()
  const other = OTHER_FORMAT.exec(shown)
  if (other) {
    const format = other[1]?.startsWith('+') ? 'TOML' : 'JSON'
    const at = from + start.length - shown.length
    const message = `this looks like frontmatter in ${format}: it has to be YAML between two lines that contain only ---`
    return { at, message }
  }
  const above: Line[] = []
  const below: Line[] = []
  let rule: Line | null = null
  let isClosed = false
  /** Number of lines before the first blank one. */
  let firstBlock: number | null = null
  let count = 0
  for (const line of linesOf(text, from)) {
    if (++count > MAX_LINES || BODY.test(line.text)) break
    if (line.text.trim() === '') {
      firstBlock = below.length > 0 ? (firstBlock ?? below.length) : null
      continue
    }
    if (!RULE.test(line.text)) (rule ? below : above).push(line)
    else if (rule) {
      isClosed = true
      break
    } else rule = line
  }
  if (!rule) return null
  if (knownKeys(above) > 0) {
    const message =
      'these look like fields, but there is no line --- above them: frontmatter is YAML between two lines that contain only ---'
    return { at: above[0]!.start, message }
  }
  const least = above.length === 0 && isClosed ? 1 : 2
  const fields = isClosed ? below : below.slice(0, firstBlock ?? below.length)
  if (knownKeys(fields) < least) return null
  const why =
    above.length > 0
      ? 'there is text above this line'
      : rule.start > from
        ? 'there are blank lines above this line'
        : 'this line must contain only ---'
  return { at: rule.start, message: `${why}: frontmatter must be at the very top of the file` }
}

/** Same for a file that has lost both `---`: its first lines, up to a blank one, are fields. */
export function hasBareFields(text: string, from: number): boolean {
  const lines: Line[] = []
  for (const line of linesOf(text, from)) {
    if (line.text.trim() === '' && lines.length === 0) continue
    if (line.text.trim() === '' || lines.length === MAX_LINES) break
    lines.push(line)
  }
  return knownKeys(lines) > 1
}

/** Counts lines with a known key if all lines look like frontmatter; else 0. */
function knownKeys(lines: readonly Line[]): number {
  const first = lines[0]
  if (!first || !KEY.test(first.text)) return 0
  if (!lines.every(({ text }) => KEY.test(text) || YAML_LINE.test(text))) return 0
  return lines.filter(({ text }) => KNOWN_KEYS.has(KEY.exec(text)?.[1] ?? '')).length
}
