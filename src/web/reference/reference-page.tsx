import type { Assets } from '../assets.ts'
import { Page } from '../shell/page.tsx'
import { type ApiDocument, operationsOf } from './api-document.ts'
import { OperationView, Parameters } from './operation-view.tsx'
import { Members, TypeOf } from './schema-view.tsx'
import { Paragraphs, Words } from './words.tsx'

interface ReferenceProps {
  assets: Pick<Assets, 'href'>
  api: ApiDocument
  /** Of the service, as the examples are to name it. */
  origin: string
}

/** All of `/openapi.json`, to be read. It needs no script, and is one page, so that the browser can search it. */
export function ReferencePage({ assets, api, origin }: ReferenceProps) {
  const { info, tags, components } = api
  return (
    <Page title="API reference" assets={assets} kind="reference">
      <h1>API reference</h1>
      <div class="lead">
        <Paragraphs text={info.description} />
      </div>
      <p>
        This is version {info.version}. The same for programs:{' '}
        <a href="/openapi.json">OpenAPI 3.1</a>. The examples were sent to the sample workspace, as{' '}
        <code>casefile sample</code> makes it. An id that a request made there is another one with
        you.
      </p>
      <nav class="card contents" aria-label="Contents">
        {tags.map(({ name }) => (
          <div>
            <a href={`#tag-${name}`}>{name}</a>
            <ul>
              {operationsOf(api, name).map(({ method, path, operation }) => (
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
          </div>
        ))}
        <div>
          <a href="#events">What is sent</a>, <a href="#schemas">objects</a>,{' '}
          <a href="#headers">headers</a>, <a href="#refusals">refusals</a>
        </div>
      </nav>
      {tags.map(({ name, description }) => (
        <>
          <h2 id={`tag-${name}`}>{name}</h2>
          <p>
            <Words text={description} />
          </p>
          {operationsOf(api, name).map((placed) => (
            <OperationView {...{ placed, origin }} />
          ))}
        </>
      ))}
      <h2 id="events">What is sent to a webhook</h2>
      <div class="card">
        <p>Each is a POST with these headers, and one of these events as its body.</p>
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
      {Object.entries(components.schemas).map(([name, schema]) => (
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
      <h2 id="refusals">Refusals</h2>
      {Object.entries(components.examples).map(([code, { summary, value }]) => (
        <section class="card" id={`refusal-${code}`} aria-labelledby={`refusal-${code}-title`}>
          <h3 id={`refusal-${code}-title`}>
            <span class="status">{String(value.status)}</span> <code>{code}</code>
          </h3>
          <p>{summary}.</p>
          <pre class="plain-text" tabindex={0}>
            {JSON.stringify(value, null, 2)}
          </pre>
        </section>
      ))}
    </Page>
  )
}
