import * as z from 'zod'

/**
 * The fields of `gh issue list --json …` that are imported. Any of them may be missing; other fields are ignored.
 */
const text = z
  .string()
  .refine((value) => value.isWellFormed(), 'expected valid Unicode, got half of a surrogate pair')

/** If there is no time, gh writes the year 1 or nothing. */
const time = text
  .refine((value) => value === '' || !Number.isNaN(Date.parse(value)), 'expected an ISO 8601 time')
  .transform((value) => (value === '' || value.startsWith('0001-') ? null : iso(value)))

/** Some programs print `{}` for a deleted account. */
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
