import * as z from 'zod'
import { MEMORY_KINDS } from '../../git/memory-kind.ts'
import { SYNC_STATES } from '../../sync/sync-result.ts'
import { STOP_CODES } from '../../sync/sync-stop.ts'
import { caseIdParam, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf } from './primitives.ts'

const count = z.int().min(0)
const kind = z.enum(MEMORY_KINDS).nullable().describe('How git stores the record.')
const branch = z.string().nullable()
const upstream = z.string().nullable().describe('Such as `origin/main`.')
const cases = z.array(z.object({ id: z.string(), title: z.string() }))
const moved = z.object({ commits: count, cases })
const path = z.string().describe('From the top of the repository.')

const CASES = [{ id: exampleOf(caseIdParam), title: 'Login times out under load' }]
const AT = '2026-11-27T09:54:00.000Z'
const COMMIT = '8f9c6e1d2b3a4c5d6e7f8091a2b3c4d5e6f70819'

/** What a sync is asked to do. */
export const syncRequest = z
  .object({
    dry_run: z.boolean().optional().describe('Say what it would do. It still fetches.'),
  })
  .meta({ examples: [{ dry_run: false }] })

/** What a sync did. */
export const syncResult = z
  .object({
    state: z
      .enum(SYNC_STATES)
      .describe(
        '`conflicts`: done, but `copies` or `broken` need a person. `stopped`: nothing was pushed; see `reason`.',
      ),
    dry_run: z.boolean(),
    code: z.enum(STOP_CODES).nullable().describe('Why it stopped.'),
    reason: z.string().nullable().describe('Why it stopped, and what to do.'),
    at: z.string(),
    kind,
    branch,
    upstream,
    committed: z
      .object({ commit: z.string(), files: count, cases })
      .nullable()
      .describe('The commit of what had changed here; null if nothing had.'),
    received: moved.describe('What others had pushed.'),
    sent: moved.describe('What was pushed.'),
    copies: z
      .array(
        z.object({
          case_id: z.string().nullable(),
          file: path,
          copy: z.string(),
        }),
      )
      .describe('Versions that could not be merged, kept as conflict copies.'),
    renumbered: z
      .array(
        z.object({
          case_id: z.string(),
          session_id: z.string(),
          from: z.int(),
          to: z.int(),
        }),
      )
      .describe('Sessions that got another number, because two clones had used theirs.'),
    restored: z
      .array(z.object({ case_id: z.string() }))
      .describe(
        'Cases that were deleted in one clone and changed in another: they stay. Delete them again if nothing in them is needed.',
      ),
    broken: z
      .array(z.object({ file: path, message: z.string() }))
      .describe('Files that came from the remote and cannot be read.'),
    left: z
      .array(path)
      .describe(
        'Changed files in the memory root that Casefile does not keep: commit them yourself.',
      ),
  })
  .meta({
    id: 'SyncResult',
    examples: [
      {
        state: 'in_sync',
        dry_run: false,
        code: null,
        reason: null,
        at: AT,
        kind: 'own-repo',
        branch: 'main',
        upstream: 'origin/main',
        committed: {
          commit: COMMIT,
          files: 2,
          cases: CASES,
        },
        received: { commits: 1, cases: CASES },
        sent: { commits: 2, cases: CASES },
        copies: [],
        renumbered: [
          {
            case_id: exampleOf(caseIdParam),
            session_id: exampleOf(sessionIdParam),
            from: 2,
            to: 3,
          },
        ],
        restored: [],
        broken: [],
        left: [],
      },
    ],
  })

export type SyncResultJson = JsonOf<typeof syncResult>
