/** How a workspace is set up: reads it, and changes it for the API. `casefile init` does the same on a terminal. */

import { join } from 'node:path'
import { type Agent, agentsIn } from '../doctor/agents.ts'
import { stampOf } from '../files/safe-read.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { RUNBOOK_FILE } from '../model/memory-name.ts'
import { OWN_PROVIDER, SETTINGS_FILE } from '../model/settings.ts'
import { HOOK_AGENTS } from '../runners/agents/install/hook-agents.ts'
import {
  type HeardConversation,
  type LeveledReport,
  leveledReport,
} from '../runners/agents/install/levels.ts'
import type { HookFolders } from '../runners/agents/install/service-hooks.ts'
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
import { editableSettings, settingsText } from '../settings/change-settings.ts'
import type { TrustFile } from '../settings/trust-file.ts'
import { workingFolder } from '../settings/workdir.ts'
import { readMemory } from '../workspace/memory-files.ts'
import { nextCommands } from './next-commands.ts'
import { planSetup, type SetupChange } from './plan-setup.ts'
import { type ProposedIntent, proposeIntent } from './proposed-intent.ts'
import { shownFiles, writeSteps } from './steps.ts'

type Tests = Pick<ProjectTests, 'command' | 'source' | 'report'>

export interface SetupStatus {
  /** Whether casefile.md exists. */
  configured: boolean
  /** The hash of casefile.md; null if there is none that can be read. */
  settings_sha256: string | null
  provider: string
  agents: Agent[]
  tests: Tests | null
  checklist: readonly string[]
  hooks: Pick<HookStatus, 'agent' | 'place' | 'installed' | 'warnings'>[]
}

export interface ChangeOptions {
  /** Only says what would be written. */
  isDry?: boolean
  /** Gets the hash of casefile.md before anything is planned; throws if it is not the one that was read. */
  check?(settingsSha256: string | null): void
}

export interface Changed {
  /** Relative to the workspace, or absolute outside of it. */
  wrote: string[]
  /** The two commands that come next in a terminal. */
  next: string[]
  /** The present hash of casefile.md; null if there is none that can be read. */
  settings_sha256: string | null
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
  /** What was found on this machine the last time; null before. Pages never wait for the agents. */
  lastAgents(): Agent[] | null
  /** Asks each agent, which may take 5 s, unless that was done a moment ago. */
  findAgents(options?: { again: boolean }): Promise<Agent[]>
  /** What the files say now; `agents` as they were found. */
  status(agents: Agent[]): Promise<SetupStatus>
  change(wanted: SetupChange, options?: ChangeOptions): Promise<Changed>
  /** Whether a provider is an agent whose hooks are installed for this workspace. */
  hasHooks(provider: string): Promise<boolean>
  /** What holds for the hooks of agents that people run themselves. */
  hookLevels(heard: readonly HeardConversation[]): Promise<LeveledReport>
  /** `provider`: another one than that of the case. */
  ofCase(contents: CaseContents, provider?: string): Promise<CaseSetup>
  /** Asks git, so pages do not call it. */
  proposedIntent(contents: CaseContents): Promise<ProposedIntent>
}

interface SetupDeps extends Pick<SessionDeps, 'layout' | 'settings' | 'environment'> {
  state: Pick<SessionDeps['state'], 'root'>
  trust: TrustFile
  providers: Pick<Providers, 'statuses'>
}

/** Each question starts the programs of all agents. */
const AGENTS_MS = 10_000

export function createSetup(deps: SetupDeps): Setup {
  const { layout, settings, environment, state, trust, providers } = deps
  const { root, memoryRoot } = layout
  const places: HookFolders = { root, stateDir: state.root, environment }
  let last: Agent[] | null = null
  let asked: { at: number; agents: Promise<Agent[]> } | null = null

  async function ask(): Promise<Agent[]> {
    try {
      last = agentsIn(await providers.statuses())
      return last
    } catch (error) {
      asked = null
      throw error
    }
  }

  async function hasHooks(provider: string): Promise<boolean> {
    if (!HOOK_AGENTS.some(({ id }) => id === provider)) return false
    const { hooks } = await hooksReport(places)
    return hooks.some(({ agent, installed }) => agent === provider && installed !== 'unreadable')
  }

  return {
    hasHooks,
    hookLevels: (heard) => leveledReport(places, heard),
    lastAgents: () => last,
    findAgents({ again = false } = { again: false }) {
      if (again || asked === null || performance.now() - asked.at > AGENTS_MS)
        asked = { at: performance.now(), agents: ask() }
      return asked.agents
    },
    async status(agents) {
      const [present, { hooks }, stamp, hash] = await Promise.all([
        settings(),
        hooksReport(places),
        stampOf(join(root, SETTINGS_FILE)),
        settingsHash(root),
      ])
      const tests = await findTests(root, present)
      return {
        configured: stamp !== null,
        settings_sha256: hash,
        provider: present.provider,
        agents,
        tests: tests && withoutId(tests),
        checklist: present.checklist,
        hooks: hooks.map(({ agent, place, installed, warnings }) => ({
          agent,
          place,
          installed,
          warnings,
        })),
      }
    },

    async change(wanted, { isDry = false, check } = {}) {
      const present = await settings()
      const before = await editableSettings(root)
      check?.(before === null ? null : sha256(before))
      const steps = await planSetup(wanted, {
        ...places,
        memoryRoot,
        trust,
        settings: present,
        before,
      })
      if (!isDry) {
        asked = null
        await writeSteps(steps, root)
      }
      const { provider = present.provider, in_terminal: inTerminal = false } = wanted
      return {
        wrote: shownFiles(steps, root),
        next: nextCommands({ provider, inTerminal }),
        settings_sha256: await settingsHash(root),
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
