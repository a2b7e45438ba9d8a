import type { Actor } from '../../model/history.ts'
import { ACTOR_HEADER, actorOf } from '../actor.ts'
import type { ServiceContext } from '../context.ts'
import { created, type EndpointDeps, endpoint, FILE_ERRORS, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { senderRun } from '../middleware/require-operator.ts'
import {
  COMMENT_PATH,
  type CommentJson,
  comment,
  commentChangeSchema,
  commentIdParam,
  newCommentSchema,
  replySchema,
} from '../schemas/comment.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'

const ofSession = { id: caseIdParam, sid: sessionIdParam }
const ofComment = { ...ofSession, cid: commentIdParam }
const updated = ok(comment, 'The updated comment.')
const ENDED = ['session_ended', 'wrong_state'] as const
const DRAFT = exampleOf(comment)

export const commentEndpoints = [
  endpoint({
    route: 'POST /cases/:id/sessions/:sid/comments',
    id: 'addComment',
    tag: 'Comments',
    summary: 'Comment on a plan or a diff',
    description:
      'Adds a draft: on the whole plan, on lines or a step of it, or (with `diff`) on lines of the diff. The agent gets it when the plan is sent back or approved, or when a new session is created with `again`.',
    params: ofSession,
    body: newCommentSchema,
    responses: created(comment, 'The new comment.'),
    errors: [...FILE_ERRORS, ...ENDED, 'bad_request', 'plan_changed'],
    example: { responses: { 201: DRAFT } },
    operatorOnly: 'add comment',
    async handle({ c, service, params: { id, sid }, body }) {
      const by = await actorOf(service, c)
      const json: CommentJson = await service.comments.add(id, sid, body, by)
      const location = `/cases/${id}/sessions/${sid}/comments/${json.id}`
      return answerJson(c, json, 201, { location })
    },
  }),

  endpoint({
    route: 'PUT /cases/:id/sessions/:sid/comments/:cid',
    id: 'changeComment',
    tag: 'Comments',
    summary: 'Edit, resolve or reopen a comment',
    description: 'The text of a comment can change until it is sent.',
    params: ofComment,
    body: commentChangeSchema,
    responses: updated,
    errors: [...FILE_ERRORS, ...ENDED],
    example: {
      params: COMMENT_PATH,
      responses: {
        200: {
          ...DRAFT,
          sent: true,
          resolved: true,
          status: 'resolved',
        },
      },
    },
    operatorOnly: 'change comment',
    async handle({ c, service, params: { id, sid, cid }, body }) {
      const by = await actorOf(service, c)
      const change = { ...body, comment: cid }
      return jsonWithETag<CommentJson>(c, await service.comments.change(id, sid, change, by))
    },
  }),

  endpoint({
    route: 'DELETE /cases/:id/sessions/:sid/comments/:cid',
    id: 'deleteComment',
    tag: 'Comments',
    summary: 'Delete a draft',
    description: 'A comment that was sent can be resolved, but not deleted.',
    params: ofComment,
    responses: { 204: { description: 'It is deleted.' } },
    errors: [...FILE_ERRORS, ...ENDED],
    example: { params: COMMENT_PATH },
    operatorOnly: 'delete comment',
    async handle({ c, service, params: { id, sid, cid } }) {
      await service.comments.remove(id, sid, cid, await actorOf(service, c))
      return c.body(null, 204)
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/comments/:cid/replies',
    id: 'replyToComment',
    tag: 'Comments',
    summary: 'Reply to a comment',
    description:
      'For people and agents. The reply of an agent of a session has the name of its provider.',
    params: ofComment,
    body: replySchema,
    responses: created(comment, 'The comment with its replies.'),
    errors: [...FILE_ERRORS, ...ENDED],
    example: {
      params: COMMENT_PATH,
      responses: {
        201: {
          ...DRAFT,
          sent: true,
          status: 'open',
          replies: [
            {
              author: 'claude',
              text: exampleOf(replySchema).text,
              created_at: '2026-11-21T09:04:00.000Z',
            },
          ],
        },
      },
    },
    async handle({ c, service, params: { id, sid, cid }, body: { text } }) {
      const by = await replier(c, service)
      const reply = { comment: cid, text }
      const json: CommentJson = await service.comments.reply(id, sid, reply, by)
      const location = `/cases/${id}/sessions/${sid}/comments/${cid}`
      return answerJson(c, json, 201, { location })
    },
  }),
]

/** An MCP client without a name must not answer as the operator. */
function isUnnamed(c: ServiceContext): boolean {
  return c.req.header(ACTOR_HEADER) === undefined
}

/** The agent of a session under its provider's name, whatever name it sends; else who asks. */
async function replier(c: ServiceContext, service: EndpointDeps): Promise<Actor> {
  const by = await actorOf(service, c)
  const run = await senderRun(service, c)
  if (run === null) return by.from === 'mcp' && isUnnamed(c) ? { ...by, who: 'agent' } : by
  const sessions = service.catalog.folder(run.case_id)?.sessions ?? []
  const session = sessions.find(({ id }) => id === run.session_id)
  return { ...by, who: session?.provider ?? 'agent' }
}
