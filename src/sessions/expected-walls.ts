/** What will hold the programs of a session, for the operator who decides on its plan. */

import { readPlan } from '../markdown/plan-steps.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { isIsolated, type Session } from '../model/session.ts'
import { workingFolder } from '../settings/workdir.ts'
import type { SessionDeps } from './deps.ts'
import { mustHaveRuntime } from './hosts.ts'
import { providerOf } from './providers.ts'
import { objectionOf } from './start-checks.ts'
import { type ExpectedWalls, expectedWalls, whyNoMounts } from './walls.ts'

export interface SessionWalls extends ExpectedWalls {
  /** Why an approval would be refused: casefile.md limits the hosts, and what does that is missing. Else null. */
  objection: string | null
}

/** Mounts are tried out seldom: it starts programs. */
const GOOD_FOR_MS = 10 * 60_000

export function createExpectedWalls(deps: SessionDeps) {
  let probe: { at: number; reason: Promise<string | null> } | null = null

  function noMounts(): Promise<string | null> {
    if (!deps.mount) return Promise.resolve(null) // the policy knows that, and why
    if (probe && performance.now() - probe.at < GOOD_FOR_MS) return probe.reason
    const reason = whyNoMounts(deps)
    reason.catch(() => {
      probe = null
    })
    probe = { at: performance.now(), reason }
    return reason
  }

  /** Rejects with an `AppError` if the working folder or the provider is not as it must be. */
  return async ({ case: record }: CaseContents, session: Session): Promise<SessionWalls> => {
    if (session.origin === 'terminal') return IN_TERMINAL
    const settings = await deps.settings()
    const workdir = await workingFolder(deps.layout.root, record.workdir, settings.folders)
    const { plan } = await deps.sessionTexts(record.id, session)
    const { isRunbook } = await readPlan(plan)
    const { runner, spec } = providerOf(session.provider, settings)
    const agent = !isRunbook && runner.capabilities.isAgent ? spec : null
    const expected = await expectedWalls(deps, {
      workdir,
      settings,
      agent,
      isIsolated: isIsolated(session),
      noMounts: await noMounts(),
    })
    return { ...expected, objection: await objectionOf(() => mustHaveRuntime(deps, settings)) }
  }
}

const IN_TERMINAL: SessionWalls = {
  guard: 'comparison',
  reason: 'its agent runs in your terminal',
  places: null,
  hosts: null,
  objection: null,
}
