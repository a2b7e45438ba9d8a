import type { Json } from '../../http/openapi/json-schemas.ts'

/** The parts of our OpenAPI document that the page shows. */
export interface ApiDocument {
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, ApiOperation>>
  webhooks: Record<string, { post: ApiOperation }>
  components: {
    schemas: Record<string, Schema>
    headers: Record<string, { description?: string }>
    examples: Record<string, { summary: string; value: Json }>
  }
}

export interface ApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Content> }
  responses: Record<string, ApiResponse>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export interface Content {
  schema: Schema
  example?: unknown
  examples?: Record<string, unknown>
}

export interface ApiResponse {
  /** Refers to the response of an error that any request may get; the page describes those once. */
  $ref?: string
  description: string
  headers?: Record<string, { description?: string }>
  content?: Record<string, Content>
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  minimum?: number
  maximum?: number
  maxLength?: number
  pattern?: string
  format?: string
  contentSchema?: Schema
}

/** An operation with its method and path. */
export interface LocatedOperation {
  method: string
  path: string
  operation: ApiOperation
}

/** The operations of a group; an operation belongs to the group of its first tag. */
export function listOperations({ paths }: ApiDocument, tag: string): LocatedOperation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    )
    .filter(({ operation }) => operation.tags[0] === tag)
}

/** The schema itself, if it is a reference to a component. */
export function resolveSchema(schema: Schema, { components }: ApiDocument): Schema {
  return schema.$ref ? components.schemas[componentName(schema.$ref)]! : schema
}

/** The components that are only request bodies, which are shown with their operation. */
export function bodyNames({ paths }: ApiDocument): Set<string> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const refs = operations.flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => schema.$ref ?? []),
  )
  return new Set(refs.map(componentName))
}

/** The last part of a reference, such as `Case`. */
export function componentName($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
