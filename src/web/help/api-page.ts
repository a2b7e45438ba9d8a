import { endpointsOf } from '../../http/endpoints.ts'
import { openApiDocument } from '../../http/openapi/document.ts'
import type { PageDeps } from '../deps.ts'

/** The parts of our OpenAPI document that the page shows. */
interface ApiDocument {
  info: { version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, Schema> }
}

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

interface Schema {
  $ref?: string
  properties?: Record<string, unknown>
  required?: string[]
}

/** The help page of the API, as markdown: a section for each group of operations, made of `/openapi.json`. */
export function apiPage(service: PageDeps['service']): string {
  const api = openApiDocument(endpointsOf(service), service) as unknown as ApiDocument
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      group: operation.tags[0],
      text: operationText(`${method.toUpperCase()} ${path}`, operation, api),
    })),
  )
  const groups = api.tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description,
    ...operations.filter(({ group }) => group === name).map(({ text }) => text),
  ])
  const events = Object.keys(api.webhooks).map((name) => `\`${name}\``)
  return [
    '# API reference',
    `Version ${api.info.version}. [/openapi.json](openapi.json) has every schema and example. A star marks what is required.`,
    api.info.description,
    ...groups,
    '## Types of events',
    `Streams and webhooks send these: ${events.join(', ')}.`,
  ].join('\n\n')
}

function operationText(
  route: string,
  { operationId, summary, description, parameters, requestBody }: Operation,
  api: ApiDocument,
): string {
  const namesIn = (place: string) =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name, required }) => nameText(name, required === true))
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const parts = [
    ['Query', namesIn('query')],
    ['Headers', namesIn('header')],
    ['Body', content ? membersOf(content.schema, api) : []],
  ] as const
  const lists = parts.flatMap(([what, names]) =>
    names.length > 0 ? `${what}: ${names.join(', ')}.` : [],
  )
  const isText = type !== undefined && lists.every((list) => !list.startsWith('Body'))
  return [
    `### \`${route}\``,
    `${summary} (\`${operationId}\`). ${description}`,
    [...lists, ...(isText ? [`Body: \`${type}\`.`] : [])].join(' '),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

function membersOf(schema: Schema, { components }: ApiDocument): string[] {
  const { properties = {}, required = [] } = schema.$ref
    ? components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]!
    : schema
  return Object.keys(properties).map((name) => nameText(name, required.includes(name)))
}

function nameText(name: string, isRequired: boolean): string {
  return `\`${name}\`${isRequired ? '\\*' : ''}`
}
