/** Which folders of a sandbox exist, and what they are, as its mounts are planned. */

import { dirname, join, relative } from 'node:path'
import { isPassable, isWritable } from '../../files/access.ts'
import { isFolder } from '../../files/folder-names.ts'
import { existingPaths, isWithin } from '../../files/real-path.ts'
import { type MountPoint, mountPoints } from '../../platform/mounts.ts'
import {
  type MountPlan,
  planMounts,
  type SandboxFolders,
  type SandboxView,
} from '../process/sandbox-plan.ts'

export interface FoundFolders extends Required<SandboxFolders> {
  /** Hidden paths that are no folders. */
  files: string[]
  /** Open paths that can be written to. */
  writable: ReadonlySet<string>
  /** The mounts of this process. */
  mounts: MountPoint[]
  unreachable: ReadonlySet<string>
}

/** Paths that do not exist are left out. */
export async function findFolders({
  readOnly,
  hidden,
  open,
  views = [],
  overlay = null,
}: SandboxFolders): Promise<FoundFolders> {
  const [closed, covered, opened] = await Promise.all(
    [readOnly, hidden, open].map((paths) => standing(paths, views)),
  )
  const folders = await Promise.all(covered!.map(isFolder))
  const writable = await Promise.all(opened!.map(isWritable))
  const mounts = mountPoints() ?? []
  return {
    readOnly: closed!,
    hidden: covered!,
    open: opened!,
    views,
    overlay,
    files: covered!.filter((_, index) => !folders[index]),
    writable: new Set(opened!.filter((_, index) => writable[index])),
    mounts,
    unreachable: await unreachableOf(mounts),
  }
}

export function planFound(found: FoundFolders, ownProcesses: boolean): MountPlan {
  return planMounts(found, {
    mounts: found.mounts,
    files: found.files,
    isChecked: (path) => found.writable.has(path),
    isReachable: (path) => !found.unreachable.has(path),
    ownProcesses,
  })
}

/** The real paths of existing ones, as they are once the views are made. */
async function standing(
  paths: readonly string[],
  views: readonly SandboxView[],
): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const view = views.find(({ at }) => at !== path && isWithin(at, path))
      if (view === undefined) return existingPaths([path])
      const shown = join(view.shows, relative(view.at, path))
      return (await existingPaths([shown])).length === 0 ? [] : [path]
    }),
  )
  return [...new Set(found.flat())]
}

/** What an ordinary user cannot reach needs no mount, and could get none. */
async function unreachableOf(mounts: readonly MountPoint[]): Promise<Set<string>> {
  if (process.geteuid?.() === 0) return new Set()
  const reachable = await Promise.all(mounts.map(({ path }) => isPassable(dirname(path))))
  return new Set(mounts.filter((_, index) => !reachable[index]).map(({ path }) => path))
}
