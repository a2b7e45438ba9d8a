/** Where an agent plans, and what it changed there although it should only have planned. */

import { dirname, join } from 'node:path'
import { plainText } from '../files/plain-text.ts'
import { readFolder } from '../git/folder-contents.ts'
import { findRepository } from '../git/repository.ts'
import { AppError } from '../model/app-error.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { openOverlayView } from '../runners/enclosure/overlay-view.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import type { RunFolder } from '../runners/output/run-folder.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { overlayChanges } from '../snapshots/overlay-changes.ts'
import type { SessionDeps } from './deps.ts'
import { runSandbox, sandboxLine } from './walls.ts'

export interface PlanningSandbox {
  sandbox: Sandbox
  /** The audit trail's line that says which walls the agent has. */
  line: NewTrailLine
  /**
   * Returns what changed in the working folder, by paths from there: sorted, long ones cut; at most 100, then an entry
   * with the number of others. Call it when all processes of the run have ended.
   */
  changes(): Promise<string[]>
  close(): Promise<void>
}

interface PlanningScene {
  workdir: string
  run: RunFolder
  settings: Pick<TrustedSettings, 'hide' | 'cache' | 'sandbox'>
  agent: AgentSpec | null
  signal: AbortSignal
}

/**
 * The agent sees the working folder itself. With mounts, what it changes there gets into a folder of the run, which is
 * removed with it; where that cannot be made, the working folder is read-only. Without mounts, it is compared by git
 * before and after.
 */
export async function openPlanningSandbox(
  deps: SessionDeps,
  { workdir, run, settings, agent, signal }: PlanningScene,
): Promise<PlanningSandbox> {
  const layer = await makeLayer(run, workdir)
  const scene = { workdir, run, settings, agent, signal, isolated: null, planning: { layer } }
  const walls = await runSandbox(deps, scene)
  const { sandbox } = walls
  if (sandbox.kind === 'none') {
    const compared = await compareFolder(deps, workdir, signal)
    return {
      sandbox,
      line: sandboxLine('plan', walls, compared.why),
      changes: () => compared.changes().then(listed, failed),
      async close() {
        await sandbox.end()
        await compared.close()
      },
    }
  }
  return {
    sandbox,
    line: sandboxLine('plan', walls),
    async changes() {
      if (sandbox.overlay === null || layer === null) return []
      const place = { at: workdir, layer }
      const { close, ...opened } = await openOverlayView(sandbox, place).catch(failed)
      try {
        await sandbox.end()
        const changed = await overlayChanges({ ...opened, lower: workdir, signal })
        return listed(changed.filter((name) => !agent?.leaves?.includes(name)))
      } catch (error) {
        return failed(error)
      } finally {
        await close()
      }
    },
    close: () => sandbox.end(),
  }
}

/** The folder for the changes of an overlay; null where none can be: over the root of the file system. */
export async function makeLayer(run: RunFolder, workdir: string): Promise<string | null> {
  if (workdir === dirname(workdir)) return null
  for (const name of ['layer', 'layer/upper', 'layer/work']) await run.inner(name)
  return join(run.path, 'layer')
}

interface Comparison {
  /** Why nothing is compared; else null. */
  why: string | null
  changes(): Promise<string[]>
  close(): Promise<void>
}

async function compareFolder(
  { layout, state }: Pick<SessionDeps, 'layout' | 'state'>,
  workdir: string,
  signal: AbortSignal,
): Promise<Comparison> {
  const exclude = [layout.memoryRoot, state.root]
  const repository = await findRepository(workdir, { signal })
  const contents =
    'reason' in repository
      ? repository
      : await readFolder(repository, { scratch: state.scratch, exclude, signal }).catch(failed)
  if ('reason' in contents) {
    const why = `nor can it be compared: ${contents.reason}`
    return { why, changes: async () => [], close: async () => {} }
  }
  return {
    why: null,
    async changes() {
      const { files } = (await contents.changes()).diff
      return files.flatMap(({ file, from }) => (from === undefined ? [file] : [from, file]))
    },
    close: () => contents.close(),
  }
}

/** What it could not read is no reason for trust. */
function failed(error: unknown): never {
  if (!(error instanceof Error && error.name === 'Error')) throw error
  const why = plainText(error.message).slice(0, 1000).toWellFormed().trim().replace(/\.$/, '')
  const message = `What changed in the working folder is unknown: ${why}. Fix that, then plan again.`
  throw new AppError('storage_failed', message, { cause: error })
}

const MOST_NAMES = 100
const MOST_CHARACTERS = 200

function listed(names: readonly string[]): string[] {
  const sorted = [...new Set(names.map(cut))].sort()
  const more = sorted.length - MOST_NAMES
  return more > 0 ? [...sorted.slice(0, MOST_NAMES), `… and ${more} more`] : sorted
}

function cut(name: string): string {
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS).toWellFormed()}…` : name
}
