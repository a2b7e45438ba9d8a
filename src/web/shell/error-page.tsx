import type { ErrorHandler } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { logFault, problemJson, problemResponse } from '../../http/problem-json.ts'
import type { RefusalPage } from '../../http/refusal-page.ts'
import type { Assets } from '../assets.ts'
import { CASES } from './addresses.ts'
import { Page } from './page.tsx'
import { setPageHeaders } from './page-response.ts'

/** A refusal as a page to who takes HTML, as browsers say that they do; to a program, problem+json. */
export function errorPages(
  assets: Pick<Assets, 'href'>,
  log: (line: string) => void,
): ErrorHandler<ServiceEnv> {
  return (error, c) => {
    logFault(log, c.req, error)
    const takesHtml = (c.req.header('accept') ?? '').includes('text/html')
    return takesHtml ? errorPage(assets, error) : problemResponse(error)
  }
}

/** The same where no page answers, or none may: the headers of pages come with it. */
export function refusalPage(assets: Pick<Assets, 'href'>): RefusalPage {
  return (_, error, byHand) => {
    const response = errorPage(assets, error, byHand)
    setPageHeaders(response.headers)
    return response
  }
}

function errorPage(assets: Pick<Assets, 'href'>, error: unknown, byHand?: string): Response {
  const { status, title, detail } = problemJson(error)
  const page = (
    <Page title={String(title)} assets={assets} kind="error">
      <h1>{title}</h1>
      <p class="lead">{detail}</p>
      {byHand ? (
        <p>
          If you meant to come here, open the address yourself: <a href={byHand}>{byHand}</a>
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
