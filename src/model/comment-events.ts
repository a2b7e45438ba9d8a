import * as z from 'zod'
import { lineOf, say } from './event-line.ts'
import { entry, given, optional } from './event-row.ts'
import { count } from './schemas.ts'

const id = z.string().describe('The id of the comment.')
const aComment = { id: '3f2a9c1d' }

/** The events of comments on plans and diffs. */
export const COMMENT_EVENTS = {
  comment_added: entry(
    { id, line: optional(count), file: optional(given) },
    {
      line: ({ line, file }) => lineOf('plain', `comment added${placeText(line, file)}`),
      example: { ...aComment, line: 12 },
    },
  ),
  comment_changed: entry(
    { id, what: z.enum(['edited', 'deleted', 'resolved', 'reopened']) },
    {
      line: ({ id, what }) => lineOf('quiet', `comment ${say(id)} ${say(what)}`),
      example: { ...aComment, what: 'resolved' },
    },
  ),
  comment_answered: entry(
    { id, by: given },
    {
      line: ({ id, by }) => lineOf('plain', `${say(by)} answered comment ${say(id)}`),
      example: { ...aComment, by: 'claude' },
    },
  ),
  comments_sent: entry(
    {
      count,
      with: z.enum(['revise', 'approve', 'session']),
      note: optional(given.describe('The note without the comments.')),
    },
    {
      line: ({ count }) =>
        count === 0
          ? lineOf('plain', 'note sent')
          : lineOf('plain', `${say(count)} ${count === 1 ? 'comment' : 'comments'} sent`),
      example: { count: 2, with: 'revise' },
    },
  ),
} as const

function placeText(line: unknown, file: unknown): string {
  if (file !== undefined) return ` to ${say(file)}${line === undefined ? '' : `:${say(line)}`}`
  return line === undefined ? ' to the plan' : ` to line ${say(line)} of the plan`
}
