import { decodeUtf8 } from '../files/safe-read.ts'
import { CASE_FILE, MAX_CASE_BYTES, readCase } from '../markdown/case-file.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import { fieldNames } from '../markdown/fields.ts'
import { actLines } from '../markdown/history-file.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import { readSessionTexts, type TextsReading } from '../markdown/session-texts.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { type CaseContents, gateOf } from '../model/case-contents.ts'
import { HISTORY_FILE } from '../model/history.ts'
import type { Problem } from '../model/problem.ts'
import { isFinal, type Session, type SessionTexts } from '../model/session.ts'

/**
 * Validates a PUT of a whole case.md and returns the parsed case. Throws 422 if it has problems or drops fields
 * that only the file has. RESOLVED must pass the proof gate here, too.
 */
export async function checkCaseFile(
  contents: CaseContents,
  bytes: Uint8Array,
  present: Uint8Array | null,
): Promise<Case> {
  const text = textOf('case.md', bytes, MAX_CASE_BYTES)
  const { id, created_at } = contents.case
  const { value, problems } = await readCase(text, { id, created_at })
  mustBeClean('case.md', problems)
  if (present) mustKeepFields(present, text)
  mustPassGate({ ...contents, case: value! })
  return value!
}

/**
 * Without these fields the case would start over as a new one. A person may do that in the file; in a request it is
 * a mistake.
 */
const KEPT_FIELDS = ['id', 'created_at', 'state']

function mustKeepFields(present: Uint8Array, text: string): void {
  const before = decodeUtf8(present)
  if (!before.ok) return
  const after = fieldNames(text, CASE_FILE)
  const names = fieldNames(before.text, CASE_FILE)
  const lost = KEPT_FIELDS.filter((key) => names.has(key) && !after.has(key))
  if (lost.length === 0) return
  throw wouldBeProblem(
    CASE_FILE,
    `its frontmatter has ${lost.join(', ')}, but the body does not. Send the whole file as GET returns it, with your changes, or send single fields to PUT /cases/:id`,
  )
}

function mustPassGate(contents: CaseContents): void {
  const gate = gateOf(contents)
  if (contents.case.state !== 'RESOLVED' || gate.open) return
  throw new AppError(
    'proof_gate',
    `case.md was not written: it says RESOLVED, but the proof gate is shut: missing ${gate.missing.join(', and ')}.`,
    { extra: { missing: gate.missing, gate } },
  )
}

/** Validates the case.md of a new case and returns its text. A new case has no proof, so the gate is closed. */
export async function checkNewCaseFile(
  id: string,
  bytes: Uint8Array,
  now: string,
): Promise<string> {
  const text = textOf('case.md', bytes, MAX_CASE_BYTES)
  const { value, problems } = await readCase(text, { id, created_at: now })
  mustBeClean('case.md', problems)
  mustPassGate({ case: value!, sessions: [], proofs: [], problems: [], ignored: [] })
  return text
}

/** Validates a PUT of a live session's file. Its audit trail, state and evidence cannot be changed this way. */
export async function checkSessionFile(
  sessionTexts: (caseId: string, session: Session) => Promise<SessionTexts>,
  contents: CaseContents,
  number: number,
  bytes: Uint8Array,
): Promise<void> {
  const file = `sessions/${number}.md`
  const present = contents.sessions.find((session) => session.number === number)!
  if (isFinal(present, contents.proofs)) {
    throw new AppError(
      'session_ended',
      `Session ${number} has ended and is sealed, so its file cannot be changed.`,
    )
  }
  const text = textOf(file, bytes, MAX_SESSION_BYTES)
  const { id: case_id, title: case_title } = contents.case
  const origin = { case_id, number, case_title, created_at: present.started_at }
  const { value, problems } = readSession(text, origin)
  mustBeClean(file, problems)
  for (const key of Object.keys(present) as (keyof Session)[]) {
    if (JSON.stringify(value![key]) === JSON.stringify(present[key])) continue
    throw wouldBeProblem(file, `it changes ${key}, which only the service may write`)
  }
  const texts = await readSessionTexts(text, value!)
  mustBeClean(file, texts.problems)
  const before = await sessionTexts(case_id, present)
  const editable = present.state === 'plan_ready' ? ['hypothesis', 'plan'] : []
  for (const key of Object.keys(before) as (keyof SessionTexts)[]) {
    const same = JSON.stringify(texts.value![key]) === JSON.stringify(before[key])
    if (!same && !editable.includes(key)) {
      throw wouldBeProblem(
        file,
        `its ${key} cannot be changed while the session is ${present.state}`,
      )
    }
  }
  if (editable.length > 0 && texts.value!.plan.trim() === '') {
    throw wouldBeProblem(file, 'its plan would be blank')
  }
  const { errors } = await readPlan(texts.value!.plan)
  if (editable.length > 0 && errors.length > 0) {
    throw wouldBeProblem(file, `line ${errors[0]!.line} of the plan: ${errors[0]!.message}`)
  }
}

/** Validates a PUT of history.md. People may add lines; the service's lines cannot be changed or added. */
export function checkHistoryFile(present: Buffer, bytes: Uint8Array): void {
  const before = decodeUtf8(present)
  if (!before.ok || conflictLine(before.text) !== null) return // the present file is broken, so any replacement is accepted
  const text = decodeUtf8(bytes)
  if (!text.ok) throw wouldBeProblem(HISTORY_FILE, `line ${text.line} is not UTF-8`)
  const [was, is] = [actLines(before.text), actLines(text.text)]
  if (was.some((line, index) => is[index] !== line)) {
    throw wouldBeProblem(
      HISTORY_FILE,
      'a line written by the service is missing or different; you can only add lines of your own',
    )
  }
  if (is.length > was.length) {
    throw wouldBeProblem(
      HISTORY_FILE,
      'a new line looks like one that the service writes; write a note as plain text',
    )
  }
}

function textOf(file: string, bytes: Uint8Array, maxBytes: number): string {
  if (bytes.byteLength > maxBytes) {
    throw new AppError(
      'too_large',
      `${file} may have at most ${maxBytes} bytes; this has ${bytes.byteLength}.`,
    )
  }
  const text = decodeUtf8(bytes)
  if (text.ok && /[^\s\ufeff]/.test(text.text)) return text.text
  if (text.ok) throw wouldBeProblem(file, 'it would be empty')
  throw wouldBeProblem(file, `line ${text.line} is not UTF-8`)
}

function mustBeClean(file: string, problems: readonly Problem[]): void {
  const [problem] = problems
  if (!problem) return
  const where = problem.line === null ? '' : ` (line ${problem.line})`
  throw wouldBeProblem(file, `${problem.message}${where}`, problem)
}

function wouldBeProblem(file: string, why: string, problem?: Problem): AppError {
  return new AppError('would_be_a_problem', `${file} was not written: ${why}.`, {
    ...(problem ? { extra: { problem } } : {}),
  })
}

/** The problems in a session's sections, which are read only when someone asks for them. */
export async function textProblems(
  { value, problems }: TextsReading,
  { number, state }: Session,
): Promise<Problem[]> {
  if (state !== 'plan_ready') return problems
  const plan = value?.plan ?? ''
  const invalid = (message: string): Problem => ({
    code: 'invalid_plan',
    file: `sessions/${number}.md`,
    line: null,
    message,
  })
  if (value && plan.trim() === '') {
    return [
      ...problems,
      invalid('the plan is blank: write one below "## Plan", or request a new one'),
    ]
  }
  const { errors } = await readPlan(plan)
  return [
    ...problems,
    ...errors.map(({ line, message }) => invalid(`line ${line} of the plan: ${message}`)),
  ]
}
