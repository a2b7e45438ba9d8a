import type { ProviderSettings, Settings } from './settings.ts'

/**
 * Whether the operator trusts what `casefile.md` defines under `providers` and `env`: the file comes
 * with git, and planning starts by itself. `changed` was trusted when it said something else.
 */
export type TrustState = 'trusted' | 'untrusted' | 'changed'

type Trustable = Pick<Settings, 'providers' | 'env'>

/** A preset without arguments is the service's own command under another name. */
export function needsTrust(provider: ProviderSettings): boolean {
  return provider.kind !== 'preset' || provider.args.length > 0
}

/** The names of the providers that count only once trusted. */
export function foreignProviders({ providers }: Trustable): string[] {
  return [...providers].filter(([, provider]) => needsTrust(provider)).map(([name]) => name)
}

/**
 * One text for each meaning of `providers` and `env`, whose hash is what is kept as trusted; null
 * where there is nothing to trust. The order of names and keys plays no part, that of words does.
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
