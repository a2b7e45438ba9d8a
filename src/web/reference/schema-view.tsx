import type { Child } from 'hono/jsx'
import { componentName, type Schema } from './api-document.ts'
import { Words } from './words.tsx'

/** What a value may be: a type, a name that links to its table, or the values themselves. */
export function TypeOf({ schema }: { schema: Schema }) {
  return <>{typeOf(schema)}</>
}

function typeOf(schema: Schema): Child {
  const { $ref, type, items, anyOf, oneOf } = schema
  if ($ref) return <a href={`#schema-${componentName($ref)}`}>{componentName($ref)}</a>
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>
  if (schema.enum) return joined(schema.enum.map((value) => <code>{JSON.stringify(value)}</code>))
  const choices = anyOf ?? oneOf
  if (choices && type === undefined) return joined(choices.map(typeOf))
  const types = [type ?? 'any'].flat()
  return joined(
    types.map((each) => (each === 'array' && items ? <>list of {typeOf(items)}</> : each)),
  )
}

function joined(parts: Child[]): Child {
  return parts.map((part, index) => (index === 0 ? part : <> or {part}</>))
}

/** The description says in words what a longer one means. */
const MAX_PATTERN = 40

/** Limits of a value beside its type. */
function limitsOf({ format, minimum, maximum, maxLength, pattern }: Schema): string[] {
  return [
    ...(format ? [format] : []),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(pattern && !format && pattern.length <= MAX_PATTERN ? [`matches ${pattern}`] : []),
  ]
}

/** A row for each member; the members of an unnamed object follow it. */
export function Members({ schema, of }: { schema: Schema; of: string }) {
  return (
    <section class="table-scroll" tabindex={0} aria-label={`Members of ${of}`}>
      <table class="reference-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Description</th>
          </tr>
        </thead>
        <tbody>{rowsOf(schema, '')}</tbody>
      </table>
    </section>
  )
}

function rowsOf({ properties = {}, required = [] }: Schema, before: string): Child[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const inner = schema.properties ? schema : schema.items
    const path = `${before}${name}`
    return [
      <tr>
        <th scope="row">
          <code>{path}</code>
        </th>
        <td>
          <TypeOf schema={schema} />
          {!required.includes(name) && <span class="muted">, optional</span>}
        </td>
        <td>
          <Words text={schema.description} />
          {limitsOf(schema).map((limit) => (
            <span class="limit">{limit}</span>
          ))}
        </td>
      </tr>,
      ...(inner?.properties ? rowsOf(inner, schema.items ? `${path}[].` : `${path}.`) : []),
    ]
  })
}
