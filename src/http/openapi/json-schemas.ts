import * as z from 'zod'

export type Json = Record<string, unknown>

export interface JsonSchemas {
  /** The schema that was registered under this name. */
  json(name: string): Json
  /** An example of its values, if it has one. */
  example(name: string): unknown
  /** The schemas with an id. */
  components: Json
}

/** Converts all schemas at once. Those with an id become components that the others refer to. */
export function schemasOf(schemas: Record<string, z.ZodType>): JsonSchemas {
  // the input side, so that an object may have members that the schema does not name
  const made = z.object(schemas).toJSONSchema({ io: 'input' })
  const text = JSON.stringify({ of: made.properties, components: made.$defs })
  const { of, components } = JSON.parse(
    text.replaceAll('"#/$defs/', '"#/components/schemas/'),
    (_, value) => plain(value),
  ) as {
    of: Record<string, Json>
    components: Record<string, Json>
  }
  for (const component of Object.values(components)) delete component.id
  return {
    json: (name) => of[name]!,
    example: (name) => schemaExample(of[name]!, components),
    components,
  }
}

/** The first example of a schema; for a list without one, a list of one example of its items. */
function schemaExample(schema: Json, components: Record<string, Json>): unknown {
  const { $ref, items, examples } = schema
  if (Array.isArray(examples)) return examples[0]
  if (typeof $ref === 'string') {
    return schemaExample(components[$ref.slice($ref.lastIndexOf('/') + 1)]!, components)
  }
  if (schema.type !== 'array') return undefined
  const item = schemaExample(items as Json, components)
  return item === undefined ? undefined : [item]
}

/** The member of a parameter or a body; none without an example. */
export function withExample(example: unknown): Json {
  return example === undefined ? {} : { example }
}

/** The form that client generators understand best: `type: [string, null]`, no safe-integer bounds, no escaped slashes. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { anyOf, ...rest } = value as Json
  if (typeof rest.pattern === 'string') rest.pattern = rest.pattern.replaceAll('\\/', '/')
  if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum
  if (rest.minimum === Number.MIN_SAFE_INTEGER) delete rest.minimum
  if (anyOf === undefined) return rest
  const [some, nothing, ...others] = Array.isArray(anyOf) ? (anyOf as Json[]) : []
  const isNullable = nothing?.type === 'null' && others.length === 0
  // an enum would need null among its values, and a reference cannot have a second type
  if (!isNullable || typeof some?.type !== 'string' || some.enum) return { ...rest, anyOf }
  return { ...some, ...rest, type: [some.type, 'null'] }
}
