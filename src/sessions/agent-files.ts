import { join, relative } from 'node:path'
import { AppError } from '../model/app-error.ts'
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
} from '../workspace/settings/agent-files.ts'
import type { Provider } from './providers.ts'

export interface FilesPlace {
  /** The real path of the workspace. */
  root: string
  /** The real path of a working folder. */
  folder: string
}

/** Files in a working folder that agents act on by themselves, each with the agents that read it. */
export type ReadFile = AgentFile & { agents: string[] }

/** Every file in the folder that some known agent would act on. */
export async function allAgentFiles(
  place: FilesPlace,
  specs: readonly AgentSpec[] = KNOWN_AGENTS,
): Promise<ReadFile[]> {
  const found = new Map<string, ReadFile>()
  const top = await searchTop(place.root, place.folder)
  // the command and the ACP variant of an agent share a list
  for (const names of new Set(specs.map(({ projectFiles }) => projectFiles))) {
    const agents = specs.filter(({ projectFiles }) => projectFiles === names).map(({ id }) => id)
    for (const file of await findAgentFiles(place.folder, top, names)) {
      const known = found.get(file.path)
      if (known) known.agents.push(...agents)
      else found.set(file.path, { ...file, agents: [...agents] })
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Throws `untrusted_agent_files` if the provider's agent would act on files that the operator does not trust. */
export async function mustTrustFiles(
  { id, spec }: Pick<Provider, 'id' | 'spec'>,
  place: FilesPlace,
  trusted: TrustedFiles,
): Promise<void> {
  const why = spec && (await whyUntrusted(spec, place, trusted))
  if (!why) return
  throw new AppError('untrusted_agent_files', notStarted(id, why))
}

export function notStarted(provider: string, why: string): string {
  return `The provider ${provider} cannot be started here: ${why}. Review and trust them with: casefile trust. Or remove them, or choose another provider.`
}

/** A clause that names the untrusted files the agent would act on; null if there are none. */
export async function whyUntrusted(
  { projectFiles }: AgentSpec,
  place: FilesPlace,
  trusted: TrustedFiles,
): Promise<string | null> {
  const files = await filesFor(place, projectFiles)
  return clauseAbout(files, place.folder, trusted)
}

/**
 * Like `whyUntrusted`, for a copy of the working folder. A file in the copy is trusted by its path in the original.
 */
export async function whyUntrustedCopy(
  { projectFiles }: AgentSpec,
  copy: string,
  { folder }: FilesPlace,
  trusted: TrustedFiles,
): Promise<string | null> {
  const inCopy = await findAgentFiles(copy, copy, projectFiles)
  const files = inCopy.map((file) => ({ ...file, path: join(folder, relative(copy, file.path)) }))
  return clauseAbout(files, folder, trusted)
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
      message: `${standing(file, trusted)}, so sessions cannot use ${file.agents.join(', ')}. Review it, then trust it with casefile trust`,
    }))
}

/** The known agents that read such files and are on the PATH. */
export async function installedReaders(
  environment: NodeJS.ProcessEnv,
  cwd: string,
): Promise<AgentSpec[]> {
  const readers = KNOWN_AGENTS.filter(({ projectFiles }) => projectFiles.length > 0)
  const where = { path: environment.PATH, cwd }
  const found = await Promise.all(readers.map(({ program }) => findProgram(program, where)))
  return readers.filter((_, at) => found[at] !== null)
}

async function filesFor({ root, folder }: FilesPlace, names: readonly string[]) {
  if (names.length === 0) return []
  return findAgentFiles(folder, await searchTop(root, folder), names)
}

const SHOWN = 10

function clauseAbout(
  files: readonly AgentFile[],
  folder: string,
  trusted: TrustedFiles,
): string | null {
  const untrusted = files.filter((file) => !isTrustedFile(file, trusted))
  if (untrusted.length === 0) return null
  const names = untrusted
    .slice(0, SHOWN)
    .map((file) => `${relative(folder, file.path)} (${standing(file, trusted)})`)
  const more = untrusted.length > SHOWN ? ` and ${untrusted.length - SHOWN} more` : ''
  return `its agent acts on files of the project that are not trusted: ${names.join(', ')}${more}`
}

export function standing({ path, content, why }: AgentFile, trusted: TrustedFiles): string {
  if (content === null) return `cannot be trusted: ${why}`
  return trusted.has(path) ? 'changed since it was trusted' : 'not trusted'
}
