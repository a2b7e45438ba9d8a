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
  const { of, components } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as {
    of: Record<string, Json>
    components: Record<string, Json>
  }
  for (const component of Object.values(components)) delete component.id
  return { json: (name) => of[name]!, components }
}
