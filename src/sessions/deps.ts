import type { Bus } from '../events/bus.ts'
import type { SessionOutput } from '../events/envelope.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { TimeLimits } from '../runners/time-limits.ts'
import type { Search } from '../search/search.ts'
import type { SettingsSource } from '../settings/trusted-settings.ts'
import type { HistoryLines } from '../state/history-lines.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { RunRows } from '../state/runs.ts'
import type { StateFolder } from '../state/state-folder.ts'
import type { CaseChange } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { CaseLists } from '../workspace/index/lists.ts'
import type { Layout } from '../workspace/layout.ts'
import type { WithTail } from '../workspace/step-tail.ts'
import type { Store } from '../workspace/store.ts'
import type { Redactor } from './redaction.ts'
import type { RunGuard } from './run-guard.ts'

/** What the session functions depend on, including everything nondeterministic. */
export interface SessionDeps {
  layout: Layout
  state: StateFolder
  store: Store
  catalog: Catalog
  lists: Pick<CaseLists, 'triage'>
  runs: RunRows
  /** Ids of the sessions that plan or execute in this process, until their end is recorded. */
  running: Set<string>
  /** Stores every plan text of a session, so that revisions can be compared. */
  plans: Pick<PlanTexts, 'add' | 'read' | 'store'>
  outputs: Bus<SessionOutput>
  caseChanges: Pick<Bus<CaseChange>, 'subscribe'>
  settings: SettingsSource
  environment: NodeJS.ProcessEnv
  /** Removes secrets of the environment from every record. */
  redactor: Redactor
  /** Finds resolved cases that resemble a given one. */
  search: Pick<Search, 'similar'>
  runGuard: Pick<RunGuard, 'begin' | 'end' | 'recover' | 'addCommitted'>
  /**
   * The agents' conversation ids, by session, as the agents reported them to this process. Ids in files are not
   * used: they may have come with git, and the id becomes part of a command line.
   */
  conversations: Map<string, string>
  /** Sessions whose files were changed, apparently by hand, while a run's programs could write to them. */
  touchedInRun: Set<string>
  historyLines: Pick<HistoryLines, 'of'>
  /** Whether git made a change at this time. */
  isGits(ctimeMs: number): boolean
  /** Whether to protect files with read-only mounts where these work. */
  mount: boolean
  limits: TimeLimits
  sessionTexts(caseId: string, session: Session): Promise<SessionTexts>
  withTail: WithTail
  /** The current time, ISO 8601 UTC with milliseconds. */
  now: () => string
  newId: () => string
  log: (line: string) => void
}
