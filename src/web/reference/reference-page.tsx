import { endpointsOf } from '../../http/endpoints.ts'
import { openApiDocument } from '../../http/openapi/document.ts'
import type { PageAssets } from '../assets.ts'
import type { PageDeps } from '../deps.ts'
import { Page } from '../shell/page.tsx'
import { TextBox } from '../shell/text-box.tsx'
import { type ApiDocument, bodyNames, listOperations } from './api-document.ts'
import { OperationView, Parameters } from './operation-view.tsx'
import { Members, TypeOf } from './schema-view.tsx'
import { Paragraphs, Words } from './words.tsx'

interface ReferenceProps {
  assets: PageAssets
  api: ApiDocument
  /** The address of the service that the examples name. */
  origin: string
}

/** The whole page. The document is our own, so its shape is known. */
export async function referenceHtml({
  service,
  assets,
  origin,
}: Pick<PageDeps, 'service' | 'assets'> & { origin: string }): Promise<string> {
  const api = openApiDocument(endpointsOf(service), service) as unknown as ApiDocument
  return `<!doctype html>${await (<ReferencePage assets={assets} api={api} origin={origin} />).toString()}`
}

/** All of `/openapi.json` on one page without a script, which the browser can search. */
function ReferencePage({ assets, api, origin }: ReferenceProps) {
  const { info, tags, components } = api
  const bodies = bodyNames(api)
  const objects = Object.entries(components.schemas).filter(([name]) => !bodies.has(name))
  return (
    <Page title="API reference" assets={assets} kind="reference">
      <h1>API reference</h1>
      <div class="lead">
        <Paragraphs text={info.description} />
      </div>
      <p>
        Version {info.version}, also as an <a href="/openapi.json">OpenAPI 3.1 document</a>. The
        examples come from the sample workspace (<code>casefile sample</code>). IDs will differ on
        your machine. <code>casefile --help</code> describes the commands; guides to everything else
        are in the <code>docs</code> folder of the package.
      </p>
      <div class="reference">
        <nav class="card contents" aria-label="Contents">
          {tags.map(({ name }) => (
            <details open>
              <summary>{name}</summary>
              <ul>
                <li>
                  <a href={`#tag-${name}`}>All of {name}</a>
                </li>
                {listOperations(api, name).map(({ method, path, operation }) => (
                  <li>
                    <a href={`#${operation.operationId}`}>
                      <span class="method" data-method={method}>
                        {method}
                      </span>{' '}
                      {path}
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          ))}
          <a href="#events">Webhook events</a>
          <a href="#schemas">Objects</a>
          <a href="#headers">Headers</a>
          <a href="#errors">Errors</a>
        </nav>
        <div class="reference-body">
          {tags.map(({ name, description }) => (
            <>
              <h2 id={`tag-${name}`}>{name}</h2>
              <p>
                <Words text={description} />
              </p>
              {listOperations(api, name).map((placed) => (
                <OperationView placed={placed} api={api} origin={origin} />
              ))}
            </>
          ))}
          <h2 id="events">Webhook events</h2>
          <div class="card">
            <p>Each delivery is a POST with these headers and one of these events as its body.</p>
            <Parameters id="a delivery" parameters={api.webhooks.ping!.post.parameters} />
          </div>
          <ul class="events">
            {Object.entries(api.webhooks).map(([type, { post }]) => (
              <li>
                <code>{type}</code>:{' '}
                <TypeOf schema={post.requestBody!.content['application/json']!.schema} />
              </li>
            ))}
          </ul>
          <h2 id="schemas">Objects</h2>
          {objects.map(([name, schema]) => (
            <section class="card" id={`schema-${name}`} aria-labelledby={`schema-${name}-title`}>
              <h3 id={`schema-${name}-title`}>{name}</h3>
              {schema.description && (
                <p>
                  <Words text={schema.description} />
                </p>
              )}
              {schema.properties ? (
                <Members schema={schema} of={name} />
              ) : (
                <p>
                  <TypeOf schema={schema} />
                </p>
              )}
            </section>
          ))}
          <h2 id="headers">Headers</h2>
          <dl class="card reference-list">
            {Object.entries(components.headers).map(([name, { description }]) => (
              <div id={`header-${name}`}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>
                  <Words text={description} />
                </dd>
              </div>
            ))}
          </dl>
          <h2 id="errors">Errors</h2>
          {Object.entries(components.examples).map(([code, { summary, value }]) => (
            <section class="card" id={`error-${code}`} aria-labelledby={`error-${code}-title`}>
              <h3 id={`error-${code}-title`}>
                <span class="status">{String(value.status)}</span> <code>{code}</code>
              </h3>
              <p>{summary}.</p>
              <TextBox label={`Example of ${code}`} class="plain-text">
                {JSON.stringify(value, null, 2)}
              </TextBox>
            </section>
          ))}
        </div>
      </div>
    </Page>
  )
}
