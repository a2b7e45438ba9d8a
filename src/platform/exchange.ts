import { createRequire } from 'node:module'

/** Swaps the names of two files atomically (renameat2, renamex_np). */
export type Exchange = (a: string, b: string) => void

/**
 * The system call, from an optional package, as Node has none; null if the package is not installed or not built for
 * this system. A file system or a container may not support it either.
 */
export function systemExchange(): Exchange | null {
  loaded ??= { exchange: load() }
  return loaded.exchange
}

let loaded: { exchange: Exchange | null } | undefined

const NOT_HERE = ['MODULE_NOT_FOUND', 'ADDON_NOT_FOUND', 'CANNOT_LOAD', 'ERR_DLOPEN_FAILED']

function load(): Exchange | null {
  // on other systems the package uses several steps, so it is not atomic
  if (process.platform !== 'linux' && process.platform !== 'darwin') return null
  try {
    const require = createRequire(import.meta.url)
    const { swapSync } = require('fs-native-extensions') as { swapSync: Exchange }
    return swapSync
  } catch (error) {
    if (NOT_HERE.includes(String((error as NodeJS.ErrnoException).code))) return null
    throw error
  }
}
