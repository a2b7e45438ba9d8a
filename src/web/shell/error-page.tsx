import type { ErrorPage } from '../../http/middleware/error-format.ts'
import { UnknownRoute } from '../../http/middleware/unknown-route.ts'
import { problemJson } from '../../http/problem-json.ts'
import type { PageAssets } from '../assets.ts'
import { CASES, HELP, SEARCH } from './addresses.ts'
import { Page } from './page.tsx'
import { setPageHeaders } from './page-response.ts'

/** Renders an error, with the headers that every page has. */
export function createErrorPage(assets: PageAssets): ErrorPage {
  return (error, retryUrl) => {
    const response = errorPage(assets, error, retryUrl)
    setPageHeaders(response.headers)
    return response
  }
}

function errorPage(assets: PageAssets, error: unknown, retryUrl?: string): Response {
  const { status, title, detail } = problemJson(error)
  const heading = status === 404 ? 'Page not found' : String(title)
  const text = error instanceof UnknownRoute ? `There is no page at ${error.path}.` : String(detail)
  const page = (
    <Page title={heading} assets={assets}>
      <h1>{heading}</h1>
      <p class="lead">{text}</p>
      {retryUrl ? (
        <p>
          If you meant to come here, open the address yourself: <a href={retryUrl}>{retryUrl}</a>
        </p>
      ) : (
        <p class="actions">
          <a class="button primary" href={CASES}>
            All cases
          </a>
          <a class="button" href={SEARCH}>
            Search
          </a>
          <a class="button" href={HELP}>
            Help
          </a>
        </p>
      )}
    </Page>
  )
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  return new Response(`<!doctype html>${page.toString()}`, { status, headers })
}
