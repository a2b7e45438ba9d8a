import type { Endpoint } from './endpoint.ts'
import { artifactEndpoints } from './routes/artifacts.ts'
import { caseEndpoints } from './routes/cases.ts'
import { commentEndpoints } from './routes/comments.ts'
import { conversationEndpoints } from './routes/conversations.ts'
import { eventEndpoints } from './routes/events.ts'
import { hookEndpoints } from './routes/hooks.ts'
import { inboxEndpoints } from './routes/inbox.ts'
import { memoryEndpoints } from './routes/memory.ts'
import { proofEndpoints } from './routes/proof.ts'
import { providerEndpoints } from './routes/providers.ts'
import { queueEndpoints } from './routes/queue.ts'
import { reportEndpoints } from './routes/report.ts'
import { searchEndpoints } from './routes/search.ts'
import { sessionStreamEndpoints } from './routes/session-stream.ts'
import { sessionEndpoints } from './routes/sessions.ts'
import { setupEndpoints } from './routes/setup.ts'
import { statusEndpoints } from './routes/status.ts'
import { syncEndpoints } from './routes/sync.ts'
import { systemEndpoints } from './routes/system.ts'
import { webhookEndpoints } from './routes/webhooks.ts'
import { worktreeEndpoints } from './routes/worktrees.ts'

const ENDPOINTS: readonly Endpoint[] = [
  ...systemEndpoints,
  ...setupEndpoints,
  ...eventEndpoints,
  ...caseEndpoints,
  ...statusEndpoints,
  ...inboxEndpoints,
  ...reportEndpoints,
  ...searchEndpoints,
  ...sessionEndpoints,
  ...queueEndpoints,
  ...worktreeEndpoints,
  ...commentEndpoints,
  ...sessionStreamEndpoints,
  ...syncEndpoints,
  ...conversationEndpoints,
  ...hookEndpoints,
  ...artifactEndpoints,
  ...proofEndpoints,
  ...memoryEndpoints,
  ...webhookEndpoints,
  ...providerEndpoints,
]

/** All endpoints; those for providers only with `casefile serve --dev`. */
export function endpointsOf({ dev }: { dev: boolean }): readonly Endpoint[] {
  return ENDPOINTS.filter(({ isDev }) => dev || !isDev)
}
