import { endpointsOf } from '../../http/endpoints.ts'
import { openApiDocument } from '../../http/openapi/document.ts'
import type { PageDeps } from '../deps.ts'
import type { ApiDocument } from './api-document.ts'
import { ReferencePage } from './reference-page.tsx'

/** The whole page. The document is our own, so that its shape is known. */
export async function referenceHtml({
  service,
  assets,
  origin,
}: PageDeps & { origin: string }): Promise<string> {
  const api = openApiDocument(endpointsOf(service), service) as unknown as ApiDocument
  return `<!doctype html>${await (<ReferencePage assets={assets} api={api} origin={origin} />).toString()}`
}
