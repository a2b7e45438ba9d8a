import type { Bus } from '../events/bus.ts'
import type { SessionOutput } from '../events/envelope.ts'
import type { EventLog } from '../events/event-log.ts'
import type { Setup } from '../init/setup.ts'
import type { ConsoleAddress } from '../model/console-address.ts'
import type { Problem } from '../model/problem.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import type { ServiceHooks } from '../runners/agents/install/service-hooks.ts'
import type { Search } from '../search/search.ts'
import type { CommentActions } from '../sessions/comment-actions.ts'
import type { Conversations } from '../sessions/conversations/conversations.ts'
import type { Providers } from '../sessions/provider-runs.ts'
import type { RunGuard } from '../sessions/run-guard.ts'
import type { SeenPlans } from '../sessions/seen-plans.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { SettingsSource } from '../settings/trusted-settings.ts'
import type { HistoryLines } from '../state/history-lines.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { GitSync } from '../sync/git-sync.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { CaseChange } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { CaseLists } from '../workspace/index/lists.ts'
import type { LateSaves } from '../workspace/late-saves/late-saves.ts'
import type { Layout } from '../workspace/layout.ts'
import type { Texts } from '../workspace/long-texts.ts'
import type { Scan } from '../workspace/scan.ts'
import type { WithTail } from '../workspace/step-tail.ts'
import type { Store } from '../workspace/store.ts'
import type { CatalogRefresher } from '../workspace/watching/catalog-refresher.ts'
import type { Worktrees } from '../worktrees/worktrees.ts'
import type { InboxJson } from './schemas/inbox.ts'

/** Which program this is. `commit` is null if it was not built from a git checkout. */
export interface Build {
  version: string
  commit: string | null
}

export type StartStage = 'indexing' | 'publishing' | 'begun'

/** The progress of the start; the service responds from the first moment. Both promises reject if the start fails or is abandoned. */
export interface Start {
  stage(): StartStage
  /** Resolves when all files have been read. */
  indexed: Promise<void>
  /** Resolves when changes from before the start are published; only then may anything be changed. */
  begun: Promise<void>
}

/** What waits in all workspaces of this user. `base` is the address of this service. */
export interface Inbox {
  read(base: string): Promise<InboxJson>
  /** Calls with the whole list, at first and after each change. Returns the function that stops it. */
  watch(base: string, listener: (inbox: InboxJson) => void): () => void
  /** Whether another workspace was found. */
  hasOthers(): boolean
}

/** The parts of the service that the HTTP API uses. */
export interface HttpDeps {
  layout: Layout
  catalog: Catalog
  lists: CaseLists
  store: Store
  scan: Scan
  lateSaves: LateSaves
  texts: Texts
  withTail: WithTail
  /** The sections of a session. Throws an `AppError` if its file cannot be read. */
  sessionTexts(caseId: string, session: Session): Promise<SessionTexts>
  consoleAddress: ConsoleAddress
  seenPlans: SeenPlans
  refresher: Pick<CatalogRefresher, 'freshen' | 'freshenAll'>
  eventLog: EventLog
  /** Problems that belong to no case. */
  problems(): Promise<Problem[]>
  watching: CatalogRefresher['health']
  start: Start
  historyLines: Pick<HistoryLines, 'of'>
  sessions: Sessions
  comments: CommentActions
  conversations: Conversations
  hooks: Pick<ServiceHooks, 'secretFor'>
  /** The ids of the sessions that plan or execute in this process. */
  running: ReadonlySet<string>
  providers: Providers
  /** The known agents on the PATH that act on files of a project on their own. */
  agents: readonly AgentSpec[]
  setup: Setup
  sync: GitSync
  worktrees: Worktrees
  webhooks: Webhooks
  search: Pick<Search, 'find' | 'matching' | 'similar' | 'isReady'>
  runGuard: Pick<RunGuard, 'confirm'>
  plans: PlanTexts
  settings: SettingsSource
  caseChanges: Bus<CaseChange>
  outputs: Bus<SessionOutput>
  /** The name of the operator, for requests without a sender. */
  operator: () => Promise<string>
  now: () => string
  newId: () => string
  log: (line: string) => void
  /** Whether the provider endpoints exist. */
  dev: boolean
  build: Build
  startedAt: string
}
