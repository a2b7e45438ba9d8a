import { relative } from 'node:path'
import { AppError } from '../model/app-error.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { isTrustedFile } from '../workspace/settings/agent-files.ts'
import type { TrustedSettings } from '../workspace/settings/trusted-settings.ts'
import { workingFolder } from '../workspace/workdir.ts'
import { allAgentFiles, mustTrustFiles, standing } from './agent-files.ts'
import { listProviders, providerOf } from './providers.ts'

/** Where a session would run, and what the operator trusts. */
export interface StartPlace {
  root: string
  /** As written in case.md. */
  workdir: string | null
  settings: TrustedSettings
}

/**
 * Why a request that starts the session's provider would fail because something is not trusted; null if it would
 * not. A runbook plan starts no agent, so agent files do not matter for it.
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

/** What the operator must trust before sessions on a case can start. */
export interface StartObjections {
  /** Why no session can start in the working folder; null if one can. */
  folder: string | null
  /** Untrusted files in the working folder. */
  files: UntrustedFile[]
}

export interface UntrustedFile {
  /** Relative to the working folder. */
  path: string
  why: string
  /** The ids of the providers whose agents act on the file. */
  providers: string[]
}

/** Considers only files that one of these installed agents acts on. */
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
