import * as z from 'zod'
import { COMMENT_STATUSES, MAX_COMMENT_CHARACTERS } from '../../model/comment.ts'
import { id, time } from '../../model/schemas.ts'
import { caseIdParam, sessionIdParam } from './params.ts'
import { atLeastOne, exampleOf, type JsonOf, lineNumber } from './primitives.ts'
import { notBlank, planHash } from './text-fields.ts'

export const commentIdParam = z.string().meta({
  description: 'The id of the comment: 8 hex digits.',
  examples: ['3f2a9c1d'],
})

const side = z
  .enum(['old', 'new'])
  .describe('`old`: a line before the change; `new`: a line after it.')

const status = z.enum(COMMENT_STATUSES).meta({
  id: 'CommentStatus',
  description:
    '`draft`: not sent yet. `stale`: not sent, and its lines are no longer in the plan. `open`: sent, and its lines are still in the plan. `addressed`: sent, and its lines have changed since, or it was answered. `resolved`: the operator resolved it.',
})

const text = z.string().describe('Markdown.')

const reply = z
  .object({
    author: z.string().describe('A person, or the provider of an agent.'),
    text,
    created_at: time,
  })
  .meta({ id: 'CommentReply' })

const AUTHOR = 'Ada'

export const comment = z
  .object({
    id: z.string().describe('8 hex digits, unique in the session.'),
    session_id: id,
    on: z.enum(['plan', 'diff']),
    sha256: z
      .string()
      .describe(
        'The first 12 hex digits of the SHA-256 of the plan or patch that it was written on.',
      ),
    file: z.string().nullable().describe('The changed file; null on a plan.'),
    side: side.nullable(),
    line: lineNumber.nullable().describe('The first line, as it was; null for the whole plan.'),
    end_line: lineNumber.nullable().describe('The last line; null for a single line.'),
    step: z.string().nullable().describe('The step of the plan that the line is in.'),
    quote: z.string().describe('The lines, as they were.'),
    author: z.string(),
    text,
    created_at: time,
    sent: z.boolean(),
    resolved: z.boolean(),
    status,
    present_line: lineNumber
      .nullable()
      .describe('The first line in the present plan; null if it is not there.'),
    near_line: lineNumber
      .nullable()
      .describe(
        'If its lines have changed: the line of the present plan below which it belongs, by its quote or its step; null if there is none.',
      ),
    replies: z.array(reply).describe('Oldest first.'),
  })
  .meta({
    id: 'Comment',
    examples: [
      {
        id: '3f2a9c1d',
        session_id: exampleOf(sessionIdParam),
        on: 'plan',
        sha256: 'ca1d710f2316',
        file: null,
        side: null,
        line: 3,
        end_line: null,
        step: 'test',
        quote: '```sh run id=test timeout=60s proof=tap',
        author: AUTHOR,
        text: 'Test the boundary too.',
        created_at: '2026-11-21T09:00:00.000Z',
        sent: false,
        resolved: false,
        status: 'draft',
        present_line: 3,
        near_line: null,
        replies: [],
      },
    ],
  })

/** The comments on the plan and on the diff of a session. */
export const sessionComments = z
  .object({
    draft: z.int().min(0).describe('Not sent yet.'),
    open: z.int().min(0).describe('Sent, and neither addressed nor resolved.'),
    total: z.int().min(0),
    list: z.array(comment).describe('Oldest first.'),
  })
  .meta({ id: 'SessionComments' })

const commentText = notBlank('a comment', MAX_COMMENT_CHARACTERS)

const diffPlace = z
  .object({
    file: z.string().describe('The changed file.'),
    line: lineNumber,
    end_line: lineNumber.optional(),
    side,
  })
  .meta({ id: 'DiffPlace' })

export const newCommentSchema = z
  .object({
    text: commentText.describe('Markdown.'),
    line: lineNumber
      .optional()
      .describe('A line of the plan, from 1. Without it, the comment is on the whole plan.'),
    end_line: lineNumber.optional().describe('The last line of a range.'),
    step: z.string().optional().describe('The id of a step, instead of lines.'),
    quote: z
      .string()
      .optional()
      .describe('The lines that you see. The request fails if the plan has others there.'),
    plan_sha256: planHash.optional().describe('SHA-256 of the plan that you have read, in hex.'),
    diff: diffPlace.optional().describe('A place in the diff, instead of the plan.'),
  })
  .check(({ value, issues }) => {
    const { line, end_line, step, diff, quote, plan_sha256 } = value
    const reject = (path: 'diff' | 'step' | 'line', message: string) =>
      issues.push({
        code: 'custom',
        path: [path],
        message,
        input: value[path],
      })
    const onPlan = [line, end_line, step, quote, plan_sha256].some((each) => each !== undefined)
    if (diff && onPlan) reject('diff', 'expected a place in the diff or in the plan, not both')
    if (step !== undefined && (line ?? end_line) !== undefined)
      reject('step', 'expected a step or lines, not both')
    if (end_line !== undefined && line === undefined) reject('line', 'expected the first line')
  })
  .meta({ id: 'NewComment', examples: [{ text: 'Test the boundary too.', line: 3 }] })

export const commentChangeSchema = atLeastOne(
  z.object({
    text: commentText.optional().describe('Only of a draft.'),
    resolved: z.boolean().optional(),
  }),
).meta({ id: 'CommentChange', examples: [{ resolved: true }] })

export const replySchema = z
  .object({ text: commentText.describe('Markdown.') })
  .meta({ id: 'NewReply', examples: [{ text: 'I kept it, because it covers the cookie.' }] })

export const COMMENT_PATH = {
  id: exampleOf(caseIdParam),
  sid: exampleOf(sessionIdParam),
  cid: exampleOf(commentIdParam),
}

export type CommentJson = JsonOf<typeof comment>
