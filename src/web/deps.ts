import type { HttpDeps } from '../http/deps.ts'
import type { Assets } from './assets.ts'

/** What every page is a function of. */
export interface PageDeps {
  service: HttpDeps
  assets: Assets
}
