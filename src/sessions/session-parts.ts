import type { Database } from '../state/database.ts'
import { createPlanTexts, type PlanTexts } from '../state/plans.ts'
import { createRunRecords } from '../state/runs.ts'
import type { SessionDeps } from './deps.ts'
import { createHandEdits, type HandEditDeps, type HandEdits } from './hand-edits.ts'
import { createProviders, type Providers } from './provider-runs.ts'
import { createSessions, type Sessions } from './sessions.ts'

type OwnParts = 'runs' | 'plans' | 'conversations' | 'touchedInRun'

export interface SessionParts {
  sessions: Sessions
  providers: Providers
  handEdits: HandEdits
  plans: PlanTexts
}

/** Creates the parts that plan, execute and record sessions. */
export function createSessionParts(
  deps: Omit<SessionDeps, OwnParts> &
    Pick<HandEditDeps, 'runGuard' | 'texts' | 'operator'> & { database: Database },
): SessionParts {
  const { database, log } = deps
  const plans = createPlanTexts(database, log)
  const shared = {
    ...deps,
    plans,
    runs: createRunRecords(database, log),
    conversations: new Map(),
    touchedInRun: new Set<string>(),
  }
  const sessions = createSessions(shared)
  return {
    sessions,
    plans,
    providers: createProviders(shared),
    handEdits: createHandEdits({ ...shared, sessions }),
  }
}
