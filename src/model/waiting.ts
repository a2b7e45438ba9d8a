import { attentionOf } from './attention.ts'
import type { CaseContents } from './case-contents.ts'
import { checksum } from './checksum.ts'
import type { EventFields } from './events.ts'
import { failedCount, type Session } from './session.ts'
import { lastOf } from './trail.ts'

/** What people are notified of. `AttentionKind` has more, which can wait until somebody looks at the list. */
export type WaitingKind = EventFields<'attention_needed'>['kind']

/** What a case waits for. It has counts and numbers, and no text of a plan, a question or an output. */
export interface Waiting {
  kind: WaitingKind
  session_id: string | null
  session: number | null
  text: string
  /** What the cause belongs to: a session id, or `question`. */
  key: string
  /** Differs whenever something else waits. */
  cause: string
}

/** By session id, or `question`: the last cause that was published. */
export type Causes = Readonly<Record<string, string>>

const QUESTION = 'question'

export function waitingOf(contents: CaseContents): Waiting | null {
  const needs = attentionOf(contents)
  if (needs?.kind === 'question') return question(contents)
  const session = contents.sessions.find(({ id }) => id === needs?.session_id)
  if (!session) return null
  switch (needs?.kind) {
    case 'plan':
      return ofSession(session, 'plan', `The plan of session ${session.number} is ready`)
    case 'failed':
      return ofSession(session, 'failed', `Session ${session.number} failed${failedTests(session)}`)
    case 'proof':
      return ofSession(
        session,
        'proof',
        `Session ${session.number} finished and needs verification`,
      )
    default:
      return null
  }
}

/**
 * The causes to store: those of sessions that are still there stay, so that a problem that comes and goes, or a plan
 * that is read again, is no new cause.
 */
export function nextCauses(contents: CaseContents, before: Causes): Causes {
  const waiting = waitingOf(contents)
  const stay = Object.entries(before).filter(([key]) =>
    key === QUESTION ? isAsked(contents) : contents.sessions.some(({ id }) => id === key),
  )
  return Object.fromEntries(waiting ? [...stay, [waiting.key, waiting.cause]] : stay)
}

function isAsked({ case: { state } }: CaseContents): boolean {
  return state === 'NEEDS_USER_INPUT'
}

function question({ case: { reason } }: CaseContents): Waiting {
  return {
    kind: 'question',
    session_id: null,
    session: null,
    text: 'A question needs your answer',
    key: QUESTION,
    cause: checksum(reason ?? ''),
  }
}

/** A session that plans again, or is retried, has a later state line. */
function ofSession(session: Session, kind: WaitingKind, text: string): Waiting {
  const since = lastOf(session.trail, 'session_state_changed')?.number ?? 0
  return {
    kind,
    session_id: session.id,
    session: session.number,
    text,
    key: session.id,
    cause: `${kind} ${since}`,
  }
}

function failedTests({ tests }: Session): string {
  if (!tests || tests.failed === 0) return ''
  return `: ${failedCount(tests)}`
}
