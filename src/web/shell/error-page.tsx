import type { ErrorHandler } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { logFault, problemJson, problemResponse } from '../../http/problem-json.ts'
import type { RefusalPage } from '../../http/refusal-page.ts'
import type { Assets } from '../assets.ts'
import { API_REFERENCE, CASES, SEARCH } from './addresses.ts'
import { Page } from './page.tsx'
import { setPageHeaders } from './page-response.ts'

/** An error as a page for browsers, which accept HTML, and as problem+json for programs. */
export function errorPages(
  assets: Pick<Assets, 'href' | 'workspace'>,
  log: (line: string) => void,
): ErrorHandler<ServiceEnv> {
  return (error, c) => {
    logFault(log, c.req, error)
    const takesHtml = (c.req.header('accept') ?? '').includes('text/html')
    return takesHtml ? errorPage(assets, error) : problemResponse(error)
  }
}

/** The same with the headers of pages, for addresses that no page answers. */
export function refusalPage(assets: Pick<Assets, 'href' | 'workspace'>): RefusalPage {
  return (_, error, byHand) => {
    const response = errorPage(assets, error, byHand)
    setPageHeaders(response.headers)
    return response
  }
}

function errorPage(
  assets: Pick<Assets, 'href' | 'workspace'>,
  error: unknown,
  byHand?: string,
): Response {
  const { status, title, detail } = problemJson(error)
  const heading = status === 404 ? 'Page not found' : String(title)
  const page = (
    <Page title={heading} assets={assets} kind="error">
      <h1>{heading}</h1>
      <p class="lead">{String(detail).replace(' docs/api.md lists all there is.', '')}</p>
      {byHand ? (
        <p>
          If you meant to come here, open the address yourself: <a href={byHand}>{byHand}</a>
        </p>
      ) : (
        <p class="actions">
          <a class="button primary" href={CASES}>
            All cases
          </a>
          <a class="button" href={SEARCH}>
            Search
          </a>
          <a class="button" href={API_REFERENCE}>
            Docs
          </a>
        </p>
      )}
    </Page>
  )
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  return new Response(`<!doctype html>${page.toString()}`, { status, headers })
}
