import * as z from 'zod'
import { HOOK_AGENTS } from './agent-names.ts'
import { CHANNELS } from './channels.ts'

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
  /** The agent gets this at its next prompt, or when its turn ends. */
  message: z.string().nullable(),
  /**
   * The approval that `message` is about. If its session ends before the agent has it, the approval counts for the same
   * plan of the next session.
   */
  approved: z
    .object({
      session_id: z.string(),
      plan_sha256: z.string(),
      by: z.object({ who: z.string(), from: z.enum(CHANNELS) }),
    })
    .nullable()
    .default(null),
  /**
   * Its plan waits for longer than its hook could. An approval counts once the agent is told, with the next prompt: what it
   * does until then is other work.
   */
  is_put_off: z.boolean().default(false),
  /** The case that the agent was last told it works on. */
  told_case_id: z.string().nullable().default(null),
})

export type Conversation = z.output<typeof conversationSchema>

const RESUME: Readonly<Partial<Record<ConversationAgent, string>>> = {
  claude: 'claude --resume ',
  codex: 'codex resume ',
  gemini: 'gemini --resume ',
  opencode: 'opencode --session ',
  copilot: 'copilot --resume=',
  cursor: 'cursor-agent --resume ',
}

/** The command by which a person resumes a conversation in its folder; null if it is not known. */
export function resumeCommand({ agent, agent_session }: Conversation): string | null {
  const command = RESUME[agent]
  return command && /^[\w-]+$/.test(agent_session ?? '') ? `${command}${agent_session}` : null
}
