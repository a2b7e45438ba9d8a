import type { Context, Hono } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ServiceEnv } from '../http/context.ts'
import type { HttpDeps } from '../http/deps.ts'
import type { Assets } from './assets.ts'
import type { IsSilent } from './session/silent-logs.ts'

/** What the pages read from, and where their script and styles are. */
export interface PageDeps {
  service: HttpDeps
  assets: Assets
  isSilent: IsSilent
}

type Page = JSX.Element | Response

/** Adds a page to the console. `forms: 'self'`: it has a form that the browser submits. */
export type AddPage = <Path extends string>(
  path: Path,
  page: (c: Context<ServiceEnv, Path>) => Page | Promise<Page>,
  forms?: 'self',
) => void

/** The pages of a folder; `app` takes what is no page. */
export type Routes = (deps: PageDeps, get: AddPage, app: Hono<ServiceEnv>) => void
