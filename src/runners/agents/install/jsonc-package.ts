import type * as Jsonc from 'jsonc-parser'
import { lazyPackage } from '../../../package-files.ts'

let loaded: typeof Jsonc | undefined

/** The package `jsonc-parser`, loaded on first use. */
export function jsoncPackage(): typeof Jsonc {
  loaded ??= lazyPackage('jsonc-parser') as typeof Jsonc
  return loaded
}
