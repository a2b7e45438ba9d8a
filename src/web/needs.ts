import type { HttpNeeds } from '../http/needs.ts'
import type { Assets } from './assets.ts'

/** What every page is a function of. */
export interface PageNeeds {
  service: HttpNeeds
  assets: Assets
}
