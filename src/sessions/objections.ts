import { relative } from 'node:path'
import { AppError } from '../model/app-error.ts'
import type { AgentSpec } from '../runners/agents/agent-spec.ts'
import { isTrustedFile } from '../workspace/settings/agent-files.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { workingFolder } from '../workspace/workdir.ts'
import { allAgentFiles, mustTrustFiles, standing } from './agent-files.ts'
import { listProviders, providerOf } from './providers.ts'

/** Where a session would work, and what the operator trusts. */
export interface StartPlace {
  root: string
  /** As the case names it. */
  workdir: string | null
  settings: TrustedSettings
}

/**
 * Why a request that starts a session's provider would be refused because something is not trusted; null if it
 * would not. A plan that is a runbook starts no agent, so the files that its agent acts on do not matter.
 */
export function startObjection(
  name: string,
  { root, workdir, settings }: StartPlace,
  { isRunbook }: { isRunbook: boolean },
): Promise<string | null> {
  return objectionOf(async () => {
    const provider = providerOf(name, settings)
    const folder = await workingFolder(root, workdir, settings.folders)
    if (!isRunbook) await mustTrustFiles(provider, { root, folder }, settings.files)
  })
}

/** What keeps new sessions on a case from starting before the operator trusts it. */
export interface StartObjections {
  /** Why none can start in its working folder; null if they can. */
  folder: string | null
  /** Files of the working folder that are not trusted. */
  files: UntrustedFile[]
}

export interface UntrustedFile {
  /** From the working folder. */
  path: string
  why: string
  /** The ids of the providers whose agents act on it. */
  providers: string[]
}

/** Only files that one of these installed agents acts on count. */
export async function startObjections(
  { root, workdir, settings }: StartPlace,
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

async function objectionOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}
