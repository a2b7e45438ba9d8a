/** Resolves the working folder of a case, the workspace root and the memory root. */

import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { stampOf } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'

/**
 * Returns the real path of a case's working folder: its `workdir`, or the workspace root. A folder outside the root
 * must be among the trusted real paths.
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
    const message = `"${workdir}" is not a folder; expected an existing folder`
    throw new AppError('bad_request', `The case's workdir "${workdir}" is not a folder.`, {
      errors: [{ path: 'workdir', message }],
    })
  }
  if (isWithin(inside, folder) || trusted.has(folder)) return folder
  throw new AppError(
    'untrusted_workdir',
    `The case's workdir "${workdir}" is outside the workspace, so sessions cannot use it until it is trusted. Review and trust it with: casefile doctor --trust. Or use a folder inside the workspace.`,
  )
}

/** Returns the real path of the folder to serve. It is never created, as the name may have a typo. */
export async function workspaceRoot(root: string): Promise<string> {
  const folder = await realFolder(resolve(root))
  if (folder !== null) return folder
  throw new AppError(
    'bad_request',
    `The workspace ${shortened(resolve(root))} is not a folder. Create it, or choose another with --root.`,
  )
}

/** No path is longer than 4096 bytes, and a message need not repeat one that is no path. */
function shortened(path: string): string {
  return path.length > 4096 ? `${path.slice(0, 100).toWellFormed()}…` : path
}

/** Returns the real path of the memory root, which need not exist yet. */
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
    `The memory root ${path} is not a folder or cannot be reached. Choose another with memory_root in casefile.md, or --memory-root.`,
  )
}

/** Returns the real path of a folder; null if it does not exist or cannot be reached. */
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
