import { SETTINGS_FILE } from '../markdown/settings-file.ts'
import { Refusal } from '../model/refusal.ts'
import type { ProviderSettings } from '../model/settings.ts'
import { needsTrust } from '../model/trust.ts'
import type { Runner } from '../runners/contract.ts'
import { runbook } from '../runners/runbook.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'

const RUNNERS: Record<string, Runner> = { runbook }

/**
 * The runner of a provider, by the name that a request, a case, a session's file or casefile.md gives.
 * Refuses with `untrusted_provider` what casefile.md defines and the operator does not trust.
 */
export function runnerOf(name: string, settings: TrustedSettings): Runner {
  if (Object.hasOwn(RUNNERS, name)) return RUNNERS[name]!
  if (settings.faulty.includes(name)) throw faulty(name)
  const defined = settings.providers.get(name)
  if (!defined) throw unknown(name)
  if (needsTrust(defined) && settings.trust !== 'trusted') throw untrusted(name, defined, settings)
  throw withoutRunner(name, defined)
}

function untrusted(name: string, provider: ProviderSettings, { trust }: TrustedSettings): Refusal {
  const why =
    trust === 'changed' ? 'has changed since it was trusted' : 'counts only once it is trusted'
  return new Refusal(
    'untrusted_provider',
    `${SETTINGS_FILE} defines the provider "${name}" (${commandOf(provider)}), which comes with the workspace's files and ${why}. Look at it and trust it with: casefile trust. Or use ${known()}.`,
  )
}

function withoutRunner(name: string, provider: ProviderSettings): Refusal {
  const kind =
    provider.kind === 'preset' ? `the preset ${provider.preset}` : `kind ${provider.kind}`
  return notKnown(
    name,
    `The provider "${name}" of ${SETTINGS_FILE} is of ${kind}, and this version has no runner for that. Use ${known()}.`,
  )
}

function faulty(name: string): Refusal {
  return new Refusal(
    'untrusted_provider',
    `${SETTINGS_FILE} defines the provider "${name}" with a mistake, so it does not count: GET /health says what is wrong. Correct it, then trust it with: casefile trust. Or use ${known()}.`,
  )
}

function unknown(name: string): Refusal {
  return notKnown(name, `There is no provider "${name}".`)
}

function notKnown(name: string, message: string): Refusal {
  const errors = [{ path: 'provider', message: `got "${name}", expected ${known()}` }]
  return new Refusal('unknown_provider', message, { errors })
}

function known(): string {
  return Object.keys(RUNNERS).join(' or ')
}

/** The words are JSON where a blank would hide where they end. */
function commandOf(provider: ProviderSettings): string {
  switch (provider.kind) {
    case 'command':
      return `command ${JSON.stringify(provider.plan)}`
    case 'acp':
      return `acp ${JSON.stringify(provider.command)}`
    case 'preset':
      return `preset ${provider.preset} ${JSON.stringify(provider.args)}`
  }
}
