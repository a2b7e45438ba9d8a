import { AppError } from './app-error.ts'
import { type CaseContents, type Edit, sessionOf } from './case-contents.ts'
import {
  type Comment,
  type CommentChange,
  type CommentReply,
  type CommentView,
  commentIn,
  composeNote,
  isDraft,
  MAX_COMMENTS,
} from './comment.ts'
import { isFinal, isSealed, type Session } from './session.ts'
import { type NewTrailLine, newLine, type TrailLine } from './trail.ts'
import { numbered } from './trail-lines.ts'

export function addComment(
  contents: CaseContents,
  id: string,
  comment: Comment,
  now: string,
): Edit[] {
  const session = commentableSession(contents, id)
  const comments = commentsIn(contents)
  if (comments.length >= MAX_COMMENTS) {
    throw new AppError(
      'wrong_state',
      `Session ${session.number} has ${comments.length} comments, which is the limit.`,
    )
  }
  const line = newLine('comment_added', {
    id: comment.id,
    line: comment.line ?? undefined,
    file: comment.file ?? undefined,
  })
  return changed(session, { is: 'added', comment }, line, now)
}

/** Edits the text of a draft, or resolves a comment or opens it again. Returns no edits if nothing changes. */
export function changeComment(
  contents: CaseContents,
  id: string,
  { comment: commentId, text, resolved }: { comment: string; text?: string; resolved?: boolean },
  now: string,
): Edit[] {
  const session = commentableSession(contents, id)
  const present = commentIn(commentsIn(contents), commentId)
  const changes: CommentChange[] = []
  const lines: NewTrailLine[] = []
  const changedAs = (what: 'edited' | 'resolved' | 'reopened') =>
    lines.push({ event: 'comment_changed', fields: { id: commentId, what } })
  if (text !== undefined && text !== present.text) {
    mustBeDraft(present, 'edited', 'Reply to it instead.')
    changes.push({ is: 'edited', id: commentId, text })
    changedAs('edited')
  }
  if (resolved !== undefined && resolved !== present.resolved) {
    changes.push({ is: 'marked', id: commentId, resolved })
    changedAs(resolved ? 'resolved' : 'reopened')
  }
  if (changes.length === 0) return []
  const edit = { comments: changes, lines: numbered(session.trail, lines, now) }
  return [{ file: 'session', number: session.number, edit }]
}

export function deleteComment(
  contents: CaseContents,
  id: string,
  comment: string,
  now: string,
): Edit[] {
  const session = commentableSession(contents, id)
  mustBeDraft(commentIn(commentsIn(contents), comment), 'deleted', 'Resolve it instead.')
  const line = newLine('comment_changed', { id: comment, what: 'deleted' })
  return changed(session, { is: 'deleted', id: comment }, line, now)
}

export function answerComment(
  contents: CaseContents,
  id: string,
  { comment, reply }: { comment: string; reply: CommentReply },
): Edit[] {
  const session = commentableSession(contents, id)
  const present = commentIn(commentsIn(contents), comment)
  if (present.replies.length >= MAX_COMMENTS) {
    throw new AppError('wrong_state', `Comment ${comment} has too many replies.`)
  }
  const line = newLine('comment_answered', { id: comment, by: reply.author })
  return changed(session, { is: 'answered', id: comment, reply }, line, reply.created_at)
}

/** A note with the comments that go with it. */
export interface SentNote {
  /** The text for the agent; empty without note and comments. */
  text: string
  /** The two parts of the text. */
  note: string
  comments: string
  changes: CommentChange[]
  /** The entry of the audit log; none without comments. */
  lines: NewTrailLine<'comments_sent'>[]
}

/**
 * Joins the operator's note and the comments of a session that are not resolved. `views` says where they are;
 * `withOpen` repeats those that were sent before.
 */
export function sendComments(
  comments: readonly Comment[],
  views: readonly CommentView[],
  {
    note = '',
    to,
    withOpen = false,
  }: { note?: string | undefined; to: 'revise' | 'approve' | 'session'; withOpen?: boolean },
): SentNote {
  const known = new Map(views.map((view) => [view.id, view]))
  const sent = comments.flatMap((comment): CommentView[] => {
    const view = known.get(comment.id)
    const isOpen = withOpen && view?.status === 'open'
    return view && (isDraft(comment) || isOpen) ? [{ ...view, ...comment }] : []
  })
  const own = note.trim()
  const line = newLine('comments_sent', { count: sent.length, with: to, note: own || undefined })
  return {
    text: composeNote(own, sent),
    note: own,
    comments: composeNote('', sent),
    changes: sent
      .filter(isDraft)
      .map(({ id }): CommentChange => ({ is: 'marked', id, sent: true })),
    lines: sent.length > 0 ? [line] : [],
  }
}

/** Records in a session's file that its comments went to another session; a sealed file stays as it is. */
export function recordSent(
  contents: CaseContents,
  id: string,
  sent: SentNote,
  now: string,
): Edit[] {
  const session = sessionOf(contents, id)
  if (sent.lines.length === 0 || isFinal(session, contents.proofs)) return []
  const isThere = (id: string) => commentsIn(contents).some((comment) => comment.id === id)
  const edit = {
    comments: sent.changes.filter((change) => change.is === 'marked' && isThere(change.id)),
    lines: numbered(session.trail, sent.lines, now),
  }
  return [{ file: 'session', number: session.number, edit }]
}

/** The entries for comments that a person ticked or unticked in the file. */
export function tickedByHand(session: Session, comments: readonly Comment[]): NewTrailLine[] {
  if (isSealed(session)) return []
  return comments.flatMap(({ id, resolved }): NewTrailLine[] => {
    if (resolved === isResolvedInTrail(session.trail, id)) return []
    return [newLine('comment_changed', { id, what: resolved ? 'resolved' : 'reopened' })]
  })
}

function isResolvedInTrail(trail: readonly TrailLine[], id: string): boolean {
  const last = trail.findLast(
    ({ event, fields }) =>
      event === 'comment_changed' &&
      fields.id === id &&
      (fields.what === 'resolved' || fields.what === 'reopened'),
  )
  return last?.event === 'comment_changed' && last.fields.what === 'resolved'
}

/** Whether the session has or had comments, by its audit log. */
export function hasHadComments({ trail }: Pick<Session, 'trail'>): boolean {
  return trail.some(({ event }) => event === 'comment_added')
}

/** Throws `session_ended` if the session's file must not change. */
export function commentableSession(contents: CaseContents, id: string): Session {
  const session = sessionOf(contents, id)
  if (!isFinal(session, contents.proofs)) return session
  throw new AppError(
    'session_ended',
    `Session ${session.number} has ended (${session.state}) and is sealed, so its comments can no longer change. Comment before proof is attached, or start a new session.`,
  )
}

function mustBeDraft({ id, sent }: Comment, done: string, instead: string): void {
  if (!sent) return
  throw new AppError('wrong_state', `Comment ${id} was sent, so it cannot be ${done}. ${instead}`)
}

function commentsIn({ texts }: CaseContents): readonly Comment[] {
  return texts!.comments
}

function changed(
  { number, trail }: Session,
  change: CommentChange,
  line: NewTrailLine,
  now: string,
): Edit[] {
  const edit = { comments: [change], lines: numbered(trail, [line], now) }
  return [{ file: 'session', number, edit }]
}
