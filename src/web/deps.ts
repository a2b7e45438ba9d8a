import type { HttpDeps } from '../http/deps.ts'
import type { Assets } from './assets.ts'

/** What the pages read from, and where their script and styles are. */
export interface PageDeps {
  service: HttpDeps
  assets: Assets
}
