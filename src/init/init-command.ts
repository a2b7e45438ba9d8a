import { join, relative } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import type { MemoryKind } from '../git/memory-kind.ts'
import { findRepository } from '../git/repository.ts'
import { OWN_PROVIDER, SETTINGS_FILE } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import { providerOf } from '../sessions/providers.ts'
import { editableSettings, type SettingValues, settingsWith } from '../settings/change-settings.ts'
import { findPlaces } from '../settings/places.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { makeMemoryRoot, missingInMemoryRoot } from '../workspace/case-making.ts'
import { layoutOf } from '../workspace/layout.ts'
import { DEFAULT_KIND, type InitDeps, type InitOptions, type SetupChoice } from './deps.ts'
import { FIRST_SETTINGS } from './first-settings.ts'
import { type MemoryPlace, memorySteps, presentKind } from './git-memory.ts'
import { hookAgent } from './hook-agent.ts'
import { planGitHooks } from './hook-offer.ts'
import { ALL_TESTS_PASS } from './setup.ts'
import { agentHooksStep, settingsStep, signerStep } from './setup-steps.ts'
import { requireWritable, type Step, writeSteps } from './steps.ts'

export interface InitPlan {
  /** What it would write; empty if all is set up. */
  lines: string[]
  /** What it leaves alone, and why. */
  notes: string[]
  /** Returns what it wrote. If it fails, the error says which files were written. */
  write(): Promise<string[]>
}

/**
 * `casefile init`: turns a folder into a workspace. Existing files stay; a second run changes nothing. Throws, before
 * anything is written, if one of its steps cannot be carried out. casefile.md is written last, so that a run that
 * failed leaves a folder in which the next one asks the same questions.
 */
export async function planInit(options: InitOptions, deps: InitDeps): Promise<InitPlan> {
  const { inTerminal = false, sign = false } = options
  const { environment, warn } = deps
  const places = await findPlaces({ root: options.root }, environment, warn)
  const { root, memoryRoot } = places
  const settings = await settingsPart(root, await places.settings(), options)
  const present = await places.settings()
  const provider = options.agent === 'none' ? OWN_PROVIDER : (options.agent ?? present.provider)
  if (options.agent !== undefined) providerOf(provider, present)
  const agent = inTerminal ? hookAgent(provider) : null
  const agentHooks = agent && (await agentHooksStep(agent, { ...places, environment }))
  const signer = sign ? await signerStep(root) : null
  const git = await gitPart(root, memoryRoot, options, deps)
  const planned = new Set(git.memory.flatMap(({ files }) => files.map(({ path }) => path)))
  const memory = memoryRootStep(root, memoryRoot, planned)
  const steps = [...git.memory, memory, ...git.hooks, signer, agentHooks, settings].filter(
    (step) => step !== null,
  )
  await requireWritable(steps)
  const shown = (lines: string[]) => lines.map(visibleText)
  return {
    lines: shown(steps.flatMap(({ planned }) => planned)),
    notes: shown(git.notes),
    write: async () => shown(await writeSteps(steps, root)),
  }
}

/** The step that writes casefile.md with the settings that change; null if none does. */
async function settingsPart(
  root: string,
  present: TrustedSettings,
  choice: SetupChoice,
): Promise<Step | null> {
  const before = await editableSettings(root)
  const base = before ?? FIRST_SETTINGS
  const values: SettingValues = Object.fromEntries(
    Object.entries(wantedValues(present, choice)).filter(
      ([key, value]) => settingsWith(base, { [key]: value }, FIRST_SETTINGS) !== base,
    ),
  )
  const lines = (remove: string) =>
    Object.entries(values).map(([key, value]) => {
      if (value === null) return `${remove} ${key} from ${SETTINGS_FILE}`
      const text = key === 'checklist' ? `${ALL_TESTS_PASS}, for new cases` : String(value)
      return `Set in ${SETTINGS_FILE}: ${key}: ${text}`
    })
  const after = settingsWith(base, values, FIRST_SETTINGS)
  return settingsStep(root, { before, after }, { planned: lines('Remove'), done: lines('Removed') })
}

function wantedValues(
  { checklist, signApprovals }: TrustedSettings,
  { agent, tests, sign }: SetupChoice,
): SettingValues {
  const proves = tests !== undefined && tests !== 'none' && checklist.length === 0
  return {
    ...(agent === undefined ? {} : { provider: agent === 'none' ? OWN_PROVIDER : agent }),
    ...(tests === undefined ? {} : { tests: tests === 'none' ? null : tests }),
    ...(proves ? { checklist: [ALL_TESTS_PASS] } : {}),
    ...(sign === undefined || sign === signApprovals ? {} : { sign_approvals: sign }),
  }
}

/** How git stores the cases, and its hooks. */
async function gitPart(
  root: string,
  memoryRoot: string,
  options: InitOptions,
  deps: InitDeps,
): Promise<{ memory: Step[]; hooks: Step[]; notes: string[] }> {
  const skipped = (why: string) => ({
    memory: [],
    hooks: [],
    notes: [`Skipped the git setup: ${why}`],
  })
  const code = await findRepository(root, {})
  if ('reason' in code) {
    return skipped(`${code.reason}. Run this again once there is a repository`)
  }
  if (!isWithin(code.top, memoryRoot)) {
    const name = relative(root, memoryRoot)
    return skipped(`${name} is outside of the repository ${code.top}`)
  }
  const place = { root, memoryRoot, code }
  const present = await presentKind(place)
  const { kind, notes } = await chooseKind(place, present, options, deps)
  const memory = await memorySteps(place, kind)
  const isNew = kind !== 'with-code' && present !== kind
  const hooks = await planGitHooks({ ...place, kind, isNew }, options, deps)
  return { memory, hooks: hooks.steps, notes: [...notes, ...hooks.notes] }
}

async function chooseKind(
  { memoryRoot }: MemoryPlace,
  present: MemoryKind | null,
  { memory, yes }: InitOptions,
  { operator }: InitDeps,
): Promise<{ kind: MemoryKind; notes: string[] }> {
  const known = memory ?? present
  if (known) return { kind: known, notes: [] }
  if (operator && !yes) return { kind: await operator.chooseKind(), notes: [] }
  const isStart = !(await isFolder(memoryRoot))
  const note = `Git stores the cases ${DEFAULT_KIND} (to change that, use --memory)`
  return { kind: DEFAULT_KIND, notes: isStart ? [note] : [] }
}

/** Makes the folders and files of the memory root that the steps before do not; null if they are there. */
function memoryRootStep(
  root: string,
  memoryRoot: string,
  planned: ReadonlySet<string>,
): Step | null {
  const layout = layoutOf(root, memoryRoot)
  const missing = missingInMemoryRoot(layout).filter((path) => !planned.has(path))
  if (missing.length === 0) return null
  const name = relative(root, memoryRoot) || '.'
  const isShown = !planned.has(join(memoryRoot, '.git'))
  return {
    planned: isShown ? [`Create ${name}/ for the cases`] : [],
    files: missing.map((path) => ({ path })),
    async write() {
      await makeMemoryRoot(layout)
      return isShown ? [`Created ${name}/ for the cases`] : []
    },
  }
}
