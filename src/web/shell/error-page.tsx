import type { ErrorPage } from '../../http/middleware/error-format.ts'
import { problemJson } from '../../http/problem-json.ts'
import type { Assets } from '../assets.ts'
import { CASES } from './addresses.ts'
import { Page } from './page.tsx'
import { setPageHeaders } from './page-response.ts'

/** Renders an error, with the headers that every page has. */
export function createErrorPage(assets: Pick<Assets, 'href'>): ErrorPage {
  return (error, retryUrl) => {
    const response = errorPage(assets, error, retryUrl)
    setPageHeaders(response.headers)
    return response
  }
}

function errorPage(assets: Pick<Assets, 'href'>, error: unknown, retryUrl?: string): Response {
  const { status, title, detail } = problemJson(error)
  const page = (
    <Page title={String(title)} assets={assets} kind="error">
      <h1>{title}</h1>
      <p class="lead">{detail}</p>
      {retryUrl ? (
        <p>
          If you meant to come here, open the address yourself: <a href={retryUrl}>{retryUrl}</a>
        </p>
      ) : (
        <p>
          <a href={CASES}>All cases</a>
        </p>
      )}
    </Page>
  )
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  return new Response(`<!doctype html>${page.toString()}`, { status, headers })
}
