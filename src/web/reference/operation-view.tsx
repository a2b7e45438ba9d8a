import { TextBox } from '../shell/text-box.tsx'
import {
  type ApiDocument,
  type ApiResponse,
  type LocatedOperation,
  type Parameter,
  resolveSchema,
  type Schema,
} from './api-document.ts'
import { curlLine } from './curl-line.ts'
import { Members, TypeOf } from './schema-view.tsx'
import { Words } from './words.tsx'

/** One operation: parameters, body, responses and an example. */
export function OperationView({
  placed,
  api,
  origin,
}: {
  placed: LocatedOperation
  api: ApiDocument
  origin: string
}) {
  const { method, path, operation } = placed
  const { operationId: id, summary, description, parameters, requestBody, responses } = operation
  const curl = curlLine(placed, origin)
  const answers = Object.entries(responses).filter(([, { $ref }]) => !$ref)
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return (
    <section class="card operation" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h3 id={`${id}-title`}>
          <a href={`#${id}`}>
            <span class="method" data-method={method}>
              {method}
            </span>{' '}
            <code>{path}</code>
          </a>
        </h3>
        <span class="muted small">{id}</span>
      </header>
      <p>
        <Words text={`${summary}. ${description}`} />
      </p>
      {parameters.length > 0 && <Parameters id={id} parameters={parameters} />}
      {content && (
        <>
          <h4>
            Body{requestBody?.required ? '' : ' (optional)'}: <code>{type}</code>
          </h4>
          <Shape schema={resolveSchema(content.schema, api)} of={`the body of ${id}`} />
        </>
      )}
      <h4>
        Example{' '}
        <button type="button" class="quiet needs-script" data-copy={curl}>
          Copy<span class="visually-hidden"> the example of {id}</span>
        </button>
      </h4>
      <TextBox label={`Example of ${id}`} class="plain-text">
        {curl}
      </TextBox>
      {answers.map(
        ([status, answer]) => status < '300' && <Good id={id} status={status} answer={answer} />,
      )}
      <ul class="errors">
        {answers.map(
          ([status, answer]) => status >= '300' && <Other status={status} answer={answer} />,
        )}
      </ul>
    </section>
  )
}

/** A row for each parameter, with its place if that is not the path. */
export function Parameters({ id, parameters }: { id: string; parameters: Parameter[] }) {
  const schema: Schema = {
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description, in: location }) => {
        const where =
          location === 'path' ? '' : location === 'query' ? 'In the query. ' : 'A header. '
        return [name, { ...schema, description: `${where}${description ?? ''}` }]
      }),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  }
  return <Members schema={schema} of={`the parameters of ${id}`} />
}

/** A table of the members, or a link to it if the schema has a name. */
function Shape({ schema, of }: { schema: Schema; of: string }) {
  if (schema.properties) return <Members schema={schema} of={of} />
  return (
    <p>
      <TypeOf schema={schema} /> <Words text={schema.description} />
    </p>
  )
}

function Good({ id, status, answer }: { id: string; status: string; answer: ApiResponse }) {
  return (
    <>
      <h4>
        <span class="status">{status}</span> <Words text={answer.description} />
      </h4>
      {answer.headers && (
        <p class="small muted">
          With{' '}
          {Object.entries(answer.headers).map(([name, { description }], index) => (
            <>
              {index > 0 && ', '}
              <a href={`#header-${name}`}>{name}</a>
              {description && ' (sometimes)'}
            </>
          ))}
          .
        </p>
      )}
      {Object.entries(answer.content ?? {}).map(([type, { schema, example }]) => (
        <>
          <p class="small">
            <code>{type}</code>: <TypeOf schema={schema.contentSchema ?? schema} />
          </p>
          {example !== undefined && (
            <details>
              <summary>
                Example response<span class="visually-hidden"> of {id}</span>
              </summary>
              <TextBox label={`Response of ${id}`} class="plain-text">
                {typeof example === 'string' ? example : JSON.stringify(example, null, 2)}
              </TextBox>
            </details>
          )}
        </>
      ))}
    </>
  )
}

function Other({ status, answer }: { status: string; answer: ApiResponse }) {
  const codes = Object.keys(answer.content?.['application/problem+json']?.examples ?? {})
  return (
    <li>
      <span class="status">{status}</span>{' '}
      {codes.length === 0 ? (
        <Words text={answer.description} />
      ) : (
        codes.map((code, index) => (
          <>
            {index > 0 && ', '}
            <a href={`#error-${code}`}>{code}</a>
          </>
        ))
      )}
    </li>
  )
}
