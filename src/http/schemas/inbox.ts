import * as z from 'zod'
import type { ATTENTION_KINDS } from '../../model/attention.ts'
import { count, hash, id, time } from '../../model/schemas.ts'
import { caseIdParam, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf } from './primitives.ts'

/** As in `AttentionKind`, without what waits for others; `verify` is its `proof`. */
export const INBOX_KINDS = ['plan', 'question', 'problem', 'failed', 'verify', 'gate_open'] as const
export type InboxKind = (typeof INBOX_KINDS)[number]

export function inboxKind(kind: (typeof ATTENTION_KINDS)[number]): InboxKind | null {
  return INBOX_KINDS.find((each) => each === (kind === 'proof' ? 'verify' : kind)) ?? null
}

const address = z
  .string()
  .regex(/^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?(\/[\w/-]*)?$/)

export const inboxItem = z
  .object({
    workspace: z.string().describe('The name of its folder.'),
    root: z.string().describe('The path of its folder.'),
    kind: z.enum(INBOX_KINDS).describe('`verify`: proof must be attached or verified.'),
    case_id: id,
    title: z.string(),
    session: count.nullable().describe('The number of the session concerned.'),
    session_id: id.nullable(),
    agent: z.string().nullable().describe('The provider of that session.'),
    branch: z.string().nullable().describe('The branch it works on.'),
    since: time.nullable(),
    text: z.string().describe('The question, the reason, or what the plan does.'),
    plan_sha256: hash
      .nullable()
      .describe('The plan that waits; an approval names it, so that nothing else is approved.'),
    url: address.nullable().describe('Its page; null without a service.'),
  })
  .meta({ id: 'InboxItem' })

export const inboxWorkspace = z
  .object({
    name: z.string(),
    root: z.string(),
    memory_root: z.string(),
    state: z
      .enum(['running', 'stopped', 'silent', 'gone'])
      .describe(
        '`running`: a service answers. `stopped`: no service runs, so the list is read from the files. `silent`: its service does not answer. `gone`: the folder was moved or deleted.',
      ),
    url: address.nullable().describe('The address of its service.'),
    waiting: count.describe('How many items wait there; `items` has at most 500 of them.'),
    message: z.string().nullable().describe('What is wrong or what to do.'),
  })
  .meta({ id: 'InboxWorkspace' })

const root = '/home/ada/shop-api'

export const inbox = z
  .object({ items: z.array(inboxItem), workspaces: z.array(inboxWorkspace) })
  .meta({
    id: 'Inbox',
    examples: [
      {
        items: [
          {
            workspace: 'shop-api',
            root,
            kind: 'plan',
            case_id: exampleOf(caseIdParam),
            title: 'Login times out under load',
            session: 1,
            session_id: exampleOf(sessionIdParam),
            agent: 'claude',
            branch: 'main',
            since: '2026-11-20T09:54:00.086Z',
            text: '2 steps',
            plan_sha256: '4f6c0d1e'.repeat(8),
            url: `http://127.0.0.1:7878/case/${exampleOf(caseIdParam)}/session/1`,
          },
        ],
        workspaces: [
          {
            name: 'shop-api',
            root,
            memory_root: `${root}/memory`,
            state: 'running',
            url: 'http://127.0.0.1:7878',
            waiting: 1,
            message: null,
          },
        ],
      },
    ],
  })

export type InboxItemJson = JsonOf<typeof inboxItem>
export type InboxWorkspaceJson = JsonOf<typeof inboxWorkspace>
export type InboxJson = JsonOf<typeof inbox>
