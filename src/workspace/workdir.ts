/** The folder in which the sessions of a case work. */

import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { stampOf } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'

/**
 * The real path of the folder that a case's sessions work in: the workspace's root, or the case's
 * `workdir`. One outside of the root must be among the real paths that the operator trusts.
 */
export async function workingFolder(
  root: string,
  workdir: string | null,
  trusted: ReadonlySet<string>,
): Promise<string> {
  const inside = await realpath(root)
  if (workdir === null) return inside
  const folder = await realFolder(resolve(root, workdir))
  if (folder === null) {
    const message = `"${workdir}" is no folder; expected one that exists`
    throw new AppError('bad_request', `The case's workdir "${workdir}" is no folder.`, {
      errors: [{ path: 'workdir', message }],
    })
  }
  if (isWithin(inside, folder) || trusted.has(folder)) return folder
  throw new AppError(
    'untrusted_workdir',
    `The case's workdir "${workdir}" leads out of the workspace, and nothing works there until the operator trusts it. See where it leads, and trust it, with: casefile trust. Or use a folder inside the workspace.`,
  )
}

/** The real path of the folder to serve; a name with a slip in it must not be made into one. */
export async function workspaceRoot(root: string): Promise<string> {
  const folder = await realFolder(resolve(root))
  if (folder !== null) return folder
  throw new AppError(
    'bad_request',
    `The workspace ${resolve(root)} is no folder. Make it, or name another one with --root.`,
  )
}

/** The real path of the memory root, which need not be there yet. */
export async function memoryRootAt(path: string): Promise<string> {
  try {
    const real = await realPathOf(path)
    const there = await stampOf(real)
    if (!there || (await realFolder(real)) !== null) return real
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES')) throw error
  }
  throw new AppError(
    'bad_request',
    `The memory root ${path} is no folder, or cannot be reached. Name another one with --memory-root.`,
  )
}

/** The real path of a folder; null where there is none, or where it cannot be reached. */
export async function realFolder(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : null
  } catch (error) {
    const named = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']
    if (hasCode(error, ...named, 'ERR_INVALID_ARG_VALUE')) return null // the last is for a NUL
    throw error
  }
}
