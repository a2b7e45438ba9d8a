import { SESSION_KEYS } from '../model/session.ts'
import { lineEnding, linesOf, trimBlanks } from './lines.ts'
import { type YamlValue, yamlField, yamlText } from './yaml-scalar.ts'

const KEY_LINE = /^((?:[-*] )?(?:\*\*)?)([a-z][a-z0-9_]*)((?:\*\*)?:(?:\*\*)?)(.*)$/
/** All keys except the number, which is in the file's name and title. */
const KEYS: readonly string[] = SESSION_KEYS.filter((key) => key !== 'number')
/** Keys with YAML values; all others have plain text. */
const STRUCTURED: readonly string[] = ['diff', 'tests', 'failed_tests']

/** A key line: the text before its key, the separator, and the position of the value. */
interface KeyLine {
  key: string
  before: string
  between: string
  value: string
  from: number
  to: number
  start: number
  next: number
}

/**
 * The specification's layout of a session file (§2.3): a title line, key lines, sections, no
 * frontmatter. Its key lines are read as frontmatter on unchanged line numbers (the opening `---`
 * replaces the title), so that problems name the right line.
 */
export function plainFrontmatter(text: string): string {
  const seen = new Set<string>()
  const lines = ['---']
  const body = text.replace(/^\ufeff/, '')
  for (const { key, value, start } of headLines(body)) {
    if (value !== '' && KEYS.includes(key) && !seen.has(key)) {
      seen.add(key)
      const isYaml = STRUCTURED.includes(key) && /^(?:\{.*\}|\[.*\])$/.test(value)
      lines.push(`${key}: ${isYaml ? value : yamlField(key, value)}`)
    } else if (start > 0) lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n---\n`
}

/** The value of a key line; null if there is none. */
export function keyLineValue(text: string, key: string): string | null {
  return lineOf([...headLines(text)], key)?.value || null
}

/**
 * Sets these key lines in place. A missing one is added after the key that precedes it in the
 * service's order, in the form of its neighbour. Keys without a value are not added.
 */
export function withKeyLines(text: string, fields: [string, YamlValue][]): string {
  return fields.reduce((edited, [key, value]) => withKeyLine(edited, key, value), text)
}

function withKeyLine(text: string, key: string, value: YamlValue): string {
  if (!KEYS.includes(key)) return text
  const written = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : yamlText(value)
  const lines = [...headLines(text)]
  const present = lineOf(lines, key)
  if (present) {
    if (present.value === written) return text
    const gap = /\s$/.test(present.between) || written === '' ? '' : ' '
    return text.slice(0, present.from) + gap + written + text.slice(present.to)
  }
  if (written === '') return text
  const eol = lineEnding(text)
  const place = placeOf(lines, key)
  if (!place) return withFirstKeyLine(text, `${key}: ${written}`, eol)
  const { line, isBehind } = place
  const between = /\s$/.test(line.between) ? line.between : `${line.between} `
  const added = line.before + key + between + written
  if (!isBehind) return text.slice(0, line.start) + added + eol + text.slice(line.start)
  const before = text.slice(0, line.next)
  const gap = /[\r\n]$/.test(before) ? '' : eol
  return before + gap + added + eol + text.slice(line.next)
}

/** The neighbour of a missing key: the nearest key before it, else the first key after it. */
function placeOf(
  lines: readonly KeyLine[],
  key: string,
): { line: KeyLine; isBehind: boolean } | null {
  const at = KEYS.indexOf(key)
  for (const other of KEYS.slice(0, at).reverse()) {
    const line = lineOf(lines, other)
    if (line) return { line, isBehind: true }
  }
  for (const other of KEYS.slice(at + 1)) {
    const line = lineOf(lines, other)
    if (line) return { line, isBehind: false }
  }
  return null
}

/** Adds the line below the title, if there is one. */
function withFirstKeyLine(text: string, line: string, eol: string): string {
  let at = text.startsWith('\ufeff') ? 1 : 0
  let hasTitle = false
  for (const line of linesOf(text, at)) {
    if (line.text.startsWith('## ')) break
    if (!line.text.startsWith('# ')) continue
    hasTitle = true
    at = line.next
    break
  }
  const before = text.slice(0, at)
  const end = hasTitle ? (/[\r\n]$/.test(before) ? eol : eol + eol) : ''
  const after = text.slice(at)
  const gap = after === '' || /^[\r\n]/.test(after) ? '' : eol
  return before + end + line + eol + gap + after
}

/** The line that counts: the first one with a value, else the first one. */
function lineOf(lines: readonly KeyLine[], key: string): KeyLine | undefined {
  const found = lines.filter((line) => line.key === key)
  return found.find(({ value }) => value !== '') ?? found[0]
}

/** Every line above the first section; a line without a key has an empty `key`. */
function* headLines(text: string): Generator<KeyLine> {
  for (const { text: line, start, end, next } of linesOf(text, text.startsWith('\ufeff') ? 1 : 0)) {
    if (line.startsWith('## ')) return
    const match = KEY_LINE.exec(line)
    if (!match) {
      yield { key: '', before: '', between: '', value: '', from: end, to: end, start, next }
      continue
    }
    const [, before = '', key = '', colon = '', rest = ''] = match
    const value = trimBlanks(rest)
    const from = value === '' ? end - rest.length : end - rest.length + rest.indexOf(value)
    const between = colon + rest.slice(0, from - (end - rest.length))
    yield { key, before, between, value, from, to: from + value.length, start, next }
  }
}
