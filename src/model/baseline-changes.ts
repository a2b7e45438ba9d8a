import {
  type Baseline,
  type CommittedChange,
  type IgnoredChange,
  isSameItem,
  progressOf,
  type RequiredItem,
  requiredOf,
  sessionBaseline,
  verificationOf,
  verificationText,
} from './baseline.ts'
import type { Case } from './case.ts'
import type { CaseContents, Edit } from './case-contents.ts'
import type { Session } from './session.ts'

interface Written {
  /** The changes that were ignored before the edit. */
  ignored: readonly IgnoredChange[]
  /** The values in the files after the edit. */
  files: Pick<CaseContents, 'case' | 'sessions' | 'proofs'>
  isLive(session: Session): boolean
}

/**
 * Returns the baseline after the service has written an edit; the same object if nothing changed. Written values
 * count. During a run they are frozen again; after a run later edits of them count.
 */
export function baselineAfter(present: Baseline, edit: Edit, written: Written): Baseline {
  const { ignored, files, isLive } = written
  const baseline = withCommitted(present, edit, written)
  switch (edit.file) {
    case 'case':
      return withItems(withState(baseline, edit.edit.fields?.state), files.case)
    case 'ignored-state':
      return { ...baseline, state: edit.state }
    case 'proof': {
      const proof = files.proofs.find(({ id }) => id === edit.id)
      const isIgnored = ignored.some((each) => each.kind === 'verification' && each.id === edit.id)
      // counting tests after an edit by a person confirms nothing
      if (isIgnored && edit.verification === null) return baseline
      return proof ? withProof(baseline, edit.id, verificationOf(proof)) : baseline
    }
    case 'session': {
      const session = files.sessions.find(({ number }) => number === edit.number)
      const isMove = edit.edit.fields?.state !== undefined
      const isIgnored = ignored.some((each) => each.kind === 'session' && each.id === session?.id)
      // an audit line after an edit by a person confirms nothing
      if (!session || (isIgnored && !isMove)) return baseline
      return withSession(baseline, session.id, sessionBaseline(session, isLive))
    }
    case 'new-session': {
      const { session } = edit
      return withSession(baseline, session.id, sessionBaseline(session, isLive))
    }
    case 'new-proof':
      return baseline
    default:
      return edit satisfies never
  }
}

/** Without the changes committed by runs that the edit confirms, and with the state to which others would go back. */
function withCommitted(baseline: Baseline, edit: Edit, { files }: Written): Baseline {
  switch (edit.file) {
    case 'case':
    case 'ignored-state': {
      const state = edit.file === 'case' ? edit.edit.fields?.state : edit.state
      if (state === undefined) return baseline
      return mapCommitted(baseline, (each) => {
        if (each.kind !== 'state') return each
        return each.to === state && edit.file === 'case'
          ? null
          : { ...each, was: state, from: state }
      })
    }
    case 'proof': {
      const proof = files.proofs.find(({ id }) => id === edit.id)
      const isConfirmed = edit.verification !== null && proof !== undefined
      return mapCommitted(baseline, (each) => {
        const isIt = each.kind === 'verification' && each.id === edit.id
        return isIt && isConfirmed && each.to === verificationText(verificationOf(proof))
          ? null
          : each
      })
    }
    default:
      return baseline
  }
}

function mapCommitted(
  baseline: Baseline,
  change: (each: CommittedChange) => CommittedChange | null,
): Baseline {
  const { committed, ...others } = baseline
  if (!committed) return baseline
  const after = committed.map(change)
  if (after.every((each, index) => each === committed[index])) return baseline
  const left = after.filter((each) => each !== null)
  return left.length === 0 ? others : { ...others, committed: left }
}

/** Returns the baseline after a request wrote the whole case.md. */
export function baselineWithCase(present: Baseline, value: Case): Baseline {
  const isRequired = (was: RequiredItem) =>
    value.checklist.some((item) => item.required && isSameItem(item, was))
  const baseline = mapCommitted(present, (each) => {
    if (each.kind === 'state') return each.to === value.state ? null : each
    return each.kind === 'checklist' && !isRequired(each.was) ? null : each
  })
  const { required: _, ...others } = withState(baseline, value.state)
  return baseline.whole ? { ...others, required: requiredOf(value.checklist) } : others
}

/** Returns the baseline after a request confirmed a session file. */
export function baselineWithSession(present: Baseline, session: Session): Baseline {
  const baseline = mapCommitted(present, (each) =>
    each.kind === 'session' && each.id === session.id ? null : each,
  )
  return withSession(baseline, session.id, progressOf(session))
}

/** Whether the baseline freezes nothing. */
export function isEmpty({
  state,
  required = [],
  proofs,
  sessions,
  whole,
  committed = [],
}: Baseline): boolean {
  const named = [...required, ...Object.keys(proofs), ...Object.keys(sessions), ...committed]
  return !whole && state === undefined && named.length === 0
}

function withState(baseline: Baseline, state: Case['state'] | undefined): Baseline {
  if (state === undefined) return baseline
  const { state: _, ...others } = baseline
  return baseline.whole ? { ...others, state } : others
}

/** Adds new required items to the baseline. */
function withItems(baseline: Baseline, { checklist }: Case): Baseline {
  const before = baseline.required ?? []
  const added = requiredOf(checklist).filter(
    (item) => !before.some((each) => JSON.stringify(each) === JSON.stringify(item)),
  )
  return baseline.whole && added.length > 0
    ? { ...baseline, required: [...before, ...added] }
    : baseline
}

function withProof(baseline: Baseline, id: string, verified: string | null): Baseline {
  const proofs = withValue(baseline, baseline.proofs, id, verified)
  return proofs === baseline.proofs ? baseline : { ...baseline, proofs }
}

function withSession(baseline: Baseline, id: string, progress: string): Baseline {
  const sessions = withValue(baseline, baseline.sessions, id, progress)
  return sessions === baseline.sessions ? baseline : { ...baseline, sessions }
}

type Named = Record<string, string | null>

function withValue({ whole }: Baseline, present: Named, id: string, value: string | null): Named {
  if (whole) return present[id] === value ? present : { ...present, [id]: value }
  const { [id]: gone, ...others } = present
  return gone === undefined ? present : others
}
