import { SESSION_KEYS } from '../model/session.ts'
import { lineEnding, linesOf, trimBlanks } from './lines.ts'
import { type YamlValue, yamlField, yamlText } from './yaml-scalar.ts'

const KEY_LINE = /^((?:[-*] )?(?:\*\*)?)([a-z][a-z0-9_]*)((?:\*\*)?:(?:\*\*)?)(.*)$/
/** All keys but the number, which is in the file name and title. */
const KEYS: readonly string[] = [
  ...SESSION_KEYS.filter((key) => key !== 'number'),
  'origin',
  'failed_tests',
]
/** Keys with YAML values; all others are plain text. */
const STRUCTURED: readonly string[] = ['diff', 'tests', 'failed_tests']

/** A key line: the text before its key, between key and value, and where the value is. */
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
 * Reads a session file without frontmatter: a title line, key lines, sections. Its key lines are converted to
 * frontmatter on the same lines (the opening `---` replaces the title), so that problems have the right line.
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

/** Returns the value of a key line; null without one. */
export function keyLineValue(text: string, key: string): string | null {
  return lineOf([...headLines(text)], key)?.value || null
}

/**
 * Sets key lines in place. A missing line is added after the key before it in the service's order, in the form of its
 * neighbour; a key without a value is not added.
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

/** Returns the neighbour of a new key line: the nearest key before it, else the first one after it. */
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

/** Adds the first key line, below the title if there is one. */
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

/** Returns the line of a key: the first with a value, else the first. */
function lineOf(lines: readonly KeyLine[], key: string): KeyLine | undefined {
  const found = lines.filter((line) => line.key === key)
  return found.find(({ value }) => value !== '') ?? found[0]
}

/** Yields every line above the first section; other lines have an empty key. */
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
