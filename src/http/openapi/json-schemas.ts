import * as z from 'zod'

export type Json = Record<string, unknown>

/** The JSON Schema of what was given by this name. */
export type JsonOf = (name: string) => Json

/** JSON Schemas of all these at once; those with an id become components that the others refer to. */
export function schemasOf(schemas: Record<string, z.ZodType>): {
  json: JsonOf
  components: Json
} {
  // as they come in: so an object may have members that the schema does not name
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
  return { json: (name) => of[name]!, components }
}

/** As a person would write it: what makes clients says `string | null`, no bound that is none, no stroke escaped. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { anyOf, ...rest } = value as Json
  if (typeof rest.pattern === 'string') rest.pattern = rest.pattern.replaceAll('\\/', '/')
  if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum
  if (rest.minimum === Number.MIN_SAFE_INTEGER) delete rest.minimum
  if (anyOf === undefined) return rest
  const [some, nothing, ...others] = Array.isArray(anyOf) ? (anyOf as Json[]) : []
  const isNullable = nothing?.type === 'null' && others.length === 0
  // a list of values would have to have null in it, and a reference can have no other type
  if (!isNullable || typeof some?.type !== 'string' || some.enum) return { ...rest, anyOf }
  return { ...some, ...rest, type: [some.type, 'null'] }
}
