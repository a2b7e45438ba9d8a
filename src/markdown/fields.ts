import type { Problem, ProblemCode } from '../model/problem.ts'
import { conflictLine } from './conflict-markers.ts'
import { type Envelope, readEnvelope } from './envelope.ts'
import { lineAt } from './lines.ts'
import type { YamlValue } from './yaml-scalar.ts'
import { plainValue } from './yaml-value.ts'

/** A record file's frame: its envelope, or the problem that keeps it from being read. */
export type Frame = { ok: true; envelope: Envelope } | { ok: false; problem: Problem }

/** Cuts a record file, naming git's conflict markers before anything that they break. */
export function readFrame(text: string, file: string): Frame {
  const conflict = conflictLine(text)
  if (conflict !== null) {
    const message = 'git left conflict markers here: choose one side, remove the marker lines, save'
    return { ok: false, problem: { code: 'merge_conflict', file, line: conflict, message } }
  }
  const read = readEnvelope(text)
  if (read.ok) return read
  const { code, line, message } = read
  return { ok: false, problem: { code, file, line, message } }
}

/** Typed reading of frontmatter: each wrong value becomes one problem with its line. */
export interface FieldReader {
  problems: Problem[]
  has(key: string): boolean
  raw(key: string): YamlValue | undefined
  /** A text; null when absent or empty. Numbers and booleans are taken as they are written. */
  text(key: string): string | null
  /** A text of a given shape, `rule` says which; null when absent. */
  shaped(key: string, shape: RegExp, rule: string): string | null
  /** A time in ISO 8601, turned into UTC with milliseconds. */
  time(key: string): string | null
  texts(key: string): string[]
  problem(key: string, code: ProblemCode, message: string): void
}

export function fieldReader(envelope: Envelope, file: string): FieldReader {
  const { front, text } = envelope
  const problems: Problem[] = []
  const value = (key: string) => plainValue(front?.map.pairs.get(key))
  const problem = (key: string, code: ProblemCode, message: string) => {
    const node = front?.map.pairs.get(key)?.key as { range?: [number, number, number] } | undefined
    const line = front && node?.range ? lineAt(text, front.start + node.range[0]) : null
    problems.push({ code, file, line, message })
  }
  const wrong = (key: string, expected: string): null => {
    const came = JSON.stringify(value(key)).slice(0, 60)
    problem(key, 'wrong_type', `${key}: expected ${expected}, found ${came}`)
    return null
  }
  const asText = (key: string): string | null => {
    const found = value(key)
    if (found === undefined || found === null) return null
    return typeof found === 'object' ? wrong(key, 'a text') : String(found)
  }
  return {
    problems,
    problem,
    has: (key) => front?.map.pairs.has(key) ?? false,
    raw: value,
    text: asText,
    shaped(key, shape, rule) {
      const found = asText(key)
      return found === null || shape.test(found) ? found : wrong(key, rule)
    },
    time(key) {
      const found = asText(key)
      if (found === null) return null
      const time = /^\d{4}-\d\d-\d\d/.test(found) ? Date.parse(found) : Number.NaN
      return Number.isNaN(time)
        ? wrong(key, 'a time such as 2026-11-20T09:54:00.000Z')
        : new Date(time).toISOString()
    },
    texts(key) {
      const found = value(key)
      if (found === undefined || found === null) return []
      if (
        !Array.isArray(found) ||
        found.some((item) => item === null || typeof item === 'object')
      ) {
        wrong(key, 'a list of words such as [auth, login]')
        return []
      }
      return found.map(String)
    },
  }
}

/** What plain `key: value` lines give, for a file whose frontmatter does not parse (design §2, 3). */
export function roughFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of text.slice(0, 8192).split(/\r\n|\n|\r/)) {
    const match = /^([a-z_]+):[ \t]+(?:"([^"\\]*)"|'([^'\\]*)'|([^#"'[{&*!|>%@`].*?))[ \t]*$/.exec(
      line,
    )
    const value = match?.[2] ?? match?.[3] ?? match?.[4]
    if (match && value && !fields.has(match[1]!)) fields.set(match[1]!, value)
  }
  return fields
}
