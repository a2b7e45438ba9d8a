import * as z from 'zod'

export const candidate = z
  .object({
    artifact: z.string(),
    note: z.string().describe('What it contains.'),
    type: z.string().describe('The type that proof of it has, because of what it is.'),
    why_not: z.string().nullable().describe('Why proof of it would not count; null if it would.'),
    sha256: z.string().nullable().describe('Of what the session left, as its audit trail says.'),
  })
  .meta({
    id: 'Candidate',
    description: 'An artifact that can be attached as proof.',
  })

/** For examples. */
export const CANDIDATES = [
  {
    artifact: '1-test.tap',
    note: '1 of 1 test passed',
    type: 'test-log',
    why_not: null,
    sha256: null,
  },
  {
    artifact: '1-changes.patch',
    note: 'src/password.js: +2 -3',
    type: 'diff',
    why_not: null,
    sha256: null,
  },
]
