import * as z from 'zod'
import { HOOK_AGENTS } from '../../model/agent-names.ts'
import { CONVERSATION_AGENTS, conversationSchema } from '../../model/conversation.ts'
import { caseIdParam } from './params.ts'
import { exampleOf, type JsonOf, sentId } from './primitives.ts'

const { id, agent, branch, started_at } = conversationSchema.shape

/** A conversation as clients see it. */
/** Of any system. */
const MAX_PID = 2 ** 31 - 1

export const conversation = z
  .object({
    id,
    agent,
    agent_session: z
      .string()
      .nullable()
      .describe("The agent's own id of it; null until its first hook is heard."),
    folder: z
      .string()
      .describe(
        'The top folder of the git working tree that the agent works in, relative to the workspace if it lies there.',
      ),
    branch,
    case_id: z.string().nullable().describe('The case it belongs to; null if it is not bound.'),
    session_id: z
      .string()
      .nullable()
      .describe('The newest session of that case that records it; null if none does.'),
    is_gated: z
      .boolean()
      .describe(
        'Whether it has a case, and a hook was heard that can deny a tool call. If not, nothing is denied.',
      ),
    needs_case: z
      .boolean()
      .describe(
        'Whether its case was closed or deleted: until a person chooses another one, or none, what does more than read is denied.',
      ),
    is_strict: z
      .boolean()
      .describe("Whether an approval in the agent's own dialog does not count."),
    is_running: z.boolean().describe('Whether it has begun, and has not ended.'),
    prompts: z.int(),
    tool_calls: z.int(),
    model: z.string().nullable(),
    started_at,
    last_heard_at: z.string().nullable(),
    ended_at: z.string().nullable(),
  })
  .meta({
    id: 'Conversation',
    examples: [
      {
        id: '0d0ad1cc-3a4b-4a04-a2c8-5b4a3f1c8b16',
        agent: 'claude',
        agent_session: '949b1c1e-6f0a-4b55-9d0f-0f6f4f4f2f11',
        folder: '.',
        branch: 'main',
        case_id: exampleOf(caseIdParam),
        session_id: null,
        is_gated: true,
        needs_case: false,
        is_strict: false,
        is_running: true,
        prompts: 2,
        tool_calls: 7,
        model: 'claude-opus-5-5',
        started_at: '2026-11-26T09:12:44.120Z',
        last_heard_at: '2026-11-26T09:15:02.871Z',
        ended_at: null,
      },
    ],
  })
export type ConversationJson = JsonOf<typeof conversation>

const path = z.string().min(1).max(4096)

export const announcedSchema = z
  .object({
    agent: z.enum(HOOK_AGENTS),
    cwd: path.describe(
      'The folder that the agent works in, relative to the workspace or absolute.',
    ),
    case_id: sentId.nullable().default(null),
    pid: z.int().min(2).max(MAX_PID).describe("The agent's process."),
  })
  .meta({
    id: 'AnnouncedConversation',
    examples: [{ agent: 'claude', cwd: '.', case_id: null, pid: 4711 }],
  })

export const proposalSchema = announcedSchema
  .omit({ case_id: true })
  .extend({
    agent: z.enum(CONVERSATION_AGENTS),
    plan: z.string().regex(/\S/, 'expected a text that is not only white space'),
    hypothesis: z.string().nullable().default(null).describe('Null: that of the case.'),
  })
  .meta({
    id: 'PlanProposal',
    examples: [
      {
        agent: 'other',
        cwd: '.',
        pid: 4711,
        plan: '1. Raise the limit to ten.\n',
        hypothesis: null,
      },
    ],
  })

export const adoptionSchema = z
  .object({ case_id: sentId })
  .meta({ id: 'Adoption', examples: [{ case_id: exampleOf(caseIdParam) }] })

export const currentCaseSchema = z
  .object({
    folder: path.meta({
      description:
        'A folder of the workspace, relative to it or absolute, or of another working tree of its repository.',
      examples: ['.'],
    }),
    case_id: sentId.nullable().describe('Null: no case is current there.'),
  })
  .meta({
    id: 'CurrentCase',
    examples: [{ folder: '.', case_id: exampleOf(caseIdParam) }],
  })

/** What an agent's hook sends is the agent's own. */
export const hookSchema = z.looseObject({}).meta({
  id: 'HookEvent',
  description: 'The JSON that the agent gives its hook on standard input.',
  examples: [
    {
      session_id: '949b1c1e-6f0a-4b55-9d0f-0f6f4f4f2f11',
      cwd: '/home/ada/shop',
      hook_event_name: 'PreToolUse',
      permission_mode: 'default',
      tool_name: 'Write',
      tool_input: { file_path: '/home/ada/shop/limit.js', content: 'export const limit = 10\n' },
    },
  ],
})

export const hookAnswerSchema = z.looseObject({}).meta({
  id: 'HookAnswer',
  description: 'What the agent expects its hook to print.',
  examples: [
    {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason:
          'Casefile records this work as the case "Raise the limit", and nothing may be changed yet. Its plan waits for the operator to approve it in Casefile.',
      },
    },
  ],
})
