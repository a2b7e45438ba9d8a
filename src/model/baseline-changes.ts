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
  /** What was held back before the edit. */
  ignored: readonly IgnoredChange[]
  /** What the files say after it. */
  files: Pick<CaseFolder, 'case' | 'sessions' | 'proofs'>
  isLive(session: Session): boolean
}

/**
 * The pins after an edit that the service has written: what it wrote counts. While a run goes on that
 * is pinned in its turn; after it nothing is held back there any more. The same object where nothing is new.
 */
export function baselineAfter(
  pins: Baseline,
  edit: Edit,
  { ignored, files, isLive }: Written,
): Baseline {
  switch (edit.file) {
    case 'case':
      return withItems(withState(pins, edit.edit.fields?.state), files.case)
    case 'ignored-state':
      return { ...pins, state: edit.state }
    case 'proof': {
      const proof = files.proofs.find(({ id }) => id === edit.id)
      const isHeld = ignored.some((each) => each.kind === 'verification' && each.id === edit.id)
      // a count in answer to a hand edit confirms nothing
      if (isHeld && edit.verification === null) return pins
      return proof ? withProof(pins, edit.id, verificationOf(proof)) : pins
    }
    case 'session': {
      const session = files.sessions.find(({ number }) => number === edit.number)
      const isMove = edit.edit.fields?.state !== undefined
      const isHeld = ignored.some((each) => each.kind === 'session' && each.id === session?.id)
      // a line in answer to a hand edit confirms nothing
      if (!session || (isHeld && !isMove)) return pins
      return withSession(pins, session.id, sessionBaseline(session, isLive))
    }
    case 'new-session': {
      const { session } = edit
      return withSession(pins, session.id, sessionBaseline(session, isLive))
    }
    case 'new-proof':
      return pins
    default:
      return edit satisfies never
  }
}

/** The pins after a request wrote the whole case.md. */
export function baselineWithCase(pins: Baseline, value: Case): Baseline {
  const { required: _, ...others } = withState(pins, value.state)
  return pins.whole ? { ...others, required: requiredOf(value.checklist) } : others
}

/** The pins after a request confirmed a session file as it stands. */
export function baselineWithSession(pins: Baseline, session: Session): Baseline {
  return withSession(pins, session.id, progressOf(session))
}

/** Whether nothing is held back by them. */
export function isEmpty({ state, required, proofs, sessions, whole }: Baseline): boolean {
  const named = [...(required ?? []), ...Object.keys(proofs), ...Object.keys(sessions)]
  return !whole && state === undefined && named.length === 0
}

function withState(pins: Baseline, state: Case['state'] | undefined): Baseline {
  if (state === undefined) return pins
  const { state: _, ...others } = pins
  return pins.whole ? { ...others, state } : others
}

/** What is required besides from now on. */
function withItems(pins: Baseline, { checklist }: Case): Baseline {
  const before = pins.required ?? []
  const added = requiredOf(checklist).filter(
    (item) => !before.some((each) => JSON.stringify(each) === JSON.stringify(item)),
  )
  return pins.whole && added.length > 0 ? { ...pins, required: [...before, ...added] } : pins
}

function withProof(pins: Baseline, id: string, verified: string | null): Baseline {
  const proofs = settled(pins, pins.proofs, id, verified)
  return proofs === pins.proofs ? pins : { ...pins, proofs }
}

function withSession(pins: Baseline, id: string, pin: string): Baseline {
  const sessions = settled(pins, pins.sessions, id, pin)
  return sessions === pins.sessions ? pins : { ...pins, sessions }
}

type Named = Record<string, string | null>

function settled({ whole }: Baseline, present: Named, id: string, value: string | null): Named {
  if (whole) return present[id] === value ? present : { ...present, [id]: value }
  const { [id]: gone, ...others } = present
  return gone === undefined ? present : others
}
