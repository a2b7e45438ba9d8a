import {
  type Baseline,
  type IgnoredChange,
  progressOf,
  requiredOf,
  sessionBaseline,
  verificationOf,
} from './baseline.ts'
import type { Case } from './case.ts'
import type { CaseFolder, Edit } from './case-folder.ts'
import type { Session } from './session.ts'

interface Written {
  /** The changes that were ignored before the edit. */
  ignored: readonly IgnoredChange[]
  /** The values in the files after the edit. */
  files: Pick<CaseFolder, 'case' | 'sessions' | 'proofs'>
  isLive(session: Session): boolean
}

/**
 * Returns the baseline after the service has written an edit; the same object if nothing changed. Written values
 * count. During a run they are frozen again; after a run later edits of them count.
 */
export function baselineAfter(
  baseline: Baseline,
  edit: Edit,
  { ignored, files, isLive }: Written,
): Baseline {
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

/** Returns the baseline after a request wrote the whole case.md. */
export function baselineWithCase(baseline: Baseline, value: Case): Baseline {
  const { required: _, ...others } = withState(baseline, value.state)
  return baseline.whole ? { ...others, required: requiredOf(value.checklist) } : others
}

/** Returns the baseline after a request confirmed a session file. */
export function baselineWithSession(baseline: Baseline, session: Session): Baseline {
  return withSession(baseline, session.id, progressOf(session))
}

/** Whether the baseline freezes nothing. */
export function isEmpty({ state, required, proofs, sessions, whole }: Baseline): boolean {
  const named = [...(required ?? []), ...Object.keys(proofs), ...Object.keys(sessions)]
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
