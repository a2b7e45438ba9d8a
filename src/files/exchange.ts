import { createRequire } from 'node:module'
import { hasCode } from './errno.ts'

/** Swaps the names of two files atomically (renameat2, renamex_np). */
export type Exchange = (a: string, b: string) => void

/**
 * The system call, from an optional package, as Node has none; null if the package is not installed or not built for
 * this system. A file system may not support it: see `isUnsupported`.
 */
export function systemExchange(): Exchange | null {
  loaded ??= { exchange: load() }
  return loaded.exchange
}

/** Whether the error means that this file system or container does not support the swap. */
export function isUnsupported(error: unknown): boolean {
  return hasCode(error, 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EPERM')
}

let loaded: { exchange: Exchange | null } | undefined

function load(): Exchange | null {
  // on other systems the package uses several steps, so it is not atomic
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
