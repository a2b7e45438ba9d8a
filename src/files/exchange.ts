import { createRequire } from 'node:module'
import { hasCode } from './errno.ts'

/** Swaps the names of two files in one step (renameat2, renamex_np). */
export type Exchange = (a: string, b: string) => void

/**
 * The system call through an optional package, because Node has none. Null if the package is not
 * installed or not built for this system. A file system may still reject it: see `isUnsupported`.
 */
export function systemExchange(): Exchange | null {
  loaded ??= { exchange: load() }
  return loaded.exchange
}

/** Whether the error means that this file system, or the container around it, cannot exchange names. */
export function isUnsupported(error: unknown): boolean {
  return hasCode(error, 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EPERM')
}

let loaded: { exchange: Exchange | null } | undefined

function load(): Exchange | null {
  // elsewhere the package exchanges in several steps
  if (process.platform !== 'linux' && process.platform !== 'darwin') return null
  try {
    const require = createRequire(import.meta.url)
    const { swapSync } = require('fs-native-extensions') as { swapSync: Exchange }
    return swapSync
  } catch (error) {
    if (hasCode(error, 'MODULE_NOT_FOUND', 'ADDON_NOT_FOUND', 'CANNOT_LOAD', 'ERR_DLOPEN_FAILED'))
      return null
    throw error
  }
}
