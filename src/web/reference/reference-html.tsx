import { endpointsOf } from '../../http/endpoints.ts'
import { openApiDocument } from '../../http/openapi/document.ts'
import type { PageNeeds } from '../needs.ts'
import type { ApiDocument } from './api-document.ts'
import { ReferencePage } from './reference-page.tsx'

/** The whole page. The document is our own, so that its shape is known. */
export async function referenceHtml({
  service,
  assets,
  origin,
}: PageNeeds & { origin: string }): Promise<string> {
  const api = openApiDocument(endpointsOf(service), service) as unknown as ApiDocument
  return `<!doctype html>${await (<ReferencePage {...{ assets, api, origin }} />).toString()}`
}
