import type { Edit } from '../model/case-folder.ts'
import { CASE_STATES, SESSION_TYPES } from '../model/case-state.ts'
import type { FailedTest } from '../model/failed-test.ts'
import type {
  Diff,
  FileChange,
  SessionEdit,
  SessionFields,
  SessionTexts,
} from '../model/session.ts'
import { SESSION_STATES } from '../model/session-state.ts'
import type { TrailLine } from '../model/trail.ts'
import { TIME, UUID } from '../model/words.ts'
import type { Store } from '../workspace/store.ts'
import type { TextRedactor } from './redaction.ts'

/**
 * A store that removes secrets from everything the service records about a run. Hypothesis and plan are not changed
 * here, because hashes cover the text that the operator read: an agent's texts are redacted earlier, and the
 * operator's are their own words.
 */
export function redactedUpdates(store: Store, redactor: TextRedactor): Store {
  return {
    ...store,
    update: (id, decide, options) =>
      store.update(
        id,
        (folder) => decide(folder).map((edit) => redactedEdit(redactor, edit)),
        options,
      ),
  }
}

function redactedEdit(redactor: TextRedactor, edit: Edit): Edit {
  if (edit.file === 'session') return { ...edit, edit: redactedSession(redactor, edit.edit) }
  if (edit.file !== 'new-session') return edit
  const { session } = edit
  return { ...edit, session: { ...session, trail: redactedLines(redactor, session.trail) } }
}

function redactedSession(redactor: TextRedactor, edit: SessionEdit): SessionEdit {
  const { fields, texts, lines } = edit
  return {
    ...edit,
    ...(fields ? { fields: redactedFields(redactor, fields) } : {}),
    ...(texts ? { texts: redactedTexts(redactor, texts) } : {}),
    ...(lines ? { lines: redactedLines(redactor, lines) } : {}),
  }
}

function redactedFields(redactor: TextRedactor, fields: SessionFields): SessionFields {
  const { diff, failed_tests } = fields
  return {
    ...fields,
    ...(diff ? { diff: redactedDiff(redactor, diff) } : {}),
    ...(failed_tests ? { failed_tests: redactedTests(redactor, failed_tests) } : {}),
  }
}

/** A report quotes whatever values a test compares. */
export function redactedTests(redactor: TextRedactor, tests: readonly FailedTest[]): FailedTest[] {
  const text = (value: string | null) => (value === null ? null : redactor.text(value))
  return tests.map(({ name, message, file, line }) => ({
    name: redactor.text(name),
    message: text(message),
    file: text(file),
    line,
  }))
}

function redactedTexts(
  redactor: TextRedactor,
  texts: Partial<SessionTexts>,
): Partial<SessionTexts> {
  const { output, candidates } = texts
  return {
    ...texts,
    ...(output === undefined ? {} : { output: redactor.text(output) }),
    ...(candidates === undefined
      ? {}
      : { candidates: candidates.map((each) => ({ ...each, note: redactor.text(each.note) })) }),
  }
}

/** Redacts the file names. */
export function redactedDiff(redactor: TextRedactor, { files, ...total }: Diff): Diff {
  const named = (change: FileChange) => ({ ...change, file: redactor.text(change.file) })
  return { ...named(total), ...(files === undefined ? {} : { files: files.map(named) }) }
}

/**
 * Words from closed lists are not redacted: they reveal nothing, even if a password is the same word, and the audit
 * trail would become unreadable.
 */
const CLOSED_WORDS: ReadonlySet<string> = new Set([
  ...CASE_STATES,
  ...SESSION_STATES,
  ...SESSION_TYPES,
  'comparison',
  'checklist',
  'verification',
])

/**
 * Fields with names that the operator gave, in lines that the service writes. They are not redacted, because files
 * and steps are found by these names. No agent text is in these fields.
 */
const GIVEN_NAMES: Readonly<Record<string, readonly string[]>> = {
  session_created: ['provider'],
  session_started: ['provider'],
  agent_completed: ['provider'],
  context_loaded: ['prompt'],
  plan_approved: ['plan'],
  step_started: ['step', 'log', 'report'],
  step_finished: ['step'],
  proof_attached: ['proof_type'],
}

function redactedLines(redactor: TextRedactor, lines: readonly TrailLine[]): TrailLine[] {
  return lines.map((line) => {
    const names = GIVEN_NAMES[line.event] ?? []
    const fields = Object.entries(line.fields).map(([key, value]) => [
      key,
      names.includes(key) ? value : redactedValue(redactor, value),
    ])
    return { ...line, fields: Object.fromEntries(fields) }
  })
}

/** Matches a hash, an id or a time. */
const SHAPED = new RegExp(`^[0-9a-f]{64}$|${UUID.source}|${TIME.source}`)

/**
 * A short secret may match part of a hash or an id by chance: such a value is replaced only if it equals the
 * secret.
 */
function redactedText(redactor: TextRedactor, text: string): string {
  if (CLOSED_WORDS.has(text)) return text
  const redacted = redactor.text(text)
  return SHAPED.test(text) && !/^\[redacted [^\]]*\]$/.test(redacted) ? text : redacted
}

function redactedValue(redactor: TextRedactor, value: unknown): unknown {
  if (typeof value === 'string') return redactedText(redactor, value)
  if (Array.isArray(value)) return value.map((item) => redactedValue(redactor, item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactedValue(redactor, item)]),
  )
}
