import * as z from 'zod'
import { notUnderstoodSchema } from '../../model/not-understood.ts'
import { count, hash, id, time } from '../../model/schemas.ts'
import { gate, problem } from './case.ts'
import { errorCode, type JsonOf } from './primitives.ts'
import { notBlank } from './text-fields.ts'

const webhookCounts = z
  .object({
    active: count,
    paused: count,
    disabled: count.describe('By the service, because the receiver is gone or kept failing.'),
    failing: count.describe('Active ones whose deliveries have all failed since the last success.'),
  })
  .meta({
    id: 'WebhookCounts',
    description: 'The counts of all webhooks, including those of cases.',
  })

const notUnderstood = notUnderstoodSchema.meta({ id: 'HookNotUnderstood' })

export const health = z
  .object({
    status: z.enum(['ok', 'failing']).describe('`failing`: the disk rejects writes.'),
    indexing: z
      .boolean()
      .describe('True while the files are read after a start. Requests that need the files wait.'),
    workspace: z.string().describe('The name of the folder of the workspace.'),
    cases: count.describe('How many cases there are; while indexing, how many have been read.'),
    watching: z
      .enum(['ok', 'starting', 'degraded'])
      .describe('`degraded`: changes of files are detected late.'),
    message: z.exactOptional(z.string()).describe('Why changes are detected late.'),
    remedy: z.exactOptional(z.string()).describe('What to do about it.'),
    webhooks: webhookCounts,
    problems: z.array(problem).describe('Problems of files that belong to no case.'),
    hooks_not_understood: z
      .array(notUnderstood)
      .describe('What hooks of agents sent since the start that could not be read, newest first.'),
  })
  .meta({
    id: 'Health',
    examples: [
      {
        status: 'ok',
        indexing: false,
        workspace: 'my-project',
        cases: 12,
        watching: 'ok',
        webhooks: {
          active: 1,
          paused: 0,
          disabled: 0,
          failing: 0,
        },
        problems: [],
        hooks_not_understood: [],
      },
    ],
  })

export const version = z
  .object({
    version: z.string().describe('The version of Casefile.'),
    commit: z.string().nullable().describe('Null unless it runs from a git checkout.'),
    node: z.string().describe('The version of Node.js.'),
    started_at: time,
  })
  .meta({
    id: 'Version',
    examples: [
      {
        version: '0.1.0',
        commit: null,
        node: 'v20.19.0',
        started_at: '2026-11-21T09:00:00.000Z',
      },
    ],
  })

const planMode = z
  .object({
    holds: z
      .enum(['sandbox', 'tools', 'asks', 'advice', 'none', 'runs_nothing'])
      .describe(
        '`sandbox`: the operating system blocks writes. `tools`: it has no tools that write. `asks`: it asks before it writes, and gets no permission. `advice`: only its instructions. `none`: nothing. `runs_nothing`: it is no agent, and runs nothing.',
      ),
    note: z.string().describe('The same in a sentence.'),
  })
  .meta({ id: 'PlanMode', description: 'What keeps the agent from writing while it plans.' })

export const provider = z
  .object({
    id: z.string(),
    kind: z
      .enum(['runbook', 'command', 'acp'])
      .describe(
        '`command`: a program that is started for each run. `acp`: an agent that speaks the Agent Client Protocol.',
      ),
    title: z.string(),
    available: z.boolean().describe('Whether its program is installed.'),
    path: z.string().nullable().describe('Where the program is.'),
    version: z.string().nullable().describe('Null if it is unknown.'),
    warning: z.string().nullable().describe('A known fault of this version.'),
    login: z
      .enum(['logged_in', 'not_logged_in', 'unknown'])
      .nullable()
      .describe('Whether you are logged in to the agent; null if it was not asked.'),
    plan_mode: planMode,
    source: z.enum(['built-in', 'casefile.md']).describe('Where it is defined.'),
    trusted: z.boolean().describe('Whether the operator trusts it. Only then can it run.'),
    advice: z.string().describe('How to install the program; empty if it is installed.'),
  })
  .meta({
    id: 'Provider',
    examples: [
      {
        id: 'runbook',
        kind: 'runbook',
        title: 'Runbook',
        available: true,
        path: null,
        version: null,
        warning: null,
        login: null,
        advice: '',
        plan_mode: { holds: 'runs_nothing', note: 'It plans by reading files, and runs nothing.' },
        source: 'built-in',
        trusted: true,
      },
    ],
  })

export const providerResult = z
  .object({
    provider: z.string(),
    text: z.string().describe('Hypothesis and plan in one text.'),
    hypothesis: z.string(),
    plan: z.string(),
  })
  .meta({
    id: 'ProviderResult',
    examples: [
      {
        provider: 'claude',
        text: '## Hypothesis\n\nSeconds meet milliseconds.\n\n## Plan\n\n1. Compare seconds.',
        hypothesis: 'Seconds meet milliseconds.',
        plan: '1. Compare seconds.',
      },
    ],
  })

const sessionRef = z
  .object({
    case_id: id,
    session_id: id,
    number: z.exactOptional(z.int()),
    title: z.exactOptional(z.string()).describe('Of its case.'),
  })
  .meta({ id: 'SessionRef' })

const fieldError = z
  .object({
    path: z.string().describe('Such as `title` or `tags[1]`.'),
    message: z.string().describe('What was expected, and what came.'),
  })
  .meta({ id: 'FieldError' })

/** Every error; the members after `errors` come only with the codes that their descriptions name. */
export const problemDetails = z
  .object({
    type: z.string().regex(/^urn:casefile:/),
    title: z.string(),
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    detail: z.string().describe('What was rejected, why, and what to do next.'),
    code: errorCode,
    errors: z
      .exactOptional(z.array(fieldError))
      .describe('One for each wrong field, unknown name or wrong line. Every 400 has it.'),
    accept: z
      .exactOptional(z.string())
      .describe('`unsupported_media_type`: the type to send, as in the header `Accept`.'),
    accept_encoding: z
      .exactOptional(z.string())
      .describe(
        '`unsupported_media_type`: the content coding to send, as in the header `Accept-Encoding`.',
      ),
    etag: z
      .exactOptional(z.string().nullable())
      .describe('`precondition_failed`: the present ETag; null if there is no resource.'),
    plan_sha256: z
      .exactOptional(hash)
      .describe('`plan_changed`: SHA-256 of the present plan, in hex.'),
    running: z
      .exactOptional(sessionRef)
      .describe(
        '`folder_busy`, `too_many_sessions`, `session_running`: the session that is running; the first two also give its number and the title of its case. `own_session`: the session that sent the request.',
      ),
    missing: z.exactOptional(z.array(z.string())).describe('`proof_gate`: what is still needed.'),
    gate: z.exactOptional(gate).describe('`proof_gate`: the present gate.'),
    files: z
      .exactOptional(z.array(z.string()))
      .describe(
        '`merge_conflict`, `record_on_branch`, and `wrong_state` of a worktree: which files.',
      ),
    problem: z
      .exactOptional(problem)
      .describe('`would_be_a_problem`, `unreadable_file`: what is wrong with the file.'),
  })
  .meta({ id: 'ProblemDetails', description: 'An error (RFC 9457).' })

export const promptSchema = z
  .object({ prompt: notBlank('a prompt') })
  .meta({ id: 'Prompt', examples: [{ prompt: 'Why does every token count as expired?' }] })

export type HealthJson = JsonOf<typeof health>
export type VersionJson = JsonOf<typeof version>
export type ProviderJson = JsonOf<typeof provider>
export type ProviderResultJson = JsonOf<typeof providerResult>
