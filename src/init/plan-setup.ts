/** What a change of the setup writes, planned once for `casefile init`, `PUT /setup` and the console. */

import { join } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { HOOK_AGENTS } from '../runners/agents/install/hook-agents.ts'
import { providerOf } from '../sessions/providers.ts'
import { type SettingValues, settingsWith, writeSettings } from '../settings/change-settings.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { FIRST_SETTINGS } from './first-settings.ts'
import { type GitChoice, gitSteps } from './git-setup.ts'
import { type AgentHookFolders, agentHooksStep, signerStep } from './setup-steps.ts'
import { requireWritable, type Step } from './steps.ts'

/** What is not given stays as it is; null takes the setting away. */
export interface SetupChange {
  provider?: string | undefined
  /** Installs the hooks of the provider's agent. */
  in_terminal?: boolean | undefined
  tests?: string | null | undefined
  /** If not given, the first tests also make a checklist, unless there is one. */
  checklist?: readonly string[] | undefined
  /** `casefile init` alone changes these. */
  sign_approvals?: boolean | undefined
  git?: GitChoice | undefined
}

export interface SetupContext extends AgentHookFolders {
  settings: TrustedSettings
  /** The text of casefile.md when it was read; null if there is none. */
  before: string | null
}

/** What a new case must prove if its project has tests. */
export const ALL_TESTS_PASS = 'All tests pass (test-log, required)'

/**
 * The steps, in their order. Throws, before anything is written, if one of them cannot be carried out. casefile.md is
 * written last: once it is there, the workspace counts as set up.
 */
export async function planSetup(change: SetupChange, places: SetupContext): Promise<Step[]> {
  const { settings } = places
  if (change.provider !== undefined) providerOf(change.provider, settings)
  const last = settingsStep(valuesOf(change, settings), places)
  const provider = change.provider ?? settings.provider
  const hooks = change.in_terminal ? await agentHooksStep(hookAgent(provider), places) : null
  const signer = change.sign_approvals ? await signerStep(places.root) : null
  const git = change.git ? await gitSteps(places, change.git) : []
  const steps = [...git, signer, hooks, last].filter((step) => step !== null)
  await requireWritable(steps)
  return steps
}

function valuesOf(change: SetupChange, { checklist, signApprovals }: TrustedSettings) {
  const { provider, tests, sign_approvals: signs } = change
  const proves = typeof tests === 'string' && checklist.length === 0 ? [ALL_TESTS_PASS] : undefined
  const wanted = {
    provider,
    tests,
    checklist: change.checklist ?? proves,
    sign_approvals: signs === signApprovals ? undefined : signs,
  }
  return Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  ) as SettingValues
}

/** Writes casefile.md; null if it stays as it is. */
function settingsStep(values: SettingValues, { root, before }: SetupContext): Step | null {
  const base = before ?? FIRST_SETTINGS
  const after = settingsWith(base, values, FIRST_SETTINGS)
  if (before === after) return null
  const changed = Object.entries(values).filter(
    ([key, value]) => settingsWith(base, { [key]: value }, FIRST_SETTINGS) !== base,
  )
  const lines = (create: string, remove: string) => [
    ...(before === null ? [`${create} ${SETTINGS_FILE} with all settings as comments`] : []),
    ...changed.map(([key, value]) =>
      value === null
        ? `${remove} ${key} from ${SETTINGS_FILE}`
        : `Set in ${SETTINGS_FILE}: ${key}: ${Array.isArray(value) ? `${value.join('; ')}, for new cases` : value}`,
    ),
  ]
  return {
    planned: lines('Create', 'Remove'),
    files: [{ path: join(root, SETTINGS_FILE), bytes: Buffer.from(after) }],
    async write() {
      await writeSettings(root, { before, after })
      return lines('Created', 'Removed')
    },
  }
}

function hookAgent(name: string) {
  const agent = HOOK_AGENTS.find(({ id }) => id === name)
  if (agent) return agent
  const names = HOOK_AGENTS.map(({ id }) => id).join(', ')
  throw new AppError(
    'bad_request',
    `Casefile has no hooks for "${name}", so it cannot work with it in your terminal. It has hooks for ${names}.`,
    { errors: [{ path: 'in_terminal', message: `expected a provider that is one of ${names}` }] },
  )
}
