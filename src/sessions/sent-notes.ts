/** What the operator sends to an agent: a note, with the comments of a session. */

import { AppError } from '../model/app-error.ts'
import { type CaseContents, sessionOf } from '../model/case-contents.ts'
import type { SessionType } from '../model/case-state.ts'
import type { CommentView } from '../model/comment.ts'
import { type SentNote, sendComments } from '../model/decide-comments.ts'
import type { Intent } from '../model/intent.ts'
import type { Session } from '../model/session.ts'
import type { Isolation } from '../model/settings.ts'
import { viewComments } from './comments.ts'
import type { SessionDeps } from './deps.ts'
import { mustBePlannableAgain, planAgainNote } from './plan-history.ts'

type NoteDeps = Pick<SessionDeps, 'sessionTexts' | 'plans' | 'withTail'>

export interface NewSession {
  /** By default that of the session that is planned again; with an intent, implementing. */
  type?: SessionType | undefined
  provider?: string | undefined
  note?: string | undefined
  isolation?: Isolation | undefined
  /** Its plan: then nothing plans, and it waits for approval at once. */
  intent?: Intent | undefined
  /**
   * The id of a session to plan again, which failed or has comments: type and provider default to its own, and its
   * failure and its comments are added to the note.
   */
  again?: string | undefined
}

interface RequestedSession {
  type: SessionType
  provider: string | undefined
  note: string | undefined
  /** What the provider gets: the note and, of a session that failed, how. */
  request: string | undefined
  isolation: Isolation | undefined
  /** The number of the session that failed, and is planned again. */
  again?: number
  /** What is sent of the session that is planned again. */
  sent: SentNote | null
}

/** The request for a session, completed from the earlier session if it plans that again. */
export async function requestedSession(
  deps: NoteDeps,
  contents: CaseContents,
  { again, intent, type, provider, note, isolation }: NewSession,
): Promise<RequestedSession> {
  // the schema requires one of the two
  if (again === undefined)
    return {
      type: type ?? (intent ? 'implementing' : type!),
      provider,
      note,
      request: note,
      isolation,
      sent: null,
    }
  const earlier = sessionOf(contents, again)
  const texts = await deps.sessionTexts(contents.case.id, earlier)
  const views = await viewComments(deps.plans, earlier, texts)
  const sent = sendComments(texts.comments, views, { note, to: 'session', withOpen: true })
  mustBePlannableAgain(earlier, sent)
  const hasFailed = earlier.state === 'failed'
  return {
    type: type ?? earlier.type,
    provider: provider ?? earlier.provider,
    isolation: isolation ?? earlier.isolation,
    note: sent.text,
    request: hasFailed ? planAgainNote(withTails(deps, earlier), texts, sent.text) : sent.text,
    ...(hasFailed ? { again: earlier.number } : {}),
    sent,
  }
}

function withTails({ withTail }: NoteDeps, session: Session): Session {
  return { ...session, trail: session.trail.map((line) => withTail(session, line)) }
}

/** The comments of a session. Throws an `AppError` if its file cannot be read. */
export async function sessionComments(
  { sessionTexts, plans }: NoteDeps,
  session: Session,
): Promise<readonly CommentView[]> {
  return viewComments(plans, session, await sessionTexts(session.case_id, session))
}

/** What is sent with a plan that should change. It throws `bad_request` if that is nothing. */
export async function changeRequest(
  deps: NoteDeps,
  session: Session,
  note: string | undefined,
): Promise<(contents: CaseContents) => SentNote> {
  const views = await sessionComments(deps, session)
  return (contents) => {
    const sent = sendComments(contents.texts!.comments, views, { note, to: 'revise' })
    if (sent.text !== '') return sent
    const message = 'expected what to change, as the session has no comments to send'
    throw new AppError('bad_request', `note: ${message}.`, { errors: [{ path: 'note', message }] })
  }
}
