import * as z from 'zod'
import { AppError, type FieldError } from '../../model/app-error.ts'
import type { ServiceContext } from '../context.ts'
import { nearestName } from './nearest-name.ts'
import { NOUNS } from './params.ts'
import { throwIfUnknownState } from './parse-fields.ts'
import { NEVER_EMPTY } from './query.ts'

type Shape = Readonly<Record<string, z.ZodType>>

/** The path parameters of a request. One that its schema rejects matches nothing, so the error is 404. */
export function parseParams<T>(schema: z.ZodType<T> & { shape: Shape }, c: ServiceContext): T {
  const sent = c.req.param() as Record<string, string>
  const result = schema.safeParse(sent)
  if (result.success) return result.data
  const name = String(result.error.issues[0]?.path[0])
  const noun = NOUNS.get(schema.shape[name]!)?.noun ?? name
  const came = JSON.stringify((sent[name] ?? '').slice(0, 80).toWellFormed())
  throw new AppError('not_found', `There is no ${noun} ${came}: expected a UUID in lower case.`)
}

/**
 * The query parameters of a request. Throws `bad_request` for those that are unknown, empty or wrong; an unknown
 * case state has a code of its own.
 */
export function parseQuery<S extends Shape>(
  shape: S,
  sent: Readonly<Record<string, readonly string[]>>,
): z.output<z.ZodObject<{ -readonly [K in keyof S]: S[K] }>> {
  const errors: FieldError[] = []
  for (const [name, values] of Object.entries(sent)) {
    const schema = shape[name]
    const message = schema ? emptyMessage(schema, values) : unknownMessage(name, Object.keys(shape))
    if (message !== null) errors.push({ path: name.slice(0, 60), message })
  }
  if (errors.length > 0) throw badRequest(errors)
  const wanted: Record<string, unknown> = {}
  for (const [name, values] of Object.entries(sent)) wanted[name] = toValue(shape[name]!, values)
  const result = objectOf(shape).safeParse(wanted, { reportInput: true })
  if (result.success) return result.data as ReturnType<typeof parseQuery<S>>
  for (const issue of result.error.issues) {
    throwIfUnknownState(issue)
    const { input } = issue
    const came =
      input === undefined ? 'it is missing' : `got ${JSON.stringify(shortened(String(input)))}`
    errors.push({ path: String(issue.path[0]), message: `${issue.message}; ${came}` })
  }
  throw badRequest(errors)
}

const objects = new WeakMap<Shape, z.ZodObject>()

/** One for each shape, because zod compiles an object at its first use. */
function objectOf(shape: Shape): z.ZodObject {
  const known = objects.get(shape)
  if (known) return known
  const object = z.object(shape)
  objects.set(shape, object)
  return object
}

function badRequest(errors: FieldError[]): AppError {
  const [first] = errors
  return new AppError('bad_request', `${first?.path}: ${first?.message}.`, { errors })
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}

/** If a parameter for one value is repeated, the first one counts. */
function toValue(schema: z.ZodType, values: readonly string[]): unknown {
  const plain = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (plain instanceof z.ZodArray) {
    const all = values.flatMap((value) => value.split(',')).filter((value) => value !== '')
    return all.length > 0 ? all : undefined
  }
  const [first = ''] = values
  return plain instanceof z.ZodNumber && /^(?:0|[1-9]\d{0,14})$/.test(first) ? Number(first) : first
}

function emptyMessage(schema: z.ZodType, values: readonly string[]): string | null {
  const content = NEVER_EMPTY.get(schema)?.content
  if (!content || values.some((value) => content.test(value))) return null
  return 'expected a value; it is empty. Give it a value, or leave it out'
}

function unknownMessage(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const hint = nearest === null ? '' : ` Did you mean ${nearest}?`
  return `unknown query parameter.${hint} This path takes ${known.join(', ')}`
}
