import type { Build } from './http/deps.ts'
import type { WebhooksDeps } from './webhooks/webhooks.ts'

/** What a workspace is opened with; in tests also what else would be another each time. */
export interface ServiceOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
  dev?: boolean
  /** Trust what casefile.md asks for, as it stands at the start. */
  trust?: boolean
  /** Ends with the command that opened it: told to a second process that asks who the owner is. */
  short?: boolean
  /** Whether runs get read-only mounts where these work; true if not given. */
  mount?: boolean
  build?: Build
  environment?: NodeJS.ProcessEnv
  /** What is not deterministic, for tests. */
  now?: () => Date
  newId?: () => string
  log?: (line: string) => void
  gitTimeoutMs?: number
  abandonPatienceMs?: number
  webhookParts?: Pick<WebhooksDeps, 'clock' | 'random' | 'sender'>
}
