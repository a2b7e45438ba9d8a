import type { Case } from '../model/case.ts'
import { Refusal } from '../model/refusal.ts'
import type { Runner } from '../runners/contract.ts'
import { runbook } from '../runners/runbook.ts'
import { SETTINGS_FILE, type Settings } from '../workspace/settings.ts'

const RUNNERS: Record<string, Runner> = { runbook }

/** The provider of a new session: the request's, the case's, the workspace's, `runbook`. */
export async function providerFor(
  settings: () => Promise<Settings>,
  present: Case,
  wanted: string | undefined,
): Promise<string> {
  const { provider, providers } = await settings()
  const name = wanted ?? present.provider ?? provider
  if (Object.hasOwn(RUNNERS, name)) return name
  if (providers.includes(name)) {
    throw new Refusal(
      'untrusted_provider',
      `${SETTINGS_FILE} defines the provider "${name}", and this service does not run what comes with the workspace's files. Use ${Object.keys(RUNNERS).join(' or ')}.`,
    )
  }
  throw new Refusal('unknown_provider', `There is no provider "${name}".`, {
    errors: [
      { path: 'provider', message: `got "${name}", expected ${Object.keys(RUNNERS).join(' or ')}` },
    ],
  })
}

/** The runner of a provider that a session file names. */
export function runnerOf(provider: string): Runner {
  const runner = Object.hasOwn(RUNNERS, provider) ? RUNNERS[provider] : undefined
  if (runner) return runner
  throw new Refusal('unknown_provider', `The session's provider "${provider}" is not known here.`)
}
