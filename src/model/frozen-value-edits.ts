import type { Case } from './case.ts'
import type { CaseContents, Edit } from './case-contents.ts'
import {
  type CommittedChange,
  type FrozenValues,
  frozenProgress,
  type IgnoredChange,
  isSameItem,
  progressOf,
  type RequiredItem,
  requiredOf,
  verificationOf,
  verificationText,
} from './frozen-values.ts'
import type { Session } from './session.ts'

interface Written {
  /** The changes that were ignored before the edit. */
  ignored: readonly IgnoredChange[]
  /** The values in the files after the edit. */
  files: Pick<CaseContents, 'case' | 'sessions' | 'proofs'>
  isRunningHere(session: Session): boolean
}

/**
 * Returns the frozen values after the service has written an edit; the same object if nothing changed. Written values
 * count. During a run they are frozen again; after a run later edits of them count.
 */
export function frozenAfter(present: FrozenValues, edit: Edit, written: Written): FrozenValues {
  const { ignored, files, isRunningHere } = written
  const frozen = withCommitted(present, edit, written)
  switch (edit.file) {
    case 'case':
      return withItems(withState(frozen, edit.edit.fields?.state), files.case)
    case 'ignored-state':
      return { ...frozen, state: edit.state }
    case 'proof': {
      const proof = files.proofs.find(({ id }) => id === edit.id)
      const isIgnored = ignored.some((each) => each.kind === 'verification' && each.id === edit.id)
      // counting tests after an edit by a person confirms nothing
      if (isIgnored && edit.verification === null) return frozen
      return proof ? withProof(frozen, edit.id, verificationOf(proof)) : frozen
    }
    case 'session': {
      const session = files.sessions.find(({ number }) => number === edit.number)
      const isMove = edit.edit.fields?.state !== undefined
      const isIgnored = ignored.some((each) => each.kind === 'session' && each.id === session?.id)
      // an audit line after an edit by a person confirms nothing
      if (!session || (isIgnored && !isMove)) return frozen
      return withSession(frozen, session.id, frozenProgress(session, isRunningHere))
    }
    case 'new-session': {
      const { session } = edit
      return withSession(frozen, session.id, frozenProgress(session, isRunningHere))
    }
    case 'new-proof':
      return frozen
    default:
      return edit satisfies never
  }
}

/** Without the changes committed by runs that the edit confirms, and with the state to which others would go back. */
function withCommitted(frozen: FrozenValues, edit: Edit, { files }: Written): FrozenValues {
  switch (edit.file) {
    case 'case':
    case 'ignored-state': {
      const state = edit.file === 'case' ? edit.edit.fields?.state : edit.state
      if (state === undefined) return frozen
      return mapCommitted(frozen, (each) => {
        if (each.kind !== 'state') return each
        return each.to === state && edit.file === 'case'
          ? null
          : { ...each, was: state, from: state }
      })
    }
    case 'proof': {
      const proof = files.proofs.find(({ id }) => id === edit.id)
      const isConfirmed = edit.verification !== null && proof !== undefined
      return mapCommitted(frozen, (each) => {
        const isIt = each.kind === 'verification' && each.id === edit.id
        return isIt && isConfirmed && each.to === verificationText(verificationOf(proof))
          ? null
          : each
      })
    }
    default:
      return frozen
  }
}

function mapCommitted(
  frozen: FrozenValues,
  change: (each: CommittedChange) => CommittedChange | null,
): FrozenValues {
  const { committed, ...others } = frozen
  if (!committed) return frozen
  const after = committed.map(change)
  if (after.every((each, index) => each === committed[index])) return frozen
  const left = after.filter((each) => each !== null)
  return left.length === 0 ? others : { ...others, committed: left }
}

/** Returns the frozen values after a request wrote the whole case.md. */
export function frozenWithCase(present: FrozenValues, value: Case): FrozenValues {
  const isRequired = (was: RequiredItem) =>
    value.checklist.some((item) => item.required && isSameItem(item, was))
  const frozen = mapCommitted(present, (each) => {
    if (each.kind === 'state') return each.to === value.state ? null : each
    return each.kind === 'checklist' && !isRequired(each.was) ? null : each
  })
  const { required: _, ...others } = withState(frozen, value.state)
  return frozen.whole ? { ...others, required: requiredOf(value.checklist) } : others
}

/** Returns the frozen values after a request confirmed a session file. */
export function frozenWithSession(present: FrozenValues, session: Session): FrozenValues {
  const frozen = mapCommitted(present, (each) =>
    each.kind === 'session' && each.id === session.id ? null : each,
  )
  return withSession(frozen, session.id, progressOf(session))
}

/** Whether nothing is frozen. */
export function isEmpty({
  state,
  required = [],
  proofs,
  sessions,
  whole,
  committed = [],
}: FrozenValues): boolean {
  const named = [...required, ...Object.keys(proofs), ...Object.keys(sessions), ...committed]
  return !whole && state === undefined && named.length === 0
}

function withState(frozen: FrozenValues, state: Case['state'] | undefined): FrozenValues {
  if (state === undefined) return frozen
  const { state: _, ...others } = frozen
  return frozen.whole ? { ...others, state } : others
}

/** Adds new required items to the frozen values. */
function withItems(frozen: FrozenValues, { checklist }: Case): FrozenValues {
  const before = frozen.required ?? []
  const added = requiredOf(checklist).filter(
    (item) => !before.some((each) => JSON.stringify(each) === JSON.stringify(item)),
  )
  return frozen.whole && added.length > 0 ? { ...frozen, required: [...before, ...added] } : frozen
}

function withProof(frozen: FrozenValues, id: string, verified: string | null): FrozenValues {
  const proofs = withValue(frozen, frozen.proofs, id, verified)
  return proofs === frozen.proofs ? frozen : { ...frozen, proofs }
}

function withSession(frozen: FrozenValues, id: string, progress: string): FrozenValues {
  const sessions = withValue(frozen, frozen.sessions, id, progress)
  return sessions === frozen.sessions ? frozen : { ...frozen, sessions }
}

type Named = Record<string, string | null>

function withValue(
  { whole }: FrozenValues,
  present: Named,
  id: string,
  value: string | null,
): Named {
  if (whole) return present[id] === value ? present : { ...present, [id]: value }
  const { [id]: gone, ...others } = present
  return gone === undefined ? present : others
}
