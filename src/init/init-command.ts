import type { MemoryKind } from '../git/memory-kind.ts'
import { OWN_PROVIDER } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import { editableSettings } from '../settings/change-settings.ts'
import { findWorkspaceFolders } from '../settings/workspace-folders.ts'
import { planSetup, type SetupChange } from './plan-setup.ts'
import { shownFiles, writeSteps } from './steps.ts'

/** What is not given stays as it is. */
export interface SetupChoice {
  /** The id of an agent, or none. */
  agent?: string | undefined
  inTerminal?: boolean | undefined
  /** A command, or none. */
  tests?: string | undefined
}

export interface InitOptions extends SetupChoice {
  root: string
  /** How git should store the cases. */
  memory?: MemoryKind
  sign?: boolean | undefined
  /** Whether to install the git hooks. */
  hook?: boolean
  /** Use the defaults instead of asking, and install the git hooks. */
  yes?: boolean
}

export interface InitDeps {
  program: string
  environment: NodeJS.ProcessEnv
  /** For what goes on nevertheless. */
  warn(line: string): void
}

export interface InitPlan {
  /** What it would write; empty if all is set up. */
  lines: string[]
  /** What it leaves alone, and why. */
  notes: string[]
  /** The files it would write. */
  wrote: string[]
  /** Returns what it wrote. If it fails, the error says which files were written. */
  write(): Promise<string[]>
}

/** `casefile init`: turns a folder into a workspace. Existing files stay; a second run changes nothing. */
export async function planInit(options: InitOptions, deps: InitDeps): Promise<InitPlan> {
  const { environment, warn } = deps
  const places = await findWorkspaceFolders({ root: options.root }, environment, warn)
  const { root } = places
  const before = await editableSettings(root)
  const settings = await places.settings()
  const steps = await planSetup(changeOf(options, deps), {
    ...places,
    environment,
    settings,
    before,
  })
  const shown = (lines: string[]) => lines.map(visibleText)
  return {
    lines: shown(steps.flatMap(({ planned }) => planned)),
    notes: shown(steps.flatMap(({ notes = [] }) => notes)),
    wrote: shownFiles(steps, root),
    write: async () => shown(await writeSteps(steps, root)),
  }
}

function changeOf(
  { agent, inTerminal, tests, sign, memory, hook, yes }: InitOptions,
  { program }: InitDeps,
): SetupChange {
  return {
    provider: agent === 'none' ? OWN_PROVIDER : agent,
    in_terminal: inTerminal,
    tests: tests === 'none' ? null : tests,
    sign_approvals: sign,
    git: { memory, hooks: hook ?? (yes ? true : null), program },
  }
}
