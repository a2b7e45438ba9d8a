import { relative, resolve } from 'node:path'
import { type PlanReading, readPlan } from '../markdown/plan-steps.ts'
import { counted, firstOf } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import type { PlanStep } from '../model/plan-step.ts'
import type { Problem } from '../model/problem.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import { findProgram } from '../runners/process/find-program.ts'
import {
  type AgentFile,
  findAgentFiles,
  isTrustedFile,
  searchTop,
  type TrustedFiles,
} from '../settings/agent-files.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { workingFolder } from '../settings/workdir.ts'
import { mustHaveWorktree } from './isolation-checks.ts'
import { listProviders, type Provider, providerOf } from './providers.ts'

/** Where a session would run, and what the operator trusts. */
interface StartContext {
  root: string
  /** As written in case.md. */
  workdir: string | null
  settings: TrustedSettings
}

/** Who works in a session: a provider that the service starts, or an agent that a person runs in a terminal. */
interface Performer {
  provider: string
  origin?: 'terminal' | 'service' | undefined
  isolation?: string | null | undefined
}

/**
 * Why a request that starts the session's provider would fail because something is not trusted; null if it would
 * not. A runbook plan starts no agent, so agent files do not matter for it. The service does not start an agent in a
 * terminal at all.
 */
export async function startObjection(
  performer: Performer,
  { root, workdir, settings }: StartContext,
  { isRunbook }: { isRunbook: boolean },
): Promise<string | null> {
  if (performer.origin === 'terminal') return null
  return objectionOf(async () => {
    const provider = providerOf(performer.provider, settings)
    const folder = await workingFolder(root, workdir, settings.folders)
    if (!isRunbook) await mustTrustFiles(provider, { root, folder }, settings.files)
    if (performer.isolation === 'worktree')
      await mustHaveWorktree(folder, resolve(root, settings.memoryRoot ?? 'memory'))
  })
}

/** What the operator must trust before sessions on a case can start. */
export interface StartObjections {
  /** Why no session can start in the working folder; null if one can. */
  folder: string | null
  /** Untrusted files in the working folder. */
  files: UntrustedFile[]
}

interface UntrustedFile {
  /** Relative to the working folder. */
  path: string
  why: string
  /** The ids of the providers whose agents act on the file. */
  providers: string[]
}

/** Considers only files that one of these installed agents acts on. */
export async function startObjections(
  { root, workdir, settings }: StartContext,
  installed: readonly AgentSpec[],
): Promise<StartObjections> {
  let folder = ''
  const objection = await objectionOf(async () => {
    folder = await workingFolder(root, workdir, settings.folders)
  })
  if (objection !== null) return { folder: objection, files: [] }
  const specs = listProviders(settings).flatMap(({ id, spec }) =>
    spec && installed.includes(spec) ? { ...spec, id } : [],
  )
  const files = await allAgentFiles({ root, folder }, specs)
  const untrusted = files.filter((file) => !isTrustedFile(file, settings.files))
  return {
    folder: null,
    files: untrusted.map((file) => ({
      path: relative(folder, file.path),
      why: standing(file, settings.files),
      providers: file.agents,
    })),
  }
}

/** The message of the `AppError` that `check` rejects with; null if it does not. */
export async function objectionOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/** What will happen once a plan is approved; shown in the console and the terminal. */
export interface ExecutionSummary {
  /** A text for the reader of the plan. */
  text: string
  /** Whether the service itself runs this step. */
  willRun(step: PlanStep): boolean
  /** Why approving would fail whatever the plan says; null if it would not. */
  objection: string | null
}

export function executionSummary(
  performer: Performer,
  reading: PlanReading,
  settings: TrustedSettings,
): ExecutionSummary {
  const summary = summaryOf(performer, reading, settings)
  if (performer.isolation !== 'worktree' || summary.text === '') return summary
  return { ...summary, text: `${summary.text} ${IN_WORKTREE}` }
}

const IN_WORKTREE =
  'The work happens in a separate git worktree, on a new branch from the last commit. What is not committed in the working folder is not there. The working folder stays as it is until you apply the result.'

function summaryOf(
  { provider, origin }: Performer,
  { steps, isRunbook }: PlanReading,
  settings: TrustedSettings,
): ExecutionSummary {
  const proving = steps.filter(({ proof }) => proof !== null)
  const first = firstText(steps)
  if (origin === 'terminal') return summaryInTerminal(proving, first)
  const found = known(provider, settings)
  if (found instanceof AppError) {
    return { text: '', willRun: () => true, objection: found.message }
  }
  const { isAgent, executesAny } = found.runner.capabilities
  if (!isAgent || isRunbook) {
    const text =
      steps.length === 0
        ? 'This plan has no steps to run. Approving it completes the session without running anything.'
        : `Casefile runs ${steps.length === 1 ? 'this one step' : `these ${steps.length} steps in order`}; no agent is involved.${first}`
    return { text, willRun: () => true, objection: null }
  }
  if (!executesAny) {
    const objection = `The provider ${provider} only plans, so its plan must be a runbook: run fences and prose, with no list and no other fence at top level. Edit the plan, or request a new one.`
    return { text: '', willRun: () => true, objection }
  }
  const after =
    proving.length === 0
      ? 'Casefile itself runs nothing.'
      : `Casefile then runs ${checksText(proving)}.`
  return {
    text: `${provider} will carry out this plan. ${after}${first}`,
    willRun: ({ proof }) => proof !== null,
    objection: null,
  }
}

/** What runs before the work, as a sentence after a space; empty if nothing does. */
function firstText(steps: readonly PlanStep[]): string {
  const first = steps.filter(({ baseline }) => baseline).map(({ id }) => id)
  if (first.length === 0) return ''
  const many = first.length === 1 ? 'it fails' : 'they fail'
  return ` Before that, Casefile runs ${first.join(', ')} once to see which tests fail already; if ${many}, the run goes on.`
}

function summaryInTerminal(proving: readonly PlanStep[], first: string): ExecutionSummary {
  const after =
    proving.length === 0
      ? 'No step proves it, so Casefile runs nothing, and the session is complete once it stops.'
      : `Each time it stops, Casefile runs ${checksText(proving)}.`
  return {
    text: `The agent will carry out this plan in its terminal. ${after}${first}`,
    willRun: ({ proof }) => proof !== null,
    objection: null,
  }
}

function checksText(proving: readonly PlanStep[]): string {
  return `${counted(proving.length, 'check')}: ${proving.map(({ id }) => id).join(', ')}`
}

function known(provider: string, settings: TrustedSettings) {
  try {
    return providerOf(provider, settings)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Throws `invalid_plan` if any step of the plan cannot be parsed. */
export async function mustBeRunnable(plan: string): Promise<void> {
  if (plan.trim() === '') {
    throw new AppError(
      'invalid_plan',
      'The plan is blank, so there is nothing to approve. Write one (also below "## Plan" in the session file), or request a new one.',
      { errors: [{ path: 'plan', message: 'expected a text, not only white space' }] },
    )
  }
  const { errors } = await readPlan(plan)
  if (errors.length === 0) return
  throw new AppError(
    'invalid_plan',
    `The plan cannot be run: line ${errors[0]!.line}: ${errors[0]!.message}. Edit the plan, then try again.`,
    { errors: errors.map(({ line, message }) => ({ path: `plan line ${line}`, message })) },
  )
}

/**
 * Throws `invalid_plan` if the provider can only plan and the plan is not a runbook, so nothing could carry it out.
 */
export async function mustBeExecutable(plan: string, { id, runner }: Provider): Promise<void> {
  if (runner.capabilities.executesAny || (await readPlan(plan)).isRunbook) return
  throw new AppError(
    'invalid_plan',
    `The provider "${id}" has no command for work, so its plan must be a runbook: run fences and prose, with no list and no other fence at top level. Edit the plan, or request a new one.`,
  )
}

interface SearchedFolder {
  /** The real path of the workspace. */
  root: string
  /** The real path of a working folder. */
  folder: string
}

/** Files in a working folder that agents act on by themselves, each with the agents that read it. */
export type ReadFile = AgentFile & { agents: string[] }

/** Every file in the folder that some known agent would act on. */
export async function allAgentFiles(
  place: SearchedFolder,
  specs: readonly AgentSpec[] = KNOWN_AGENTS,
): Promise<ReadFile[]> {
  const found = new Map<string, ReadFile>()
  const top = await searchTop(place.root, place.folder)
  for (const { id, projectFiles } of specs) {
    for (const file of await findAgentFiles(place.folder, top, projectFiles)) {
      const known = found.get(file.path)
      if (known) known.agents.push(id)
      else found.set(file.path, { ...file, agents: [id] })
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Throws `untrusted_agent_files` if the provider's agent would act on files that the operator does not trust. */
export async function mustTrustFiles(
  { id, spec }: Pick<Provider, 'id' | 'spec'>,
  place: SearchedFolder,
  trusted: TrustedFiles,
): Promise<void> {
  const why = spec && (await whyUntrusted(spec, place, trusted))
  if (!why) return
  throw new AppError('untrusted_agent_files', notStarted(id, why))
}

export function notStarted(provider: string, why: string): string {
  return `The provider ${provider} cannot be started here: ${why}. Review and trust them with: casefile doctor --trust. Or remove them, or choose another provider.`
}

/** A clause that names the untrusted files the agent would act on; null if there are none. */
export async function whyUntrusted(
  { projectFiles }: AgentSpec,
  place: SearchedFolder,
  trusted: TrustedFiles,
): Promise<string | null> {
  const files = await filesFor(place, projectFiles)
  return clauseAbout(files, place.folder, trusted)
}

/** Workspace problems: files that keep installed agents from being started in the workspace's folder. */
export async function agentFileProblems(
  root: string,
  specs: readonly AgentSpec[],
  trusted: TrustedFiles,
): Promise<Problem[]> {
  const files = await allAgentFiles({ root, folder: root }, specs)
  return files
    .filter((file) => !isTrustedFile(file, trusted))
    .map((file) => ({
      code: 'untrusted_agent_files',
      file: relative(root, file.path),
      line: null,
      message: `${standing(file, trusted)}, so sessions cannot use ${file.agents.join(', ')}. Review it, then trust it with casefile doctor --trust`,
    }))
}

/** The known agents that read such files and are on the PATH. */
export async function findInstalledAgents(
  environment: NodeJS.ProcessEnv,
  cwd: string,
): Promise<AgentSpec[]> {
  const readers = KNOWN_AGENTS.filter(({ projectFiles }) => projectFiles.length > 0)
  const where = { path: environment.PATH, cwd }
  const found = await Promise.all(readers.map(({ program }) => findProgram(program, where)))
  return readers.filter((_, at) => found[at] !== null)
}

async function filesFor({ root, folder }: SearchedFolder, names: readonly string[]) {
  if (names.length === 0) return []
  return findAgentFiles(folder, await searchTop(root, folder), names)
}

const SHOWN = 10

/** A clause that names those of the files that are not trusted; null if all are. */
export function clauseAbout(
  files: readonly AgentFile[],
  folder: string,
  trusted: TrustedFiles,
): string | null {
  const untrusted = files.filter((file) => !isTrustedFile(file, trusted))
  if (untrusted.length === 0) return null
  const names = untrusted.map(
    (file) => `${relative(folder, file.path)} (${standing(file, trusted)})`,
  )
  return `its agent acts on files of the project that are not trusted: ${firstOf(names, SHOWN)}`
}

function standing({ path, content, why }: AgentFile, trusted: TrustedFiles): string {
  if (content === null) return `cannot be trusted: ${why}`
  return trusted.has(path) ? 'changed since it was trusted' : 'not trusted'
}
