import type { NotifyTarget, ProviderSettings, Settings } from './settings.ts'

/**
 * Whether the operator trusts what needs it in casefile.md, see `Trustable`. The file comes with git, and planning
 * starts automatically, so it needs trust first. `changed`: it was trusted with different content.
 */
export type TrustState = 'trusted' | 'untrusted' | 'changed'

type Wider = Pick<Settings, 'cache' | 'sandbox' | 'readingTools' | 'readingCommands' | 'standing'>
type Trustable = Pick<Settings, 'providers' | 'env' | 'notify'> & Wider

/** Whether a provider needs trust. A preset without arguments does not: it is a built-in command under another name. */
export function needsTrust(provider: ProviderSettings): boolean {
  return provider.kind !== 'preset' || provider.args.length > 0
}

/** Returns the names of the providers that need trust. */
export function foreignProviders({ providers }: Pick<Trustable, 'providers'>): string[] {
  return [...providers].filter(([, provider]) => needsTrust(provider)).map(([name]) => name)
}

/**
 * Returns a canonical text of these settings, whose hash is stored when trusted; null if nothing needs trust. A desktop
 * notification sends nothing away, and needs none.
 * The order of keys and names does not matter, that of command arguments does.
 */
export function trustedText(settings: Trustable): string | null {
  const { providers, env } = settings
  const notify = remoteTargets(settings)
  const wider = widerSettings(settings)
  const hasMore = notify.length > 0 || Object.keys(wider).length > 0
  if (env.length === 0 && !hasMore && foreignProviders(settings).length === 0) return null
  const names = [...new Set(env)].sort()
  // without the newer settings the text is that of earlier versions, so what was trusted stays so
  const sent = notify.length === 0 ? {} : { notify: notify.map(({ kind, url }) => [kind, url]) }
  return canonicalJson({ env: names, providers: Object.fromEntries(providers), ...sent, ...wider })
}

/** The settings that let agents do more than without them, each only if it does. */
export function widerSettings({ cache, sandbox, readingTools, readingCommands, standing }: Wider) {
  return {
    ...(cache?.length ? { cache } : {}),
    ...(sandbox === 'mounts' ? {} : { sandbox }),
    ...(readingTools.length > 0 ? { readingTools } : {}),
    ...(readingCommands.length > 0 ? { readingCommands } : {}),
    ...(standing.length > 0 ? { standing } : {}),
  }
}

/** What counts as reading before a plan is approved, besides what always does. */
export type ReadingRules = Pick<Settings, 'readingTools' | 'readingCommands'>

/** What these settings are as long as they are not trusted. */
export function untrustedSettings({ cache }: Pick<Wider, 'cache'>): Wider {
  return {
    // an empty list takes away only
    cache: cache?.length === 0 ? cache : null,
    sandbox: 'mounts',
    readingTools: [],
    readingCommands: [],
    standing: [],
  }
}

/** The addresses outside of this machine that get notifications. */
export function remoteTargets({ notify }: Pick<Settings, 'notify'>): NotifyTarget[] {
  return notify.filter(({ kind }) => kind !== 'desktop')
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const members = entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
  return `{${members.join(',')}}`
}
