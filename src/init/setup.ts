/** How a workspace is set up: reads it, and changes it for the API. `casefile init` does the same on a terminal. */

import { join } from 'node:path'
import { type Agent, agentsIn } from '../doctor/agents.ts'
import { stampOf } from '../files/safe-read.ts'
import type { MemoryKind } from '../git/memory-kind.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { RUNBOOK_FILE } from '../model/memory-name.ts'
import { OWN_PROVIDER, SETTINGS_FILE } from '../model/settings.ts'
import { HOOK_AGENTS } from '../runners/agents/install/hook-agents.ts'
import {
  type HeardConversation,
  type LeveledReport,
  leveledReport,
} from '../runners/agents/install/levels.ts'
import type { HookPlaces } from '../runners/agents/install/service-hooks.ts'
import { type HookStatus, hooksReport } from '../runners/agents/install/status.ts'
import { findTests, type ProjectTests } from '../runners/project-tests.ts'
import {
  findRunbook,
  type RunbookSource,
  testsRunbook,
  testsStep,
} from '../runners/runbook-plan.ts'
import type { SessionDeps } from '../sessions/deps.ts'
import type { Providers } from '../sessions/provider-runs.ts'
import { providerOf } from '../sessions/providers.ts'
import { planSettings, settingsText } from '../settings/change-settings.ts'
import type { TrustFile } from '../settings/trust-file.ts'
import { workingFolder } from '../settings/workdir.ts'
import { findSigningKey, keyName } from '../signing/signing-key.ts'
import { readMemory } from '../workspace/memory-files.ts'
import { FIRST_SETTINGS } from './first-settings.ts'
import { hookAgent } from './hook-agent.ts'
import { type MemoryStatus, memoryStatus, planMemory } from './memory-change.ts'
import { nextCommands } from './next-commands.ts'
import { type ProposedIntent, proposeIntent } from './proposed-intent.ts'
import { agentHooksStep, hookRemovalSteps, settingsStep, signerStep } from './setup-steps.ts'
import { type PlannedFile, requireWritable, shownPath, writeSteps } from './steps.ts'

type Tests = Pick<ProjectTests, 'command' | 'source' | 'report'>

export interface SetupStatus extends MemoryStatus {
  /** Whether casefile.md exists. */
  configured: boolean
  /** The hash of casefile.md; null if there is none that can be read. */
  settings_sha256: string | null
  provider: string
  agents: Agent[]
  tests: Tests | null
  checklist: readonly string[]
  sign_approvals: boolean
  /** The operator's SSH key, as they would recognize it; null without one. */
  signing_key: string | null
  hooks: Pick<HookStatus, 'agent' | 'place' | 'installed' | 'warnings'>[]
}

/** What is not given stays as it is; null takes the setting away. */
export interface SetupChange {
  provider?: string | undefined
  in_terminal?: boolean | undefined
  /** The agents whose hooks are taken out, wherever they are installed. */
  remove_hooks?: readonly string[] | undefined
  tests?: string | null | undefined
  checklist?: readonly string[] | undefined
  sign_approvals?: boolean | undefined
  memory?: MemoryKind | undefined
}

export interface ChangeOptions {
  /** Only says what would be written. */
  isDry?: boolean
  /** Gets the hash of casefile.md before anything is written; throws if it is not the one that was read. */
  check?(settingsSha256: string | null): void
}

export interface Changed {
  /** Relative to the workspace, or absolute outside of it. */
  wrote: string[]
  /** Files that had only hooks in them; paths as in `wrote`. */
  removed: string[]
  /** The two commands that come next in a terminal. */
  next: string[]
}

/** What a session of a case would plan with. */
export interface CaseSetup {
  provider: string
  /** Whether the hooks of that agent are installed for this workspace. */
  in_terminal: boolean
  /** Null if there is nothing to plan with. */
  plans_from: 'agent' | RunbookSource | null
  /** The tests of the case's working folder, with a step and a runbook.md that run them. */
  tests: (Tests & { step: string; runbook: string }) | null
}

export interface Setup {
  /** Asks each agent, unless it is given what they answered. */
  status(answered?: Agent[]): Promise<SetupStatus>
  change(wanted: SetupChange, options?: ChangeOptions): Promise<Changed>
  /** Whether a provider is an agent whose hooks are installed for this workspace. */
  hasHooks(provider: string): Promise<boolean>
  /** What holds for the hooks of agents that people run themselves. */
  hookLevels(heard: readonly HeardConversation[]): Promise<LeveledReport>
  /** `provider`: another one than that of the case. */
  ofCase(folder: CaseFolder, provider?: string): Promise<CaseSetup>
  /** Asks git, so pages do not call it. */
  proposedIntent(folder: CaseFolder): Promise<ProposedIntent>
}

interface SetupDeps extends Pick<SessionDeps, 'layout' | 'settings' | 'environment'> {
  state: Pick<SessionDeps['state'], 'root'>
  trust: TrustFile
  providers: Pick<Providers, 'statuses'>
}

/** What a new case must prove if its project has tests. */
export const ALL_TESTS_PASS = 'All tests pass (test-log, required)'

/** Asking the agents takes up to 5 s, and pages ask often. */
const AGENTS_MS = 10_000

export function createSetup(deps: SetupDeps): Setup {
  const { layout, settings, environment, state, trust, providers } = deps
  const { root, memoryRoot } = layout
  const places: HookPlaces = { root, stateDir: state.root, environment }
  let known: { at: number; agents: Promise<Agent[]> } | null = null

  function findAgents(): Promise<Agent[]> {
    if (known === null || performance.now() - known.at > AGENTS_MS) {
      const agents = providers.statuses().then(agentsIn)
      agents.catch(() => {
        known = null
      })
      known = { at: performance.now(), agents }
    }
    return known.agents
  }

  async function hasHooks(provider: string): Promise<boolean> {
    if (!HOOK_AGENTS.some(({ id }) => id === provider)) return false
    const { hooks } = await hooksReport(places)
    return hooks.some(({ agent, installed }) => agent === provider && installed !== 'unreadable')
  }

  return {
    hasHooks,
    hookLevels: (heard) => leveledReport(places, heard),
    async status(answered) {
      const [present, agents, { hooks }, memory, stamp, hash, key] = await Promise.all([
        settings(),
        answered ?? findAgents(),
        hooksReport(places),
        memoryStatus(layout),
        stampOf(join(root, SETTINGS_FILE)),
        settingsHash(root),
        findSigningKey(root),
      ])
      const tests = await findTests(root, present)
      return {
        configured: stamp !== null,
        settings_sha256: hash,
        provider: present.provider,
        agents,
        tests: tests && withoutId(tests),
        checklist: present.checklist,
        ...memory,
        sign_approvals: present.signApprovals,
        signing_key: key && keyName(key),
        hooks: hooks.map(({ agent, place, installed, warnings }) => ({
          agent,
          place,
          installed,
          warnings,
        })),
      }
    },

    async change(wanted, { isDry = false, check } = {}) {
      const { provider, in_terminal: inTerminal = false, memory, sign_approvals: signs } = wanted
      const present = await settings()
      if (provider !== undefined) providerOf(provider, present)
      const agent = inTerminal ? hookAgent(provider ?? present.provider) : null
      const unhooked = [...new Set(wanted.remove_hooks)].map(hookAgent)
      if (agent && unhooked.includes(agent)) throw bothWays(agent.id)
      const git = memory && (await planMemory(layout, memory))
      const signer = signs === true ? await signerStep(root) : null
      const edit = await planSettings(root, settingValues(wanted), FIRST_SETTINGS)
      check?.(edit.before === null ? null : sha256(edit.before))
      const hooks = agent && (await agentHooksStep(agent, { ...places, memoryRoot, trust }))
      const removals = await hookRemovalSteps(unhooked, { ...places, trust })
      // casefile.md comes last: once it is there, the workspace counts as set up
      const isOnlyRemoval = Object.keys(wanted).every((key) => key === 'remove_hooks')
      const last = isOnlyRemoval ? null : settingsStep(root, edit, { planned: [], done: [] })
      const steps = [...(git ?? []), signer, hooks, ...removals, last].filter(
        (step) => step !== null,
      )
      await requireWritable(steps)
      if (!isDry) {
        known = null
        await writeSteps(steps, root)
      }
      const files = steps.flatMap((step) => step.files)
      const named = (some: readonly PlannedFile[]) => some.map(({ path }) => shownPath(root, path))
      return {
        wrote: named(files.filter(({ bytes }) => bytes !== null)),
        removed: named(files.filter(({ bytes }) => bytes === null)),
        next: nextCommands({ provider: provider ?? present.provider, inTerminal }),
      }
    },

    async proposedIntent({ case: { workdir, checklist } }) {
      const present = await settings()
      const folder = await unlessError(() => workingFolder(root, workdir, present.folders))
      if (folder === null) return { paths: [], proof: [] }
      const tests = (await findTests(folder, present))?.command ?? null
      return proposeIntent(checklist, { folder, tests, exclude: [memoryRoot, state.root] })
    },

    async ofCase({ case: { id, description, workdir, provider } }, wanted) {
      const present = await settings()
      const name = wanted ?? provider ?? present.provider
      const folder = await unlessError(() => workingFolder(root, workdir, present.folders))
      const tests = folder === null ? null : await findTests(folder, present)
      return {
        provider: name,
        in_terminal: await hasHooks(name),
        plans_from: await plansFrom(),
        tests: tests && {
          ...withoutId(tests),
          step: testsStep(tests),
          runbook: testsRunbook(tests),
        },
      }

      async function plansFrom(): Promise<CaseSetup['plans_from']> {
        // starting a session explains a provider that cannot be used
        const found = await unlessError(() => providerOf(name, present))
        if (found?.id !== OWN_PROVIDER) return 'agent'
        const read = await readMemory(layout, id, { kind: 'notes', filename: RUNBOOK_FILE })
        const runbook = read.ok ? Buffer.from(read.bytes).toString('utf8') : undefined
        const plan = await findRunbook({ runbook, description, steps: present.steps })
        return plan?.source ?? null
      }
    },
  }
}

function bothWays(agent: string): AppError {
  const message = `the hooks of ${agent} cannot be installed and removed at once`
  return new AppError('bad_request', `Leave out in_terminal or remove_hooks: ${message}.`, {
    errors: [{ path: 'remove_hooks', message }],
  })
}

function settingValues({ provider, tests, checklist, sign_approvals }: SetupChange) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(tests === undefined ? {} : { tests }),
    ...(checklist === undefined ? {} : { checklist: [...checklist] }),
    ...(sign_approvals === undefined ? {} : { sign_approvals }),
  }
}

async function settingsHash(root: string): Promise<string | null> {
  const text = await unlessError(() => settingsText(root))
  return text === null ? null : sha256(text)
}

/** Null if it throws an `AppError`. */
async function unlessError<T>(find: () => T | Promise<T>): Promise<T | null> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function withoutId({ command, source, report }: ProjectTests): Tests {
  return { command, source, report }
}
