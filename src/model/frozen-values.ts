import type { Case } from './case.ts'
import type { CaseState } from './case-state.ts'
import type { ChecklistItem } from './gate.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import type { Session } from './session.ts'
import type { SessionState } from './session-state.ts'
import { evidenceHashIn, type TrailLine } from './trail.ts'

/**
 * Values of a case that are frozen while a run's programs can write the case files. An edit of a frozen value by file
 * is ignored until a request confirms it.
 */
export interface FrozenValues {
  /** The state as written in case.md. */
  state?: CaseState | undefined
  required?: RequiredItem[] | undefined
  /** By proof id: what was verified; null if it was not verified. */
  proofs: Record<string, string | null>
  /** By session id: its progress; null if it did not exist, `live` if the service is running it. */
  sessions: Record<string, string | null>
  /**
   * If true, proofs and sessions that are not listed count as unverified or missing; if false, they are not compared.
   */
  whole: boolean
  /** What runs committed to the records of the case: it does not count until a request confirms it. */
  committed?: readonly CommittedChange[] | undefined
  /** Processes that a run left behind, which may make changes; only while they live. */
  left?: string | undefined
}

export type RequiredItem = Pick<ChecklistItem, 'description' | 'type'>

/** An edit by file that is ignored. `from` and `to` are shown to people. */
export type IgnoredChange = { file: string; from: string; to: string } & (
  | { kind: 'state'; was: CaseState }
  | { kind: 'checklist'; was: RequiredItem }
  | { kind: 'verification' | 'session'; id: string; was: string | null }
) & {
    /** The session that committed it, where it is known to be one. */
    by?: RunName | undefined
  }

export interface RunName {
  case_id: string
  number: number
}

/** A change that a run committed, perhaps on another branch: git may bring it into the files at any time. */
export type CommittedChange = IgnoredChange & {
  by: RunName
  /** The audit lines that only the run's version has, as `lineKey` names them. */
  lines?: readonly string[] | undefined
}

interface Records {
  case: Case
  sessions: Session[]
  proofs: Proof[]
}

const LIVE = 'live'

/** The frozen values of a case that did not exist: none of its proofs and sessions count. */
export const NONE_EXISTED: FrozenValues = { proofs: {}, sessions: {}, whole: true }

/** Captures the values that count now. `isRunningHere` says whether the service is running a session. */
export function freezeValues(
  records: Records,
  isRunningHere: (session: Session) => boolean,
  committed?: FrozenValues['committed'],
): FrozenValues {
  const proofs = records.proofs.filter(countsAsVerified)
  return {
    state: records.case.state,
    required: requiredOf(records.case.checklist),
    proofs: Object.fromEntries(proofs.map((proof) => [proof.id, verificationOf(proof)])),
    sessions: Object.fromEntries(
      records.sessions.map((session) => [session.id, frozenProgress(session, isRunningHere)]),
    ),
    whole: true,
    ...(committed && { committed }),
  }
}

/** Returns frozen values that ignore just these changes, and what runs committed; null if there are none. */
export function frozenOfIgnored(
  ignored: readonly IgnoredChange[],
  committed: FrozenValues['committed'] = [],
): FrozenValues | null {
  const own = ignored.filter(({ by }) => by === undefined)
  if (own.length === 0 && committed.length === 0) return null
  const frozen: FrozenValues = { proofs: {}, sessions: {}, whole: false }
  if (committed.length > 0) frozen.committed = committed
  for (const each of own) {
    if (each.kind === 'state') frozen.state = each.was
    else if (each.kind === 'checklist') frozen.required = [...(frozen.required ?? []), each.was]
    else if (each.kind === 'verification') frozen.proofs[each.id] = each.was
    else frozen.sessions[each.id] = each.was
  }
  return frozen
}

export function requiredOf(checklist: readonly ChecklistItem[]): RequiredItem[] {
  return checklist
    .filter((item) => item.required)
    .map(({ description, type }) => ({ description, type }))
}

/**
 * Describes what was verified of a proof: its type, content hash, test results and the reason for accepting it. Null
 * if it does not count as verified.
 */
export function verificationOf(proof: Proof): string | null {
  if (!countsAsVerified(proof)) return null
  const { type, sha256, tests, exit_code, accepted } = proof
  const details = [
    tests ? `${tests.passed} of ${tests.run} passed${tests.incomplete ? ', incomplete' : ''}` : '',
    exit_code === null ? '' : `exit code ${exit_code}`,
    accepted === null ? '' : `accepted: ${accepted}`,
  ]
  return [`${type} ${sha256}`, ...details.filter((each) => each !== '')].join(', ')
}

/** Returns a session's progress. For a session that the service is running, the service's own journal decides. */
export function frozenProgress(
  session: Session,
  isRunningHere: (session: Session) => boolean,
): string {
  return isRunningHere(session) ? LIVE : progressOf(session)
}

/** Returns the state and the last audit line with its hash, which covers the lines before it. */
export function progressOf({ state, trail }: Session): string {
  const last = trail.at(-1)
  const evidence = last?.event === 'session_completed' ? evidenceHashIn(trail) : undefined
  const fields: Readonly<Record<string, unknown>> = last?.fields ?? {}
  const hash = fields.sha256 ?? evidence ?? last?.time ?? ''
  return `${state} ${last?.number ?? 0} ${String(hash)}`
}

/** Returns the records with frozen values applied, and the changes that were ignored. */
export function applyFrozenValues(
  files: Records,
  present: FrozenValues | undefined,
): Records & { ignored: IgnoredChange[] } {
  if (!present) return { ...files, ignored: [] }
  const committed = (present.committed ?? []).filter((each) => isInFiles(each, files))
  const frozen = committed.reduce(withCommitted, present)
  const ignored: IgnoredChange[] = []
  const value = { ...files.case }
  if (frozen.state !== undefined && frozen.state !== value.state) {
    ignored.push({
      kind: 'state',
      file: 'case.md',
      from: frozen.state,
      to: value.state,
      was: frozen.state,
    })
    value.state = frozen.state
  }
  value.checklist = keepRequired(value.checklist, frozen.required ?? [], ignored)
  const proofs = files.proofs.map((proof) => {
    const was = frozenValue(frozen.proofs, proof.id, frozen)
    const is = verificationOf(proof)
    if (is === null || was === undefined || was === is) return proof
    const [from, to] = [verificationText(was), verificationText(is)]
    ignored.push({
      kind: 'verification',
      file: `proof/${proof.id}.md`,
      from,
      to,
      id: proof.id,
      was,
    })
    return { ...proof, verified: false, verified_at: null, verified_by: null, meets: [] }
  })
  const sessions = files.sessions.map((session) => {
    const was = frozenValue(frozen.sessions, session.id, frozen)
    const is = progressOf(session)
    if (was === undefined || was === LIVE || was === is) return session
    const file = `sessions/${session.number}.md`
    const [from, to] = [was ?? 'missing', is]
    ignored.push({ kind: 'session', file, from, to, id: session.id, was })
    return was === null ? session : { ...session, state: was.split(' ', 1)[0] as SessionState }
  })
  const isSame = ignored.every(({ file }) => file !== 'case.md')
  for (const each of ignored) {
    const by = committed.find((one) => changeKey(one) === changeKey(each))?.by
    if (by) each.by = by
  }
  return { case: isSame ? files.case : value, proofs, sessions, ignored }
}

/** Whether git brought into the files what a run committed. */
function isInFiles(change: CommittedChange, files: Records): boolean {
  switch (change.kind) {
    case 'state':
      return files.case.state === change.to
    case 'checklist':
      return !files.case.checklist.some((item) => item.required && isSameItem(item, change.was))
    case 'verification': {
      const proof = files.proofs.find(({ id }) => id === change.id)
      return proof !== undefined && verificationText(verificationOf(proof)) === change.to
    }
    case 'session': {
      const session = files.sessions.find(({ id }) => id === change.id)
      if (!change.lines?.length) return session !== undefined && progressOf(session) === change.to
      return session !== undefined && hasLines(session, change)
    }
    default:
      return change satisfies never
  }
}

/** The frozen values, with the value from before a change that the files have; a frozen value stays. */
function withCommitted(frozen: FrozenValues, change: CommittedChange): FrozenValues {
  switch (change.kind) {
    case 'state':
      return { state: change.was, ...frozen }
    case 'checklist':
      return { ...frozen, required: [...(frozen.required ?? []), change.was] }
    case 'verification':
      return { ...frozen, proofs: { [change.id]: change.was, ...frozen.proofs } }
    case 'session':
      return { ...frozen, sessions: { [change.id]: change.was, ...frozen.sessions } }
    default:
      return change satisfies never
  }
}

/** What a change is about, whatever the values before and after it. */
export function changeKey(change: IgnoredChange): string {
  const { kind, file } = change
  return kind === 'checklist' ? `${file} ${JSON.stringify(change.was)}` : `${kind} ${file}`
}

/** Equal for the same change by the same run. */
export function committedKey(change: CommittedChange): string {
  const { to, by, lines } = change
  return JSON.stringify([changeKey(change), to, by.case_id, by.number, lines])
}

/** Whether the audit trail has lines that a run committed. */
export function hasLines(
  { id, trail }: Pick<Session, 'id' | 'trail'>,
  change: CommittedChange,
): boolean {
  if (change.kind !== 'session' || change.id !== id) return false
  return trail.some((line) => change.lines?.includes(lineKey(line)))
}

/** Names an audit line by what it says; its number may change in a merge. */
export function lineKey({ time, event, fields }: TrailLine): string {
  return JSON.stringify([time, event, fields])
}

function frozenValue(values: Record<string, string | null>, key: string, { whole }: FrozenValues) {
  return Object.hasOwn(values, key) ? values[key] : whole ? null : undefined
}

export function verificationText(verification: string | null): string {
  return verification === null ? 'not verified' : `verified (${verification})`
}

/** Returns the items plus those that must stay required. Added items remain, as they only require more. */
function keepRequired(
  items: readonly ChecklistItem[],
  required: readonly RequiredItem[],
  ignored: IgnoredChange[],
): ChecklistItem[] {
  let result = [...items]
  const removed: ChecklistItem[] = []
  for (const was of required) {
    if (items.some((item) => item.required && isSameItem(item, was))) continue
    const loosened = result.find((item) => !item.required && item.description === was.description)
    const to = loosened ? itemText(loosened) : 'missing'
    ignored.push({
      kind: 'checklist',
      file: 'case.md',
      from: itemText({ ...was, required: true }),
      to,
      was,
    })
    const back = { ...was, required: true, checked: loosened?.checked ?? false }
    if (loosened) result = result.map((item) => (item === loosened ? back : item))
    else removed.push(back)
  }
  return [...removed, ...result]
}

export function isSameItem(a: RequiredItem, b: RequiredItem): boolean {
  return a.description === b.description && a.type === b.type
}

function itemText({ description, type, required }: Omit<ChecklistItem, 'checked'>): string {
  const words = [type, required ? 'required' : null].filter((word) => word !== null)
  return words.length > 0 ? `${description} (${words.join(', ')})` : description
}
