import { firstOf } from '../model/amounts.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { agentVariables, type EnvRule } from '../runners/agents/environment.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'

const PASSED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TERM|TMPDIR|TZ|XDG_[A-Z_]+)$/

export interface StepEnvironment {
  env: Record<string, string>
  missing: MissingEnvironment
}

/**
 * Environment variables that a step did not get. A failed step lists them, since a missing one may be the cause.
 */
export interface MissingEnvironment {
  /** Variables of the service that no setting passes on. */
  names: string[]
  /** Variables that casefile.md asks for but that are not trusted. */
  untrusted: string[]
  /** Variables that casefile.md may pass on but that the service does not have. */
  unset: string[]
}

/**
 * The environment of a step (docs/plans.md#the-environment-of-a-step): allowed variables of the service, plus
 * the run's id.
 */
export function stepEnvironment(
  service: NodeJS.ProcessEnv,
  run: { runId: string; case_id: string; session_id: string },
  { env: asked, trust }: Pick<TrustedSettings, 'env' | 'trust'>,
  /** What the agents' own settings need in addition. */
  agents: readonly EnvRule[] = [],
): StepEnvironment {
  const names = Object.keys(service).filter((name) => service[name] !== undefined)
  const trusted = new Set(trust === 'trusted' ? asked : [])
  const isAgents = agentVariables(agents, service)
  const isPassed = (name: string) => PASSED.test(name) || trusted.has(name) || isAgents(name)
  const passed = names.filter(isPassed)
  return {
    env: {
      ...Object.fromEntries(passed.map((name) => [name, service[name]!])),
      CASEFILE_RUN: run.runId,
      CASEFILE_CASE: run.case_id,
      CASEFILE_SESSION: run.session_id,
    },
    missing: {
      names: names
        .filter((name) => !isPassed(name) && !asked.includes(name) && !name.startsWith('npm_'))
        .sort(),
      untrusted: asked.filter((name) => !isPassed(name)),
      unset: asked.filter((name) => isPassed(name) && service[name] === undefined),
    },
  }
}

const SHOWN_NAMES = 40

/** A note for a failed step: the variables it did not get, and why. */
export function missingEnvironmentNote({ names, untrusted, unset }: MissingEnvironment): string {
  const notes: [names: readonly string[], note: (list: string) => string][] = [
    [names, (list) => `Steps did not get these environment variables of the service: ${list}.`],
    [
      untrusted,
      (list) =>
        `${SETTINGS_FILE} asks to pass ${list}, which is not trusted. Review it and run: casefile doctor --trust.`,
    ],
    [unset, (list) => `${SETTINGS_FILE} asks to pass ${list}, but the service does not have it.`],
  ]
  return notes
    .filter(([list]) => list.length > 0)
    .map(([list, note]) => note(firstOf(list, SHOWN_NAMES)))
    .join('\n')
}
