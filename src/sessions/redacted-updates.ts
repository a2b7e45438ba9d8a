import type { Edit } from '../model/case-folder.ts'
import type { FailedTest } from '../model/failed-test.ts'
import type {
  Diff,
  FileChange,
  SessionEdit,
  SessionFields,
  SessionTexts,
} from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import type { Store } from '../workspace/store.ts'
import type { TextRedactor } from './redaction.ts'

/**
 * The store for those who record what runs: whatever their edits quote, none brings a secret into a session's
 * file. Hypothesis and plan pass as they are, since hashes bind what the operator read: an agent's are
 * without secrets before they come here, and the operator's are his own words.
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

/** A report quotes whatever a test compares. */
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

/** The names of the files. */
export function redactedDiff(redactor: TextRedactor, { files, ...total }: Diff): Diff {
  const named = (change: FileChange) => ({ ...change, file: redactor.text(change.file) })
  return { ...named(total), ...(files === undefined ? {} : { files: files.map(named) }) }
}

/**
 * Words of the service's own, names that it gave, and hashes: a password that happens to be one of these
 * words must not take a session's state out of its trail.
 */
const OWN_WORDS: ReadonlySet<string> = new Set([
  ...[
    'old_state',
    'new_state',
    'state',
    'case_state',
    'type',
    'mode',
    'guard',
    'provider',
    'by',
    'what',
    'kind',
  ],
  ...['step', 'language', 'proof', 'proof_id', 'proof_type', 'log', 'report', 'prompt', 'signal'],
  ...['plan_sha256', 'sha256', 'hypothesis_sha256', 'evidence_sha256', 'prompt_sha256'],
  'changed_case',
])

function redactedLines(redactor: TextRedactor, lines: readonly TrailLine[]): TrailLine[] {
  return lines.map((line) => {
    const isOwn = (key: string) =>
      OWN_WORDS.has(key) || (key === 'plan' && line.event === 'plan_approved')
    const fields = Object.entries(line.fields).map(([key, value]) => [
      key,
      isOwn(key) ? value : redactedValue(redactor, value),
    ])
    return { ...line, fields: Object.fromEntries(fields) }
  })
}

function redactedValue(redactor: TextRedactor, value: unknown): unknown {
  if (typeof value === 'string') return redactor.text(value)
  if (Array.isArray(value)) return value.map((item) => redactedValue(redactor, item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactedValue(redactor, item)]),
  )
}
