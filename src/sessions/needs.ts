import type { Bus } from '../events/bus.ts'
import type { SessionOutput } from '../events/envelope.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import type { RunRecords } from '../workspace/output/run-records.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import type { StateFolder } from '../workspace/state-folder.ts'
import type { Store } from '../workspace/store.ts'

/** What the sessions are made of; everything that is not deterministic comes in here. */
export interface SessionNeeds {
  layout: Layout
  state: StateFolder
  store: Store
  catalog: Catalog
  runs: RunRecords
  outputs: Bus<SessionOutput>
  settings: () => Promise<TrustedSettings>
  environment: NodeJS.ProcessEnv
  /** The present time, ISO 8601 UTC with milliseconds. */
  now: () => string
  newId: () => string
  log: (line: string) => void
}
