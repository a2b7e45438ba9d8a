import type { ProviderSettings, Settings } from '../model/settings.ts'
import { layoutOf } from '../workspace/layout.ts'
import { type OutsideFolder, outsideFolders } from '../workspace/settings/outside-folders.ts'
import type { Places } from '../workspace/settings/places.ts'
import { trustHash } from '../workspace/settings/trusted-settings.ts'

/** What the operator is asked to trust: all that counts only then, as it stands in the files now. */
export interface Offer {
  providers: ReadonlyMap<string, ProviderSettings>
  env: readonly string[]
  folders: OutsideFolder[]
  /** Of providers and env; null where they hold nothing to trust. */
  hash: string | null
  /** Whether all of it is trusted already. */
  isTrusted: boolean
}

type OfferPlaces = Pick<Places, 'root' | 'memoryRoot' | 'trust'>

/** Null where there is nothing to trust. */
export async function offerOf(places: OfferPlaces, settings: Settings): Promise<Offer | null> {
  const folders = await outsideFolders(layoutOf(places.root, places.memoryRoot))
  const hash = trustHash(settings)
  if (hash === null && folders.length === 0) return null
  const trusted = await places.trust.read()
  const isTrusted =
    (hash === null || hash === trusted.settings) &&
    folders.every(({ folder }) => trusted.folders.includes(folder))
  const { providers, env } = settings
  const [shownProviders, shownEnv] = hash === null ? [new Map(), []] : [providers, env]
  return { providers: shownProviders, env: shownEnv, folders, hash, isTrusted }
}

/** Trusts exactly what the offer shows, whatever the files say by now. */
export async function accept(places: OfferPlaces, { hash, folders }: Offer): Promise<void> {
  const trusted = { settings: hash, folders: folders.map(({ folder }) => folder) }
  await places.trust.write(trusted, new Date().toISOString())
}
