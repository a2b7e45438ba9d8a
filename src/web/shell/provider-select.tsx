import type { Agent } from '../../doctor/agents.ts'
import { listProviders } from '../../sessions/providers.ts'
import type { StartObjections } from '../../sessions/start-checks.ts'
import type { TrustedSettings } from '../../settings/trusted-settings.ts'

/** A provider in a menu. */
export interface ProviderChoice {
  id: string
  label: string
  group: Group
  /** Why it can't be chosen, or what to do first. */
  note: string | null
  disabled: boolean
}

export interface Providers {
  providers: readonly ProviderChoice[]
  /** What a new session runs with if nothing is chosen. */
  provider: string
  /** Whether it is known which agents are installed. */
  areKnown: boolean
  objections: StartObjections
}

const GROUPS = {
  ready: 'Ready',
  login: 'Needs login',
  absent: 'Not installed',
  untrusted: 'Not trusted',
} as const
type Group = keyof typeof GROUPS

/** `agents` is what was found on this machine; null if that is not known yet. */
export function providerChoices(
  settings: TrustedSettings,
  agents: readonly Agent[] | null,
  objections?: StartObjections,
): ProviderChoice[] {
  return listProviders(settings).map(({ id, spec, trusted }) => {
    const agent = agents?.find((each) => each.id === id)
    const name = spec === null ? 'Runbook: Casefile runs the steps itself' : nameOf(id, spec.title)
    const usesUntrusted = objections?.files.some(({ providers }) => providers.includes(id)) ?? false
    const [group, note] = placeOf(trusted, agent, usesUntrusted)
    return {
      id,
      label: agent?.version ? `${name} ${agent.version}` : name,
      group,
      note,
      disabled: group === 'absent' || group === 'untrusted',
    }
  })
}

function nameOf(id: string, title: string): string {
  return id === title.toLowerCase() ? title : `${id} (${title})`
}

function placeOf(
  trusted: boolean,
  agent: Agent | undefined,
  usesUntrusted: boolean,
): [Group, note: string | null] {
  if (!trusted) return ['untrusted', 'run casefile doctor --trust']
  if (agent?.status === 'not_installed') return ['absent', agent.advice]
  if (usesUntrusted) return ['untrusted', 'uses files that are not trusted']
  if (agent?.status === 'not_logged_in') return ['login', agent.advice]
  return ['ready', agent?.status === 'unknown_login' ? 'login not known' : null]
}

/** The options of a menu of providers, grouped once it is known which of them can start. */
export function ProviderOptions({
  choices,
  areKnown,
  selected,
}: {
  choices: readonly ProviderChoice[]
  areKnown: boolean
  selected: string | null
}) {
  const option = ({ id, label, note, disabled }: ProviderChoice) => (
    <option value={id} selected={id === selected && !disabled} disabled={disabled}>
      {note === null ? label : `${label}: ${note}`}
    </option>
  )
  if (!areKnown) return <>{choices.map(option)}</>
  return (
    <>
      {Object.entries(GROUPS).map(([group, label]) => {
        const own = choices.filter((choice) => choice.group === group)
        return own.length > 0 && <optgroup label={label}>{own.map(option)}</optgroup>
      })}
    </>
  )
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
  const { providers, provider, areKnown } = choices
  const canStart = providers.some((choice) => choice.id === provider && !choice.disabled)
  return (
    <select
      id={id}
      name={name}
      required={name !== undefined}
      data-agents={areKnown ? 'known' : 'unknown'}
    >
      {!canStart && <option value="">Choose a provider</option>}
      <ProviderOptions choices={providers} areKnown={areKnown} selected={provider} />
    </select>
  )
}
