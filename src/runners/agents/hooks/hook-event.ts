import { createHash } from 'node:crypto'
import type { HookAgent } from '../../../model/agent-names.ts'
import type { Conversation } from '../../../model/conversation.ts'
import type { AgentUsage } from '../agent-usage.ts'

/** What a tool call does, as far as the gate must know. `plan` writes only the agent's own plan. */
export type HookToolKind = 'read' | 'write' | 'execute' | 'plan' | 'other'

export interface HookTool {
  name: string
  kind: HookToolKind
  /** It is the agent's own, and changes only the files that it names. */
  isEditor: boolean
  /** The files it names. */
  paths: string[]
  command: string | null
  /** Where the command runs, if the call says it; of other tools the base of their paths, which have it already. */
  folder: string | null
  /** SHA-256 of its whole input, in place of the input. */
  input_sha256: string
}

/** What an agent's hook reports, in one form for all agents. */
export type HookEvent = {
  /** The agent's id of the conversation. */
  agentSession: string
  cwd: string
  model: string | null
  transcript: string | null
  /** A subagent reports it; its stop and its plans are not the conversation's. */
  isSubagent: boolean
  /** What the conversation used so far, where the event itself says it. */
  used?: Readonly<Record<string, unknown>>
} & (
  | { kind: 'started'; isContinued: boolean }
  | { kind: 'prompted'; prompt: string; isApproval: boolean }
  /** Asks whether a tool may be called. `canAsk`: the answer `asked` certainly has the agent ask its person. */
  | { kind: 'calling'; tool: HookTool; canAsk?: boolean }
  | { kind: 'called'; tool: HookTool; hasFailed: boolean }
  /** Presents a plan and waits for the decision. `isHeld`: the agent waits for the answer. */
  | { kind: 'planned'; plan: string; input: Record<string, unknown>; isHeld: boolean }
  /** The person approved the plan in the agent's own dialog. */
  | { kind: 'approved'; plan: string | null }
  | { kind: 'stopped'; wasBlocked: boolean; turn: string | null }
  | { kind: 'ended'; isReplaced: boolean }
  /** Something else, which only says that the agent is there. */
  | { kind: 'heard' }
)

/** What the service says to a hook. `pass` is no opinion. */
export type HookAnswer = (
  | { is: 'pass' }
  | { is: 'context'; text: string }
  /** Of a call in an approved plan: the agent need not ask its person. */
  | { is: 'allowed' }
  | { is: 'denied'; reason: string }
  /** The agent asks its person. Only where the event says that it can. */
  | { is: 'asked'; reason: string }
  /** `isEdited`: the text is not the one that the agent presented. `notes` is empty without any. */
  | { is: 'approved'; plan: string; notes: string; isEdited: boolean }
  | { is: 'sentBack'; message: string }
  | { is: 'blocked'; reason: string }
) & {
  /** A line for the person, which the agent shows in its terminal. */
  notice?: string
}

/** A body that no known version sends: the names of what it should have. */
export interface Unreadable {
  missing: string[]
}

/** What is known besides the body. */
export interface HookContext {
  /** The workspace. */
  root: string
  /** The event, as the hook's own settings name it. */
  eventName: string | null
}

/** How an agent's hooks speak. */
export interface HookDialect {
  agent: HookAgent
  /** Whether the body shows that it is in this dialect; the first events of a conversation may not. */
  isFrom(body: Readonly<Record<string, unknown>>): boolean
  read(body: Record<string, unknown>, place: HookContext): Promise<HookEvent | Unreadable>
  /** The JSON to answer, without the notice; null for no opinion. */
  answer(event: HookEvent, answer: HookAnswer): Record<string, unknown> | null
  /** The JSON that denies a call of a tool. */
  deny(reason: string): Record<string, unknown>
  /** The fields that show a notice; null if the agent shows none. Default: `systemMessage`. */
  noticeFields?(notice: string): Record<string, unknown> | null
  /** Whether they are a line of JSON before the answer, not a part of it. */
  hasNoticeLine?: boolean
  /** How it presents a plan, as a sentence for it; without it, by MCP. */
  howToPlan?: string
  /** Whether it asks the person in its terminal while a plan waits; the first answer counts. */
  hasDialog?: boolean
  /** Whether its terminal takes no key while the hook of a plan waits. */
  blocksTerminal?: boolean
  /** The tools that change only the files that they name, where a hook can spare the person a question of the agent. */
  editors?: readonly string[]
  /** Whether an approval can bring the operator's notes to the agent. */
  carriesNotes?: boolean
  /** The plan that the agent wrote in the turn that ended, where no hook presents it. */
  planOfTurn?(event: HookEvent): Promise<string | null>
  /** What the conversation used so far, as the agent's own transcript or the event says. */
  usage?(transcript: string | null, event?: HookEvent): Promise<AgentUsage>
  /** Sends a message into a conversation that waits for its person. Rejects if that does not work. */
  send?(
    conversation: Pick<Conversation, 'agent_session' | 'transcript'>,
    text: string,
  ): Promise<void>
}

/** Those of the fields that have no text, or one that can be no name of a file. */
export function missingTexts(body: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return names.filter((name) => !/^[^\0]+$/.test(typeof body[name] === 'string' ? body[name] : ''))
}

/** All that a hook prints, as lines of JSON: the notice, then the answer. Null for nothing. */
export function printedAnswer(
  dialect: HookDialect,
  event: HookEvent,
  answer: HookAnswer,
): string | null {
  const { notice } = answer
  const json = dialect.answer(event, answer)
  const { noticeFields = (systemMessage: string) => ({ systemMessage }) } = dialect
  const fields = notice === undefined ? null : noticeFields(notice)
  const parts = [fields, json].filter((part) => part !== null)
  if (parts.length === 0) return null
  const lines = dialect.hasNoticeLine ? parts : [Object.assign({}, ...parts)]
  return lines.map((line) => JSON.stringify(line)).join('\n')
}

export function inputHash(input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(input) ?? '')
    .digest('hex')
}
