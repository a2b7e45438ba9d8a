import { findIntendedFrontmatter } from './intended-frontmatter.ts'
import { type LineEnding, lineAt, lineEnding, linesOf } from './lines.ts'
import { ordinaryValues } from './ordinary-front.ts'
import { type Cut, cutsOf } from './yaml-cut.ts'
import type { YamlProblem } from './yaml-document.ts'
import { readYaml, type YamlMap } from './yaml-map.ts'
import { isNode } from './yaml-package.ts'
import type { YamlValue } from './yaml-scalar.ts'
import { plainNode, scalarText } from './yaml-value.ts'

const MAX_FRONTMATTER_BYTES = 64 * 1024

/** A frontmatter value. `text` is the scalar as written; null for a list, a mapping or an empty value. */
export interface Field {
  value: YamlValue
  text: string | null
  /** Offset of the key in the file. */
  at: number
  /** What YAML cuts from it at ` #`. Offsets are in the file. */
  cuts: readonly Cut[]
}

/** A markdown file, split into frontmatter and body. Offsets are into `text`, which keeps its BOM. */
export interface MarkdownDocument {
  text: string
  eol: LineEnding
  /** The YAML between the two `---` lines; null without frontmatter. */
  front: Front | null
  /** The values of the frontmatter, in the file's order; null for a file without frontmatter. */
  fields: ReadonlyMap<string, Field> | null
  bodyStart: number
}

interface Front {
  start: number
  end: number
  /** With the place of each value, for edits and problems: parsed when it is asked for. */
  readonly map: YamlMap
}

export type DocumentResult =
  | { ok: true; document: MarkdownDocument }
  | { ok: false; code: YamlProblem['code']; line: number; message: string }

/** Splits frontmatter from body. The strict reader reads what is not of the ordinary form, and knows what is wrong. */
export function readDocument(text: string): DocumentResult {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const eol = lineEnding(text)
  if (!text.startsWith('---', start) || text.startsWith('----', start)) {
    const near = findIntendedFrontmatter(text, start)
    if (!near) {
      return { ok: true, document: { text, eol, front: null, fields: null, bodyStart: start } }
    }
    const line = lineAt(text, near.at)
    return { ok: false, code: 'bad_frontmatter', line, message: near.message }
  }
  const span = frontSpan(text, start)
  if (typeof span === 'string')
    return { ok: false, code: 'bad_frontmatter', line: 1, message: span }
  const { from, to, bodyStart } = span
  const source = text.slice(from, to)
  if (Buffer.byteLength(source) > MAX_FRONTMATTER_BYTES) {
    return { ok: false, code: 'too_large', line: 1, message: 'the frontmatter is over 64 KiB' }
  }
  const wrong = (at: number, message: string, code: YamlProblem['code'] = 'bad_frontmatter') => ({
    ok: false as const,
    code,
    line: lineAt(text, at),
    message,
  })
  const lone = text.slice(start, bodyStart).search(/\r(?!\n)/)
  if (lone >= 0) return wrong(start + lone, 'a line of the frontmatter ends with CR alone: use LF')
  const inner = source.search(/(?<![^\n])---/)
  if (inner >= 0)
    return wrong(from + inner, 'this line starts with ---, which other readers treat as the end')
  const values = ordinaryValues(source)
  const read = values ? null : readYaml(source)
  if (read?.ok === false)
    return wrong(from + read.problem.offset, read.problem.message, read.problem.code)
  const front = {
    start: from,
    end: to,
    get map() {
      return strictly(source)
    },
  }
  const fields = values ? ordinaryFields(values, source, from) : strictFields(front)
  return { ok: true, document: { text, eol, front, fields, bodyStart } }
}

function strictly(source: string): YamlMap {
  const read = readYaml(source)
  if (!read.ok) throw new Error(`the two readers disagree: ${read.problem.message}`)
  return read.map
}

/** Each key begins a line, and no value has a comment behind. */
function ordinaryFields(
  values: Record<string, YamlValue>,
  source: string,
  start: number,
): Map<string, Field> {
  const lines = `\n${source}`
  return new Map(
    Object.entries(values).map(([key, value]) => {
      const text = value === null || typeof value === 'object' ? null : String(value)
      return [key, { value, text, at: start + lines.indexOf(`\n${key}:`), cuts: [] }]
    }),
  )
}

function strictFields({ map, start }: Front): Map<string, Field> {
  const fields = new Map<string, Field>()
  for (const [key, pair] of map.pairs) {
    const { key: node, value } = pair
    const at = start + (isNode(node) ? node.range![0] : 0)
    const cuts = cutsOf(map.source, pair).map((cut) => ({ at: start + cut.at, text: cut.text }))
    fields.set(key, { value: plainNode(value), text: scalarText(value), at, cuts })
  }
  return fields
}

/** Offset of the body; null when the frontmatter cannot be read. */
export function findBodyStart(text: string): number | null {
  const read = readDocument(text)
  return read.ok ? read.document.bodyStart : null
}

type Span = { from: number; to: number; bodyStart: number }

function frontSpan(text: string, start: number): Span | string {
  const lines = linesOf(text, start)
  const opener = lines.next().value!
  if (!/^---[ \t]*$/.test(opener.text)) {
    return `the file starts with "${opener.text.slice(0, 20)}": frontmatter is YAML between two lines that contain only ---`
  }
  for (const line of lines) {
    if (/^---[ \t]*$/.test(line.text))
      return { from: opener.next, to: line.start, bodyStart: line.next }
  }
  return 'the frontmatter that starts here has no closing --- line'
}
