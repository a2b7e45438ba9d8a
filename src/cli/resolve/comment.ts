import type { ApiReader } from '../../client/client.ts'
import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionHeadJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import { EXIT, exiting } from '../output/exit-codes.ts'
import { sessionPath, sessionsOf } from './find-session.ts'

export interface SessionComments {
  session: SessionHeadJson
  comments: CommentJson[]
}

/** The comments of a session, oldest first. */
export async function commentsOf(
  client: ApiReader,
  session: SessionHeadJson,
): Promise<CommentJson[]> {
  if (session.comments.total === 0) return []
  return (await client.request('GET', `${sessionPath(session)}/comments`)).body
}

/** The comments of all sessions of a case, without sessions that have none. */
export async function commentsOfCase(
  client: ApiReader,
  caseId: string,
): Promise<SessionComments[]> {
  const found: SessionComments[] = []
  for (const session of (await sessionsOf(client, caseId)).reverse()) {
    const comments = await commentsOf(client, session)
    if (comments.length > 0) found.push({ session, comments })
  }
  return found
}

/** The comment with this id, or with an id that begins so, in any session of the case. */
export async function resolveComment(
  client: ApiReader,
  caseId: string,
  word: string,
): Promise<{ comment: CommentJson; path: string }> {
  const all = (await commentsOfCase(client, caseId)).flatMap(({ session, comments }) =>
    comments.map((comment) => ({
      comment,
      path: `${sessionPath(session)}/comments/${comment.id}`,
    })),
  )
  const fitting = all.filter(({ comment }) => comment.id.startsWith(word.toLowerCase()))
  if (fitting.length === 1) return fitting[0]!
  const list = `casefile session comment ${caseId.slice(0, 8)} --list`
  const said = JSON.stringify(word)
  const message =
    all.length === 0
      ? 'The case has no comments.'
      : fitting.length === 0
        ? `The case has no comment ${said}. They are listed by: ${list}`
        : `${said} matches several comments: ${fitting.map(({ comment }) => comment.id).join(', ')}. Give more of the id.`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}
