import { AppError } from './app-error.ts'

/** What a comment is about: a plan, or the diff of a run. */
export interface CommentTarget {
  on: 'plan' | 'diff'
  /** The first 12 hex digits of the SHA-256 of the plan or the patch that was commented on. */
  sha256: string
  /** The changed file, for a comment on a diff. */
  file: string | null
  side: 'old' | 'new' | null
  /** 1-based; null for a comment on the whole plan. */
  line: number | null
  /** The last line of a range; null for a single line. */
  end_line: number | null
}

export interface CommentReply {
  author: string
  text: string
  created_at: string
}

/** A comment as its session file has it. */
export interface Comment extends CommentTarget {
  /** 8 hex digits, unique in its session. */
  id: string
  author: string
  created_at: string
  sent: boolean
  resolved: boolean
  /** The commented lines as they were. */
  quote: string
  text: string
  replies: readonly CommentReply[]
}

export const COMMENT_STATUSES = ['draft', 'open', 'addressed', 'stale', 'resolved'] as const
export type CommentStatus = (typeof COMMENT_STATUSES)[number]

/** A comment with what follows from the session's present plan. */
export interface CommentView extends Comment {
  session_id: string
  status: CommentStatus
  /** Its first line in the present plan; null if it is not there, or the comment is not on a line of a plan. */
  present_line: number | null
  /**
   * If its lines are not in the present plan as they were: the line of that plan below which it belongs, because the
   * quoted text is there, or its step ends there; else null.
   */
  near_line: number | null
  /** The step of the plan that its line is in. */
  step: string | null
}

export interface CommentCounts {
  draft: number
  open: number
  total: number
}

/** A change of one comment in its session file. */
export type CommentChange =
  | { is: 'added'; comment: Comment }
  | { is: 'edited'; id: string; text: string }
  | { is: 'marked'; id: string; sent?: boolean; resolved?: boolean }
  | { is: 'answered'; id: string; reply: CommentReply }
  | { is: 'deleted'; id: string }

export const SHORT_HASH = 12
/** More than a person writes; each is read with every look at its session. */
export const MAX_COMMENTS = 500
export const MAX_COMMENT_CHARACTERS = 20_000
export const MAX_QUOTE_CHARACTERS = 64 * 1024

export function shortHash(sha256: string): string {
  return sha256.slice(0, SHORT_HASH)
}

/** A text as it is stored: LF, and without white space at its ends. */
export function commentText(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').trim()
}

/** Returns the comments after a change. Throws `not_found` if the comment is gone. */
export function changedComments(comments: readonly Comment[], change: CommentChange): Comment[] {
  if (change.is === 'added') return [...comments, change.comment]
  const { id } = change
  const present = commentIn(comments, id)
  if (change.is === 'deleted') return comments.filter((each) => each.id !== id)
  const changed = { ...present }
  if (change.is === 'edited') changed.text = change.text
  if (change.is === 'answered') changed.replies = [...present.replies, change.reply]
  if (change.is === 'marked') {
    changed.sent = change.sent ?? present.sent
    changed.resolved = change.resolved ?? present.resolved
  }
  return comments.map((each) => (each.id === id ? changed : each))
}

/** Returns the comment with this id. Throws `not_found`. */
export function commentIn<C extends Comment>(comments: readonly C[], id: string): C {
  const found = comments.find((each) => each.id === id)
  if (found) return found
  throw new AppError('not_found', `The session has no comment ${id}.`)
}

/** A comment that was written but not sent yet. */
export function isDraft({ sent, resolved }: Comment): boolean {
  return !sent && !resolved
}

/**
 * The status of a comment. `presentHash` is the short hash of the present plan, `presentLine` the comment's line in it;
 * null if the line is not there.
 */
export function commentStatus(
  comment: Comment,
  { presentHash, presentLine }: { presentHash: string | null; presentLine: number | null },
): CommentStatus {
  const { resolved, sent, on, line, sha256 } = comment
  if (resolved) return 'resolved'
  if (on === 'diff') return sent ? 'open' : 'draft'
  if (line === null) return sent ? (isAnswered(comment) ? 'addressed' : 'open') : 'draft'
  const isThere = sha256 === presentHash || presentLine !== null
  if (isThere) return sent ? 'open' : 'draft'
  return sent ? 'addressed' : 'stale'
}

/** Whether someone other than its author replied. */
function isAnswered({ author, replies }: Comment): boolean {
  return replies.some((reply) => reply.author !== author)
}

export function countComments(comments: readonly CommentView[]): CommentCounts {
  const { length: total } = comments
  return {
    draft: comments.filter(isDraft).length,
    open: comments.filter(({ status }) => status === 'open').length,
    total,
  }
}

/** How many lines of a quote a note repeats. */
const MAX_QUOTED = 20

/** The operator's note and comments as one markdown text for an agent. */
export function composeNote(note: string, comments: readonly CommentView[]): string {
  const parts = comments.map((comment) => {
    const quoted = comment.quote === '' ? '' : quoteText(comment.quote)
    return `${commentTarget(comment)}:\n\n${quoted}${comment.text}\n\n(comment ${comment.id})`
  })
  return [note.trim(), ...parts].filter((part) => part !== '').join('\n\n')
}

/** Where a comment is, such as `On line 12 (step test)`. */
export function commentTarget({
  on,
  file,
  side,
  line,
  end_line,
  step,
  status,
  ...rest
}: Omit<CommentView, 'replies'>): string {
  if (line === null) return 'On the plan'
  const shown = status === 'stale' ? line : (rest.present_line ?? line)
  const last = end_line === null ? null : shown + end_line - line
  const lines = last === null ? `line ${shown}` : `lines ${shown}-${last}`
  if (on === 'diff') return `On ${file} ${lines}${side === 'old' ? ' before the change' : ''}`
  const isGone = rest.present_line === null
  const since = status === 'addressed' ? ', changed since' : ''
  return `On ${lines}${isGone ? ' of an earlier plan' : ''}${step === null ? '' : ` (step ${step})`}${since}`
}

/** The last line in the present plan of a comment on it, or of where it belongs; null if it has no place there. */
export function placedBelow({
  line,
  end_line,
  present_line,
  near_line,
}: Pick<CommentView, 'line' | 'end_line' | 'present_line' | 'near_line'>): number | null {
  if (line === null) return null
  return present_line === null ? near_line : present_line + (end_line ?? line) - line
}

function quoteText(quote: string): string {
  const lines = quote.split('\n')
  const shown = lines.slice(0, MAX_QUOTED).map((line) => (line === '' ? '>' : `> ${line}`))
  if (lines.length > MAX_QUOTED) shown.push(`> … (${lines.length - MAX_QUOTED} more lines)`)
  return `${shown.join('\n')}\n\n`
}
