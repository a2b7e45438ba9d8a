import matter from 'gray-matter'
import { type LineEnding, lineAt, lineEnding, linesOf } from './lines.ts'
import { readYaml, type YamlMap, type YamlProblem } from './yaml-map.ts'

export const MAX_FRONTMATTER_BYTES = 64 * 1024

/** A markdown file cut into its parts; the offsets are into `text`, which keeps its BOM. */
export interface Envelope {
  text: string
  eol: LineEnding
  /** The YAML between the two `---` lines; null for a file that has none. */
  front: { map: YamlMap; start: number; end: number } | null
  bodyStart: number
}

export type EnvelopeResult =
  | { ok: true; envelope: Envelope }
  | { ok: false; code: YamlProblem['code']; line: number; message: string }

/**
 * Splits frontmatter from body. gray-matter only splits and hands the YAML to our one engine: its
 * other engines execute what a file says, and its own cache returns shared objects, so they are
 * shut off and options are always passed (reliability §5.1).
 */
export function readEnvelope(text: string): EnvelopeResult {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const eol = lineEnding(text)
  const none: EnvelopeResult = { ok: true, envelope: { text, eol, front: null, bodyStart: start } }
  if (!text.startsWith('---', start) || text.startsWith('----', start)) return none
  const span = frontSpan(text, start)
  if (typeof span === 'string')
    return { ok: false, code: 'bad_frontmatter', line: 1, message: span }
  const { from, to, bodyStart } = span
  if (Buffer.byteLength(text.slice(from, to)) > MAX_FRONTMATTER_BYTES) {
    return { ok: false, code: 'too_large', line: 1, message: 'the frontmatter is over 64 KiB' }
  }
  const read = splitByGrayMatter(text.slice(start), text.slice(from, to))
  if (!read.ok) {
    const { code, offset, message } = read.problem
    return { ok: false, code, line: lineAt(text, from + offset), message }
  }
  return {
    ok: true,
    envelope: { text, eol, front: { map: read.map, start: from, end: to }, bodyStart },
  }
}

type Span = { from: number; to: number; bodyStart: number }

function frontSpan(text: string, start: number): Span | string {
  const lines = linesOf(text, start)
  const opener = lines.next().value!
  if (!/^---[ \t]*$/.test(opener.text)) {
    return `the file starts with "${opener.text.slice(0, 20)}": frontmatter is YAML between two lines that hold only ---`
  }
  for (const line of lines) {
    if (/^---[ \t]*$/.test(line.text))
      return { from: opener.next, to: line.start, bodyStart: line.next }
  }
  return 'the frontmatter that starts here has no closing --- line'
}

function splitByGrayMatter(text: string, source: string): ReturnType<typeof readYaml> {
  let read: ReturnType<typeof readYaml> | null = null
  const refuse = () => {
    throw new Error('only YAML frontmatter is read')
  }
  const engine = {
    parse(yaml: string) {
      read = yaml.trim() === source.trim() ? readYaml(source) : disagreement
      return {}
    },
    stringify: refuse,
  }
  const refused = { parse: refuse, stringify: refuse }
  matter(text, {
    language: 'yaml',
    delimiters: '---',
    engines: { yaml: engine, json: refused, javascript: refused },
  })
  return read ?? readYaml(source) // blank or comments only: the engine was not asked
}

const disagreement: ReturnType<typeof readYaml> = {
  ok: false,
  problem: {
    code: 'bad_frontmatter',
    offset: 0,
    message: 'a line inside the frontmatter starts with ---, which other readers take for its end',
  },
}
