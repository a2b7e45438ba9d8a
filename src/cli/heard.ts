import { createClient } from '../client/client.ts'
import type { ConversationJson } from '../http/schemas/conversation.ts'
import type { HealthJson } from '../http/schemas/system.ts'
import type { NotUnderstood } from '../model/not-understood.ts'
import type { Folders } from '../settings/folders.ts'
import { findService } from '../state/owner/find-owner.ts'

/** The running service, and what it has heard of hooks. */
export interface Heard {
  /** Null without a service. */
  url: string | null
  conversations: readonly ConversationJson[]
  not_understood: readonly NotUnderstood[]
}

export async function findHeard(folders: Folders): Promise<Heard> {
  const url = await findService(folders)
  if (url === null) return { url, conversations: [], not_understood: [] }
  const client = createClient({ url }, AbortSignal.timeout(5000))
  const health: HealthJson = (await client.request('GET', '/health')).body
  const conversations = (await client.request('GET', '/conversations')).body
  // the service may be of an older version than this program
  return { url, conversations, not_understood: health.hooks_not_understood ?? [] }
}
