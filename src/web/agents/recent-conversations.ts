import type { HttpDeps } from '../../http/deps.ts'
import type { Conversation } from '../../model/conversation.ts'
import { goesOn } from '../../platform/processes.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Conversations that run, or that were heard in the last day, newest first. */
export function recentConversations({
  conversations,
}: Pick<HttpDeps, 'conversations'>): Conversation[] {
  const since = new Date(Date.now() - DAY_MS).toISOString()
  return conversations
    .list()
    .filter((each) => (each.last_heard_at ?? each.started_at) > since || isRunningHere(each))
}

/** Those that go on and belong to no case. */
export function unboundConversations(service: Pick<HttpDeps, 'conversations'>): Conversation[] {
  return recentConversations(service).filter(
    (each) => each.case_id === null && !conversationHasEnded(each),
  )
}

/** Whether it has ended. An agent that is killed does not report its end. */
export function conversationHasEnded(conversation: Conversation): boolean {
  const { ended_at, pid, process_start } = conversation
  if (ended_at !== null) return true
  return pid !== null && process_start !== null && !isRunningHere(conversation)
}

function isRunningHere({ ended_at, pid, process_start }: Conversation): boolean {
  if (ended_at !== null || pid === null || process_start === null) return false
  return goesOn(pid, process_start)
}
