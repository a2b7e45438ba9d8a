import type { Bus } from '../events/bus.ts'
import type { SessionOutput } from '../events/envelope.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { Search } from '../search/search.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { RunRecords } from '../state/runs.ts'
import type { StateFolder } from '../state/state-folder.ts'
import type { Change } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import type { Store } from '../workspace/store.ts'
import type { Redactor } from './redaction.ts'
import type { RunGuard } from './run-guard.ts'

/** What the sessions are made of; everything that is not deterministic comes in here. */
export interface SessionDeps {
  layout: Layout
  state: StateFolder
  store: Store
  catalog: Catalog
  runs: RunRecords
  /** Ids of the sessions that plan or execute in this process, until their end is written. */
  running: Set<string>
  /** Every plan that a session gets, so that the next one can be compared with it. */
  plans: Pick<PlanTexts, 'store'>
  outputs: Bus<SessionOutput>
  changes: Pick<Bus<Change>, 'subscribe'>
  settings: () => Promise<TrustedSettings>
  environment: NodeJS.ProcessEnv
  /** Keeps secrets of that environment out of every record. */
  redactor: Redactor
  /** Finds resolved cases that resemble one. */
  search: Pick<Search, 'similar'>
  runGuard: Pick<RunGuard, 'begin' | 'end' | 'recover'>
  /**
   * The agents' own ids of their conversations, by session, as they said them to this process: what stands in a
   * file may have come with git, and would be a word of a command.
   */
  conversations: Map<string, string>
  /** Sessions whose files were changed by hand, or so it seems, while programs of a run could write them. */
  touchedInRun: Set<string>
  /** Whether to keep programs from writing by read-only mounts, where these work. */
  mount: boolean
  /** How long to wait for the end of a session that is abandoned; if not given, longer than an end may last. */
  abandonPatienceMs?: number | undefined
  sessionTexts(caseId: string, session: Session): Promise<SessionTexts>
  /** The present time, ISO 8601 UTC with milliseconds. */
  now: () => string
  newId: () => string
  log: (line: string) => void
}
