import type { HttpDeps } from '../../http/deps.ts'
import { shownFolder } from '../../http/shown-folder.ts'
import { triageFilters } from '../../http/triage.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { NotUnderstood } from '../../model/not-understood.ts'
import type { Session } from '../../model/session.ts'
import { isUngated } from '../../model/ungated-conversation.ts'
import type { LeveledHooks } from '../../runners/agents/install/levels.ts'
import { conversationHasEnded, recentConversations } from './recent-conversations.ts'

/** A conversation with an agent in a terminal, as a row shows it. */
export interface AgentRow {
  conversation: Conversation
  /** Relative to the workspace where it lies there. */
  folder: string
  hasEnded: boolean
  isUngated: boolean
  /** Whether its case was closed or deleted: it may only read until a person chooses another one. */
  needsCase: boolean
  /** Null if it belongs to no case. */
  case: { id: string; title: string } | null
  /** The session that records it; null if none does. */
  session: Session | null
}

/** Open cases to choose from. */
export interface CaseChoices {
  first: { value: string; label: string }[]
  /** How many there are. */
  total: number
}

export interface AgentsData {
  rows: AgentRow[]
  choices: CaseChoices
  notUnderstood: NotUnderstood[]
  hooks: LeveledHooks[]
}

const MAX_CHOICES = 200

export async function loadAgents(service: HttpDeps): Promise<AgentsData> {
  const filters = await triageFilters(service, { open: 'true' })
  const total = service.lists.counts(filters).reduce((sum, { count }) => sum + count, 0)
  const first = service.lists.listPage(filters, 0, MAX_CHOICES).map(({ id, title }) => ({
    value: id,
    label: `${title} (${id.slice(0, 8)})`,
  }))
  const rows = recentConversations(service).map((each) => rowOf(service, each))
  const { hooks } = await service.setup.hookLevels(service.conversations.list())
  const notUnderstood = service.conversations.notUnderstood.list()
  return { rows, choices: { first, total }, hooks, notUnderstood }
}

function rowOf({ catalog, layout, conversations }: HttpDeps, conversation: Conversation): AgentRow {
  const { case_id, session_id, folder } = conversation
  const found = case_id === null ? undefined : catalog.folder(case_id)
  const session = found?.sessions.find(({ id }) => id === session_id) ?? null
  const hasEnded = conversationHasEnded(conversation)
  return {
    conversation,
    folder: shownFolder(layout.root, folder),
    hasEnded,
    isUngated: !hasEnded && isUngated(conversation, session?.trail),
    needsCase: !hasEnded && conversations.isDone(conversation),
    case: found ? { id: found.case.id, title: found.case.title } : null,
    session,
  }
}
