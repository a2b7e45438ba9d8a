import type { CaseContents } from './case-contents.ts'
import { type Act, compareMinutes, type HistoryEntry, isEntryOf } from './history.ts'
import { type ActName, actText, kindOf, sessionOf } from './history-act.ts'
import { attachedTo, proofAct, sessionActs } from './history-acts.ts'
import type { Session } from './session.ts'

/**
 * Completes the history of a case that is older than its history.md: puts entries that follow from its other files
 * before the recorded ones. They are only shown, never written.
 */
export function withDerived(
  contents: CaseContents,
  entries: readonly HistoryEntry[],
): HistoryEntry[] {
  const hasCreation = entries.some(({ kind }) => kind === 'created' || kind === 'imported')
  const first = entries.find(({ kind, at }) => at !== null && kind !== 'created')?.at ?? null
  const derived = derivedEntries(contents)
    .filter(({ kind }) => !(hasCreation && kind === 'created'))
    .filter(({ at, act }) => {
      const order = first === null ? -1 : compareMinutes(at!, first)
      return order < 0 || (order === 0 && !entries.some((entry) => isEntryOf(entry, act!, at!)))
    })
  // the recorded creation comes before all derived entries
  const creation = entries.findIndex(({ kind }) => kind === 'created' || kind === 'imported')
  return [...entries.slice(0, creation + 1), ...derived, ...entries.slice(creation + 1)]
}

function derivedEntries({ case: record, sessions, proofs }: CaseContents): HistoryEntry[] {
  const entries = [
    entryOf(record.created_at, null, { act: { name: 'created' } }),
    ...sessions.flatMap(sessionEntries),
    ...proofs.map((proof) => {
      const session = sessions.find(({ id }) => id === proof.session_id)
      return entryOf(proof.created_at, null, { act: attachedTo(proof, session) })
    }),
    ...proofs
      .filter(({ verified_at }) => verified_at !== null)
      .map((proof) => entryOf(proof.verified_at!, null, { act: proofAct('verified', proof) })),
  ]
  return entries.sort((a, b) => (a.at! < b.at! ? -1 : a.at! > b.at! ? 1 : 0))
}

function sessionEntries(session: Session): HistoryEntry[] {
  return session.trail.flatMap((line) =>
    sessionActs(session, [line], {}, null).map((act) => {
      const isOwn = OF_PROVIDER.includes(act.act.name)
      return entryOf(line.time, act.who ?? (isOwn ? session.provider : null), act)
    }),
  )
}

const OF_PROVIDER: readonly ActName[] = ['plan_ready', 'run_ended']

/** The entry of an act that no line of history.md has. */
export function entryOf(
  at: string,
  who: string | null,
  { act, text = '' }: Pick<Act, 'act' | 'text'>,
): HistoryEntry {
  return {
    at,
    who,
    what: actText(act),
    text: text === '' ? null : text,
    kind: kindOf(act),
    act,
    session: sessionOf(act),
    recorded: false,
    source: 'derived',
  }
}
