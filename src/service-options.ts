import type { Build } from './http/deps.ts'
import type { LeftProcess } from './runners/process/left-processes.ts'
import type { TimeLimits } from './runners/time-limits.ts'
import type { WebhooksDeps } from './webhooks/webhooks.ts'

/** Options for opening a workspace; tests also set what is not deterministic. */
export interface ServiceOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
  dev?: boolean
  /** Trust what casefile.md asks for at the start. */
  trust?: boolean
  /** The service ends with the command that opened it; the owner record shows this to other processes. */
  short?: boolean
  /** Whether to use read-only mounts if they work; default true. */
  mount?: boolean
  build?: Build | Promise<Build>
  environment?: NodeJS.ProcessEnv
  /** Nondeterministic parts, for tests. */
  now?: () => Date
  newId?: () => string
  log?: (line: string) => void
  gitTimeoutMs?: number
  limits?: Partial<TimeLimits>
  leftProcesses?: ((since: number) => LeftProcess[]) | undefined
  webhookParts?: Pick<WebhooksDeps, 'clock' | 'random' | 'sender'>
}
