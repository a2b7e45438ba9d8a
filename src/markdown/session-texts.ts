import { hash } from 'node:crypto'
import type { Problem } from '../model/problem.ts'
import {
  type Candidate,
  SESSION_KEYS,
  type Session,
  type SessionEdit,
  type SessionTexts,
  type WrittenTexts,
} from '../model/session.ts'
import { evidenceHashIn } from '../model/trail.ts'
import { findBodyStart, readDocument } from './document.ts'
import { newFrontmatter, withFields } from './field-edit.ts'
import { lineAt, trimBlanks } from './lines.ts'
import { staysInSection } from './outline.ts'
import { hasComments, REVIEW_HEADING, readReview } from './review.ts'
import { editedReview } from './review-edit.ts'
import {
  readSections,
  type SectionLayout,
  sectionText,
  withRegion,
  withSection,
} from './sections.ts'
import { diffYaml, listedEvidence, testsYaml } from './session-evidence.ts'
import { withKeyLines } from './session-plain.ts'
import { readTrail, TRAIL_HEADING } from './trail.ts'
import { appendSeal, appendTrail } from './trail-edit.ts'
import type { YamlValue } from './yaml-scalar.ts'

export const CANDIDATES_HEADING = 'Proof candidates'

const HEADINGS = {
  hypothesis: 'Hypothesis',
  plan: 'Plan',
  output: 'Execution output',
  changes: 'Changes',
  candidates: CANDIDATES_HEADING,
} as const satisfies Record<Exclude<keyof SessionTexts, 'comments'>, string>

export const SESSION_LAYOUT: SectionLayout = {
  names: [
    HEADINGS.hypothesis,
    HEADINGS.plan,
    REVIEW_HEADING,
    HEADINGS.output,
    HEADINGS.changes,
    HEADINGS.candidates,
    TRAIL_HEADING,
  ],
  // a plan may have such headings too
  optional: (text) => [
    {
      name: REVIEW_HEADING,
      after: HEADINGS.plan,
      counts: (region) => hasComments(region) || (region.trim() === '' && hadComments(text)),
    },
    { name: HEADINGS.changes, after: HEADINGS.output, counts: () => true },
  ],
  isPlain: staysInSection,
  bounds(text, bodyStart) {
    const from = bodyStart ?? findBodyStart(text)
    return from === null ? null : { from, to: readTrail(text)?.start ?? text.length }
  },
}

/** Whether the audit trail says that the session had a comment. */
function hadComments(text: string): boolean {
  return readTrail(text)?.lines.some(({ line }) => line.event === 'comment_added') ?? false
}

export interface TextsReading {
  value: SessionTexts | null
  problems: Problem[]
}

/** Whether a session file's result sections contain other text than the plan that ran. */
export async function hasOtherTexts(text: string, plan: string): Promise<boolean> {
  const sections = await readSections(text, SESSION_LAYOUT)
  if (!sections) return true
  const section = (name: string) => sectionText(sections, name) ?? ''
  const record = section(HEADINGS.output) + section(HEADINGS.changes) + section(HEADINGS.candidates)
  return section(HEADINGS.plan) !== plan || record.trim() !== ''
}

/** Reads the sections of a session file and checks them against the evidence in its trail. */
export async function readSessionTexts(text: string, session: Session): Promise<TextsReading> {
  const file = `sessions/${session.number}.md`
  const sections = await readSections(text, SESSION_LAYOUT)
  if (!sections) {
    const message = 'the markdown takes more than 2 s to parse'
    return { value: null, problems: [{ code: 'too_complex', file, line: null, message }] }
  }
  const section = (name: string) => sectionText(sections, name) ?? ''
  const { from = 0, to = 0 } = sections.ranges.find(({ name }) => name === REVIEW_HEADING) ?? {}
  const review = readReview(text.slice(from, to))
  const value: SessionTexts = {
    hypothesis: section(HEADINGS.hypothesis),
    plan: section(HEADINGS.plan),
    output: section(HEADINGS.output),
    changes: section(HEADINGS.changes),
    candidates: readCandidates(section(HEADINGS.candidates)),
    comments: review.entries.map(({ comment }) => comment),
  }
  const problems = review.problems.map(
    ({ at, message }): Problem => ({
      code: 'bad_comment',
      file,
      line: lineAt(text, from + at),
      message,
    }),
  )
  const stated = evidenceHashIn(session.trail)
  if (stated === undefined || stated === evidenceHash(session, value)) return { value, problems }
  const message =
    'plan, output, changes, diff, tests or failed tests changed after the session completed'
  const changed: Problem = { code: 'session_changed', file, line: null, message }
  return { value, problems: [changed, ...problems] }
}

/**
 * Returns the SHA-256 over plan, output, diff, tests, failed tests and changes, for `evidence_recorded`. Failed tests,
 * changes, and the lines of the trail about tests before the run, count only if there are some, so that older sessions
 * keep their hash.
 */
export function evidenceHash(
  session: Pick<Session, 'diff' | 'tests' | 'failed_tests'> & {
    trail?: readonly { event: string; fields: object }[]
  },
  texts: Pick<SessionTexts, 'plan' | 'output'> & Partial<Pick<SessionTexts, 'changes'>>,
): string {
  const { diff, failed_tests } = listedEvidence(session)
  const named = failed_tests.length === 0 ? [] : [failed_tests]
  const before = (session.trail ?? [])
    .filter(({ event }) => event === 'tests_before' || event === 'tests_compared')
    .map(({ event, fields }) => [event, fields])
  const changes = texts.changes ? [{ changes: texts.changes }] : []
  const all = [
    texts.plan,
    texts.output,
    diff,
    testsYaml(session.tests),
    ...named,
    ...before,
    ...changes,
  ]
  return hash('sha256', JSON.stringify(all))
}

/** Parses lines such as `` - `2-npm-test.tap`: 47 of 47 tests passed ``. */
function readCandidates(text: string): Candidate[] {
  const found: Candidate[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    const match = /^[-*+] `([^`]+)`[ \t]*(?::(.*))?$/.exec(line)
    if (match) found.push({ artifact: match[1]!, note: trimBlanks(match[2] ?? '') })
  }
  return found
}

function candidatesText(candidates: readonly Candidate[]): string {
  const line = (note: string) => note.replace(/(?<!\s)\s*[\r\n]\s*/g, ' ')
  return candidates.map(({ artifact, note }) => `- \`${artifact}\`: ${line(note)}`).join('\n')
}

/** Returns the text of a new session file: its keys, the headings, the first audit lines. */
export async function newSessionText(session: Session, texts: WrittenTexts = {}): Promise<string> {
  const values = yamlFields(session)
  // the specification names completed_at, so a file has it before the session ends
  const keys = SESSION_KEYS.filter((key) => values[key] !== null || key === 'completed_at')
  const head = newFrontmatter(keys.map((key) => [key, values[key]]))
  const title = `# Session ${session.number}: ${session.type}`
  const names = [HEADINGS.hypothesis, HEADINGS.plan, HEADINGS.output, HEADINGS.candidates]
  let text = `${head}\n${title}\n${names.map((name) => `\n## ${name}\n`).join('')}`
  for (const name of ['hypothesis', 'plan'] as const) {
    const value = texts[name]
    if (value !== undefined) text = await withSection(text, SESSION_LAYOUT, HEADINGS[name], value)
  }
  return appendTrail(text, [], session.trail)
}

/**
 * Applies an edit: trail, sections, fields, then the seal over all of it. The trail comes first, so that section text
 * that looks like a trail is never mistaken for it.
 */
export async function editedSession(
  text: string,
  present: Session,
  edit: SessionEdit,
): Promise<string> {
  let edited = appendTrail(text, present.trail, edit.lines ?? [])
  const read = readDocument(text)
  const written = read.ok ? read.document.fields : undefined
  const bare = written === null
  const values = yamlFields({ ...present, ...edit.fields })
  const keys = SESSION_KEYS.filter((key) => {
    if (bare) return true // also writes values that were derived from the file's times and location
    const set = edit.fields !== undefined && key in edit.fields
    return set && (values[key] !== null || written?.has(key))
  })
  for (const name of ['hypothesis', 'plan', 'output', 'changes'] as const) {
    const value = edit.texts?.[name]
    if (value !== undefined)
      edited = await withSection(edited, SESSION_LAYOUT, HEADINGS[name], value)
  }
  if (edit.texts?.candidates) {
    const list = candidatesText(edit.texts.candidates)
    edited = await withSection(edited, SESSION_LAYOUT, HEADINGS.candidates, list)
  }
  if (edit.comments) {
    const { comments } = edit
    edited = await withRegion(edited, SESSION_LAYOUT, REVIEW_HEADING, (region, eol) =>
      comments.reduce((text, change) => editedReview(text, change, eol), region),
    )
  }
  const fields = keys.map((key): [string, YamlValue] => [key, values[key]])
  edited = bare ? withKeyLines(edited, fields) : withFields(edited, fields)
  return edit.seal ? appendSeal(edited, edit.seal.time) : edited
}

function yamlFields(session: Session): Record<(typeof SESSION_KEYS)[number], YamlValue> {
  const { trail: _, type, diff, tests, ...fields } = session
  return { ...fields, session_type: type, diff: diffYaml(diff), tests: testsYaml(tests) }
}
