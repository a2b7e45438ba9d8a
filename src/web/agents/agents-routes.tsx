import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { shownFolder } from '../../http/serializers.ts'
import { triageFilters } from '../../http/triage.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { Session } from '../../model/session.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { isUngated } from '../../model/ungated-conversation.ts'
import type { PageDeps } from '../deps.ts'
import { AGENTS } from '../shell/addresses.ts'
import type { Choice } from '../shell/case-fields.tsx'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { AgentsPage } from './agents-page.tsx'
import { isOver, recentConversations } from './recent-conversations.ts'

/** A conversation with an agent in a terminal, as a row shows it. */
export interface AgentRow {
  conversation: Conversation
  /** Relative to the workspace where it lies there. */
  folder: string
  isOver: boolean
  isUngated: boolean
  /** Null if it belongs to no case. */
  case: { id: string; title: string } | null
  /** The session that records it; null if none does. */
  session: Session | null
}

/** Open cases to choose from. */
export interface CaseChoices {
  first: Choice[]
  /** How many there are. */
  total: number
}

const MAX_CHOICES = 200

/** The agents that people run in terminals themselves. */
export function agentsRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.get(AGENTS, pageHeaders(), async (c) => {
    const choices = await caseChoices()
    const rows = recentConversations(service).map(rowOf)
    return pageResponse(c, <AgentsPage assets={assets} rows={rows} choices={choices} />)
  })
  return app

  async function caseChoices(): Promise<CaseChoices> {
    const filters = await triageFilters(service, { open: 'true' })
    const rows = service.lists.listPage(filters, 0, MAX_CHOICES)
    const total = service.lists.counts(filters).reduce((sum, { count }) => sum + count, 0)
    const first = rows.map((json) => {
      const { id, title } = JSON.parse(json) as TriageRow
      return { value: id, label: `${title} (${id.slice(0, 8)})` }
    })
    return { first, total }
  }

  function rowOf(conversation: Conversation): AgentRow {
    const { case_id, session_id, folder } = conversation
    const found = case_id === null ? undefined : service.catalog.folder(case_id)
    const hasEnded = isOver(conversation)
    return {
      conversation,
      folder: shownFolder(service.layout.root, folder),
      isOver: hasEnded,
      isUngated: !hasEnded && isUngated(conversation),
      case: found ? { id: found.case.id, title: found.case.title } : null,
      session: found?.sessions.find(({ id }) => id === session_id) ?? null,
    }
  }
}
