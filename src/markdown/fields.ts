import type { Problem, ProblemCode } from '../model/problem.ts'
import { conflictLine } from './conflict-markers.ts'
import { type DocumentResult, type MarkdownDocument, readDocument } from './document.ts'
import { lineAt, linesOf } from './lines.ts'
import type { YamlValue } from './yaml-scalar.ts'

type Unreadable = { ok: false; problem: Problem }

/** The document of a record file, or the problem that makes it unreadable. */
export type FieldsResult = { ok: true; document: MarkdownDocument } | Unreadable

/** Reads a record file. Reports git's conflict markers first, because they break everything else: `line` has them. */
export function readFields(text: string, file: string, line = conflictLine(text)): FieldsResult {
  const message = 'git left conflict markers here: choose one side, remove the marker lines, save'
  if (line !== null) return { ok: false, problem: { code: 'merge_conflict', file, line, message } }
  const read = readDocument(text)
  return read.ok ? read : unreadable(read, file)
}

function unreadable(
  { code, line, message }: Extract<DocumentResult, { ok: false }>,
  file: string,
): Unreadable {
  return { ok: false, problem: { code, file, line, message } }
}

/** Reads typed frontmatter values. Each wrong value becomes a problem with its line. */
export interface FieldReader {
  problems: Problem[]
  has(key: string): boolean
  raw(key: string): YamlValue | undefined
  /** A text; null if absent or empty. Numbers and booleans are read as written. */
  text(key: string): string | null
  /** A text that matches a pattern, which `rule` describes; null if absent. */
  matching(key: string, pattern: RegExp, rule: string): string | null
  /** A time in ISO 8601 or YAML's form, converted to UTC with milliseconds; null if absent. */
  time(key: string): string | null
  /** Reports what YAML cuts from a text, or from the words of a list, at ` #`. */
  reportCuts(key: string): void
  /** A list of texts; empty if absent. */
  texts(key: string): string[]
  /** Reports a key that contradicts the file's path; it may be absent. */
  checkAgainstPath(key: string, expected: string): void
  problem(key: string, code: ProblemCode, message: string): void
}

export function fieldReader({ text, fields }: MarkdownDocument, file: string): FieldReader {
  const problems: Problem[] = []
  const value = (key: string) => fields?.get(key)?.value
  const problem = (key: string, code: ProblemCode, message: string) => {
    const field = fields?.get(key)
    problems.push({ code, file, line: field ? lineAt(text, field.at) : null, message })
  }
  const wrong = (key: string, expected: string): null => {
    const found = JSON.stringify(value(key)).slice(0, 60)
    problem(key, 'wrong_type', `${key}: expected ${expected}, found ${found}`)
    return null
  }
  const readText = (key: string): string | null => {
    const field = fields?.get(key)
    if (field === undefined || field.value === null) return null
    return typeof field.value === 'object' ? wrong(key, 'a text') : field.text || null
  }
  return {
    problems,
    problem,
    has: (key) => fields?.has(key) ?? false,
    raw: value,
    text: readText,
    matching(key, pattern, rule) {
      const found = readText(key)
      return found === null || pattern.test(found) ? found : wrong(key, rule)
    },
    time(key) {
      const found = readText(key)
      if (found === null) return null
      return utcTime(found) ?? wrong(key, 'a time such as 2026-11-20T09:54:00.000Z')
    },
    checkAgainstPath(key, expected) {
      const found = readText(key)
      if (found === null || found === expected) return
      const message = `${key}: ${found} contradicts the file's place, which says ${expected}`
      problem(key, 'id_mismatch', message)
    },
    reportCuts(key) {
      for (const cut of fields?.get(key)?.cuts ?? []) {
        const message = `${key}: YAML reads a comment from " #" on, so this is not a part of the value: ${cut.text.slice(0, 200)}. If it should be, put quotes around the whole value`
        problems.push({ code: 'cut_value', file, line: lineAt(text, cut.at), message })
      }
    },
    texts(key) {
      const hasCuts = fields?.get(key)?.cuts.length
      const stated = value(key)
      // `- #auth` is reported as cut
      const found =
        hasCuts && Array.isArray(stated) ? stated.filter((item) => item !== null) : stated
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

const TIME_FORM =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?([Zz]|[+-]\d\d:?\d\d)?)?$/

/** The format that the service writes, limited to days that every month has. */
const USUAL_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** A time without zone is UTC, as in YAML; the machine's zone must not matter. */
export function utcTime(text: string): string | null {
  if (USUAL_TIME.test(text)) return text
  const match = TIME_FORM.exec(text)
  if (!match) return null
  const [, day, clock = '00:00', zone = 'Z'] = match
  const midnight = new Date(`${day}T00:00Z`) // Date rolls 30 February over into March
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day!)) return null
  const time = new Date(`${day}T${clock}${zone.toUpperCase()}`)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

/** Returns the keys of the frontmatter; if it is unreadable, those of its plain `key: value` lines. */
export function fieldNames(text: string, file: string): ReadonlySet<string> {
  const read = readFields(text, file)
  return new Set(read.ok ? read.document.fields?.keys() : roughFields(text).keys())
}

const ROUGH_LINE = /^([a-z_]+):[ \t]+(?:"([^"\\]*)"|'([^'\\]*)'|([^\s#"'[{&*!|>%@`].*))$/

/** Reads plain `key: value` lines of frontmatter that does not parse. */
export function roughFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of linesOf(text.slice(0, 8192))) {
    const match = ROUGH_LINE.exec(line.text.trimEnd())
    const value = match?.[2] ?? match?.[3] ?? match?.[4]
    if (match && value && !fields.has(match[1]!)) fields.set(match[1]!, value)
  }
  return fields
}
