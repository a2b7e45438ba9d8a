import * as z from 'zod'

/**
 * What `gh issue list --json …` prints of an issue, as far as it is taken over. Any field may be missing;
 * what else there is counts for nothing.
 */
const text = z
  .string()
  .refine((value) => value.isWellFormed(), 'expected whole characters, not half of a pair')

/** gh writes the first year, or nothing, where there is no time. */
const time = text
  .refine((value) => value === '' || !Number.isNaN(Date.parse(value)), 'expected an ISO 8601 time')
  .transform((value) => (value === '' || value.startsWith('0001-') ? null : iso(value)))

/** Of an account that is no more, some programs print `{}`. */
const person = z.object({ login: text.nullish() })
const named = z.object({ name: text })

const comment = z.object({
  author: person.nullish(),
  body: text.nullish(),
  createdAt: time.nullish(),
  url: text.nullish(),
})

export const issueSchema = z.object({
  number: z.int().positive().nullish(),
  url: text.nullish(),
  title: text.nullish(),
  body: text.nullish(),
  state: text.regex(/^(open|closed)$/i, 'expected OPEN or CLOSED').nullish(),
  stateReason: text.nullish(),
  labels: z.array(named).nullish(),
  assignees: z.array(person).nullish(),
  author: person.nullish(),
  milestone: z.object({ title: text.nullish() }).nullish(),
  createdAt: time.nullish(),
  updatedAt: time.nullish(),
  closedAt: time.nullish(),
  comments: z.array(comment).nullish(),
})

export type GithubIssue = z.output<typeof issueSchema>
export type GithubComment = z.output<typeof comment>

function iso(value: string): string {
  return new Date(value).toISOString()
}
