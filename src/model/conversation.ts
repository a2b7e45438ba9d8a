import * as z from 'zod'
import { HOOK_AGENTS } from './agent-names.ts'

/** `other`: an agent without hooks that are understood, which handed in a plan by MCP. */
export const CONVERSATION_AGENTS = [...HOOK_AGENTS, 'other'] as const
export type ConversationAgent = (typeof CONVERSATION_AGENTS)[number]

/** A conversation of a person with an agent that they run themselves, as far as its hooks report it. */
export const conversationSchema = z.object({
  id: z.string().min(1),
  agent: z.enum(CONVERSATION_AGENTS),
  /** The agent's own id of the conversation; null until its first hook is heard. */
  agent_session: z.string().nullable(),
  /** The top folder of the git working tree that the agent works in, else the folder itself. */
  folder: z.string(),
  branch: z.string().nullable(),
  /** Null while it is bound to no case. */
  case_id: z.string().nullable(),
  /** The session of that case that records it; null until there is something to record. */
  session_id: z.string().nullable(),
  /** The agent's process. */
  pid: z.number().int().min(2).nullable(),
  /** When that process started, since ids are reused. */
  process_start: z.string().nullable(),
  started_at: z.string(),
  last_heard_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  /** Whether a hook that can deny a tool call was heard. */
  is_gated: z.boolean(),
  /** Whether only an approval in Casefile counts, not one in the agent's own dialog. */
  is_strict: z.boolean(),
  prompts: z.number().int(),
  tool_calls: z.number().int(),
  model: z.string().nullable(),
  transcript: z.string().nullable(),
  /** What the agent is told at its next prompt. */
  message: z.string().nullable(),
  /**
   * Its plan waits for longer than its hook could. An approval counts once the agent is told, with the next prompt: what it
   * does until then is other work.
   */
  is_put_off: z.boolean().default(false),
  /** The case that the agent was last told it works on. */
  told_case_id: z.string().nullable().default(null),
})

export type Conversation = z.output<typeof conversationSchema>
