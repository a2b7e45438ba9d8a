import type { ApiReader } from '../../client/client.ts'
import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import { EXIT, exiting } from '../output/exit-codes.ts'
import { sessionPath, sessionsOf } from './find-session.ts'

/** The sessions of a case that have comments, oldest first. */
export async function commentedSessions(client: ApiReader, caseId: string): Promise<SessionJson[]> {
  const found: SessionJson[] = []
  for (const head of (await sessionsOf(client, caseId)).reverse()) {
    if (head.comments.total > 0) found.push((await client.request('GET', sessionPath(head))).body)
  }
  return found
}

/** The comment with this id, or with an id that begins so, in any session of the case. */
export async function resolveComment(
  client: ApiReader,
  caseId: string,
  word: string,
): Promise<{ comment: CommentJson; path: string }> {
  const all = (await commentedSessions(client, caseId)).flatMap((session) =>
    session.comments.list.map((comment) => ({
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
