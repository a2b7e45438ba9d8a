import type { Case } from './case.ts'
import type { CaseState } from './case-state.ts'
import type { ChecklistItem } from './gate.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import type { Session } from './session.ts'
import type { SessionState } from './session-state.ts'
import { evidenceHashIn } from './trail.ts'

/**
 * Values of a case that are frozen while the program that they judge could write its files. A change by file of a frozen
 * value does not count until a request confirms it.
 */
export interface Baseline {
  /** As written. */
  state?: CaseState | undefined
  required?: RequiredItem[] | undefined
  /** By proof id: what was verified; null where nothing was. */
  proofs: Record<string, string | null>
  /** By session id: how far it was; null where it was not there, `live` where the service itself is at it. */
  sessions: Record<string, string | null>
  /** Whether a proof or session that is not named was not verified, or not there; else it is not asked for. */
  whole: boolean
}

export type RequiredItem = Pick<ChecklistItem, 'description' | 'type'>

/** A change by file that does not count. `from` and `to` are for people. */
export type IgnoredChange = { file: string; from: string; to: string } & (
  | { kind: 'state'; was: CaseState }
  | { kind: 'checklist'; was: RequiredItem }
  | { kind: 'verification' | 'session'; id: string; was: string | null }
)

interface Records {
  case: Case
  sessions: Session[]
  proofs: Proof[]
}

const LIVE = 'live'

/** Nothing of a case that was not there is verified, and no session of it was. */
export const EMPTY_BASELINE: Baseline = { proofs: {}, sessions: {}, whole: true }

/** All that counts of a case now. `isLive`: whether the service itself is at work in a session. */
export function captureBaseline(records: Records, isLive: (session: Session) => boolean): Baseline {
  const proofs = records.proofs.filter(countsAsVerified)
  return {
    state: records.case.state,
    required: requiredOf(records.case.checklist),
    proofs: Object.fromEntries(proofs.map((proof) => [proof.id, verificationOf(proof)])),
    sessions: Object.fromEntries(
      records.sessions.map((session) => [session.id, sessionBaseline(session, isLive)]),
    ),
    whole: true,
  }
}

/** The baseline that still ignores these changes, and nothing else; null if there are none. */
export function baselineOfIgnored(ignored: readonly IgnoredChange[]): Baseline | null {
  if (ignored.length === 0) return null
  const baseline: Baseline = { proofs: {}, sessions: {}, whole: false }
  for (const each of ignored) {
    if (each.kind === 'state') baseline.state = each.was
    else if (each.kind === 'checklist') baseline.required = [...(baseline.required ?? []), each.was]
    else if (each.kind === 'verification') baseline.proofs[each.id] = each.was
    else baseline.sessions[each.id] = each.was
  }
  return baseline
}

export function requiredOf(checklist: readonly ChecklistItem[]): RequiredItem[] {
  return checklist
    .filter((item) => item.required)
    .map(({ description, type }) => ({ description, type }))
}

/**
 * What was verified of a proof: its content, its type, its test results and the reason it was accepted for. Null
 * when it does not count.
 */
export function verificationOf(proof: Proof): string | null {
  if (!countsAsVerified(proof)) return null
  const { type, sha256, tests, exit_code, accepted } = proof
  const said = [
    tests ? `${tests.passed} of ${tests.run} passed${tests.incomplete ? ', incomplete' : ''}` : '',
    exit_code === null ? '' : `exit code ${exit_code}`,
    accepted === null ? '' : `accepted: ${accepted}`,
  ]
  return [`${type} ${sha256}`, ...said.filter((each) => each !== '')].join(', ')
}

/** How far a session is; of one that the service is at, its own journal decides. */
export function sessionBaseline(session: Session, isLive: (session: Session) => boolean): string {
  return isLive(session) ? LIVE : progressOf(session)
}

/** The state, and the last line of the trail, which seals or sums up what is before it. */
export function progressOf({ state, trail }: Session): string {
  const last = trail.at(-1)
  const evidence = last?.event === 'session_completed' ? evidenceHashIn(trail) : undefined
  const hash = last?.fields.sha256 ?? evidence ?? last?.time ?? ''
  return `${state} ${last?.number ?? 0} ${String(hash)}`
}

/** The records as they count, with what is held back of what the files say. */
export function applyBaseline(
  files: Records,
  baseline: Baseline | undefined,
): Records & { ignored: IgnoredChange[] } {
  if (!baseline) return { ...files, ignored: [] }
  const ignored: IgnoredChange[] = []
  const value = { ...files.case }
  if (baseline.state !== undefined && baseline.state !== value.state) {
    ignored.push({
      kind: 'state',
      file: 'case.md',
      from: baseline.state,
      to: value.state,
      was: baseline.state,
    })
    value.state = baseline.state
  }
  value.checklist = requiredStill(value.checklist, baseline.required ?? [], ignored)
  const proofs = files.proofs.map((proof) => {
    const was = baselineValue(baseline.proofs, proof.id, baseline)
    const is = verificationOf(proof)
    if (is === null || was === undefined || was === is) return proof
    const [from, to] = [verifiedWord(was), verifiedWord(is)]
    ignored.push({
      kind: 'verification',
      file: `proof/${proof.id}.md`,
      from,
      to,
      id: proof.id,
      was,
    })
    return { ...proof, verified: false, verified_at: null }
  })
  const sessions = files.sessions.map((session) => {
    const was = baselineValue(baseline.sessions, session.id, baseline)
    const is = progressOf(session)
    if (was === undefined || was === LIVE || was === is) return session
    const file = `sessions/${session.number}.md`
    const [from, to] = [was ?? 'not there', is]
    ignored.push({ kind: 'session', file, from, to, id: session.id, was })
    return was === null ? session : { ...session, state: was.split(' ', 1)[0] as SessionState }
  })
  const isSame = ignored.every(({ file }) => file !== 'case.md')
  return { case: isSame ? files.case : value, proofs, sessions, ignored }
}

function baselineValue(of: Record<string, string | null>, key: string, { whole }: Baseline) {
  return Object.hasOwn(of, key) ? of[key] : whole ? null : undefined
}

function verifiedWord(verification: string | null): string {
  return verification === null ? 'not verified' : `verified (${verification})`
}

/** The items with those that must stay required; what was added only asks for more. */
function requiredStill(
  items: readonly ChecklistItem[],
  required: readonly RequiredItem[],
  ignored: IgnoredChange[],
): ChecklistItem[] {
  let still = [...items]
  const removed: ChecklistItem[] = []
  for (const was of required) {
    if (items.some((item) => item.required && isSameItem(item, was))) continue
    const loosened = still.find((item) => !item.required && item.description === was.description)
    const to = loosened ? itemWord(loosened) : 'not there'
    ignored.push({
      kind: 'checklist',
      file: 'case.md',
      from: itemWord({ ...was, required: true }),
      to,
      was,
    })
    const back = { ...was, required: true, checked: loosened?.checked ?? false }
    if (loosened) still = still.map((item) => (item === loosened ? back : item))
    else removed.push(back)
  }
  return [...removed, ...still]
}

export function isSameItem(a: RequiredItem, b: RequiredItem): boolean {
  return a.description === b.description && a.type === b.type
}

function itemWord({ description, type, required }: Omit<ChecklistItem, 'checked'>): string {
  const words = [type, required ? 'required' : null].filter((word) => word !== null)
  return words.length > 0 ? `${description} (${words.join(', ')})` : description
}
