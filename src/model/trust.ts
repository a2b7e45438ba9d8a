import type { ProviderSettings, Settings } from './settings.ts'

/**
 * Whether the operator trusts the `providers` and `env` of casefile.md. The file comes with git, and planning starts
 * automatically, so it needs trust first. `changed`: it was trusted with different content.
 */
export type TrustState = 'trusted' | 'untrusted' | 'changed'

type Trustable = Pick<Settings, 'providers' | 'env'>

/** Whether a provider needs trust. A preset without arguments does not: it is a built-in command under another name. */
export function needsTrust(provider: ProviderSettings): boolean {
  return provider.kind !== 'preset' || provider.args.length > 0
}

/** Returns the names of the providers that need trust. */
export function foreignProviders({ providers }: Trustable): string[] {
  return [...providers].filter(([, provider]) => needsTrust(provider)).map(([name]) => name)
}

/**
 * Returns a canonical text of `providers` and `env`, whose hash is stored when trusted; null if nothing needs trust.
 * The order of keys and names does not matter, that of command arguments does.
 */
export function trustedText(settings: Trustable): string | null {
  const { providers, env } = settings
  if (env.length === 0 && foreignProviders(settings).length === 0) return null
  return canonicalJson({ env: [...new Set(env)].sort(), providers: Object.fromEntries(providers) })
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const members = entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
  return `{${members.join(',')}}`
}
