import { listProviders } from '../../sessions/providers.ts'
import type { StartObjections } from '../../sessions/start-checks.ts'
import type { TrustedSettings } from '../../workspace/settings/trusted-settings.ts'

export interface ProviderChoice {
  id: string
  title: string
  trusted: boolean
}

export interface Providers {
  providers: readonly ProviderChoice[]
  /** What a new session runs with if nothing is chosen. */
  provider: string
  objections: StartObjections
}

export function providerChoices(settings: TrustedSettings): ProviderChoice[] {
  return listProviders(settings).map(({ id, spec, trusted }) => ({
    id,
    title: spec?.title ?? 'Runbook: Casefile runs the steps itself',
    trusted,
  }))
}

/** The provider of a new session; those that can't start are disabled, and say why. */
export function ProviderSelect({
  id,
  name,
  choices,
}: {
  id: string
  /** Of the field; without it the script reads the value. */
  name?: string
  choices: Providers
}) {
  const { providers, provider } = choices
  return (
    <select id={id} name={name} required={name !== undefined}>
      {isBarred(choices, provider) && <option value="">Choose a provider</option>}
      {providers.map(({ id, title, trusted }) => (
        <option
          value={id}
          selected={id === provider && !isBarred(choices, id)}
          disabled={isBarred(choices, id)}
        >
          {id === title.toLowerCase() ? title : `${id} (${title})`}
          {!trusted
            ? ': not trusted yet, see casefile trust'
            : isBarred(choices, id)
              ? ': uses files that are not trusted'
              : ''}
        </option>
      ))}
    </select>
  )
}

function isBarred({ providers, objections }: Providers, provider: string): boolean {
  const isTrusted = providers.some(({ id, trusted }) => id === provider && trusted)
  return !isTrusted || objections.files.some((file) => file.providers.includes(provider))
}
