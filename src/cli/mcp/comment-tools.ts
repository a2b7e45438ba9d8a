import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import { resolveSessionHead, sessionPath } from '../resolve/find-session.ts'
import { caseArgument, caseIn, mustBeWhole, sessionArgument, wordOf } from './arguments.ts'
import { row, type Tool, tool } from './tool.ts'
import { rowRange, rowsOf, rowsShape, withCutTexts } from './truncate.ts'

const commentRow = row({
  id: z.string(),
  status: z.string(),
  line: z.number().nullable(),
  text: z.string(),
  replies: z.array(row({ author: z.string(), text: z.string() })),
})

export const commentTools: readonly Tool[] = [
  tool({
    name: 'list_comments',
    title: 'List comments',
    does: 'reads',
    description:
      "Lists the operator's comments on the plan of a session and on its diff, oldest first, with their replies. Each has its status: open, addressed (its lines have changed since, or it was answered) or resolved. present_line is its line in the present plan. Comments that the operator has not sent yet are left out.",
    input: {
      ...caseArgument,
      ...sessionArgument('the newest'),
      open: z.boolean().default(false).describe('Only comments with the status open'),
      ...rowRange,
    },
    output: {
      session_id: z.string(),
      number: z.number(),
      comments: z.array(commentRow),
      ...rowsShape,
    },
    run: (access, { case: name, session, open, offset, limit }) =>
      access.read(async (client) => {
        const found = await resolveSessionHead(client, await caseIn(client, name), wordOf(session))
        const all = await sentComments(client, sessionPath(found))
        const wanted = open ? all.filter(({ status }) => status === 'open') : all
        const { items, ...range } = rowsOf(wanted, offset, limit)
        const comments = items.map((each) => withCutTexts(each, ['quote'], READ_ON))
        return { structured: { session_id: found.id, number: found.number, comments, ...range } }
      }),
  }),
  tool({
    name: 'answer_comment',
    title: 'Answer a comment',
    does: 'appends',
    description:
      'Adds a reply to a comment that the operator sent, for example to say what changed or why something stays. This resolves nothing: only the operator resolves comments, and only the operator writes new ones. To change the plan, use propose_plan.',
    input: {
      ...caseArgument,
      ...sessionArgument('the newest'),
      comment: z.string().min(1).max(100).describe('Its id: 8 hex digits, as in the note'),
      text: z.string().min(1).describe('The reply, in markdown'),
    },
    output: {
      session_id: z.string(),
      number: z.number(),
      comment: commentRow,
    },
    run(access, { case: name, session, comment, text }) {
      mustBeWhole('text', text)
      return access.served(async (client) => {
        const found = await resolveSessionHead(client, await caseIn(client, name), wordOf(session))
        const path = sessionPath(found)
        const { id } = sentComment(await sentComments(client, path), comment, found.number)
        const body = { text }
        const answer = await client.request('POST', `${path}/comments/${id}/replies`, { body })
        const { id: session_id, number } = found
        return { structured: { session_id, number, comment: answer.body } }
      })
    },
  }),
]

const READ_ON = () => 'Read the session for the whole plan.'

/** Drafts are the operator's own until they are sent. */
async function sentComments(client: ApiReader, path: string): Promise<CommentJson[]> {
  const session: SessionJson = (await client.request('GET', path)).body
  return session.comments.list.filter(({ sent, resolved }) => sent || resolved)
}

function sentComment(comments: CommentJson[], id: string, number: number): CommentJson {
  const found = comments.find((each) => each.id === id.toLowerCase())
  if (found) return found
  throw new AppError(
    'not_found',
    `Session ${number} has no sent comment ${JSON.stringify(id)}. list_comments shows its comments; name another session if the comment is there.`,
  )
}
