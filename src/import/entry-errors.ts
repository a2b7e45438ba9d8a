import type * as z from 'zod'
import { parseFields } from '../http/schemas/parse-fields.ts'
import { AppError, type FieldError } from '../model/app-error.ts'
import { visibleText } from '../model/visible-text.ts'

/** At most this many invalid entries are listed. */
const MAX_LISTED = 10
const MAX_DEPTH = 100

/** Collects the errors of all entries, so that one message names every invalid one. */
export interface EntryErrors {
  add(entry: string, message: string): void
  /** The entry as the schema returns it; adds its errors and returns null if it is invalid. */
  parse<T>(schema: z.ZodType<T>, value: unknown, entry: string): T | null
  /** Throws if there are any. */
  throwIfAny(): void
}

export function createEntryErrors(): EntryErrors {
  const errors: FieldError[] = []
  const add = (path: string, message: string) => {
    errors.push({ path, message })
  }
  return {
    add,
    parse(schema, value, entry) {
      try {
        const parsed = parseFields(schema, value)
        if (!isDeep(value)) return parsed
        add(entry, `it has more than ${MAX_DEPTH} levels of nesting`)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        for (const { path, message } of error.errors) {
          add(path === '' ? entry : `${entry}: ${path}`, message)
        }
      }
      return null
    },
    throwIfAny() {
      if (errors.length === 0) return
      const lines = errors.slice(0, MAX_LISTED).map(({ path, message }) => `  ${path}: ${message}`)
      const more = errors.length > MAX_LISTED ? [`  and ${errors.length - MAX_LISTED} more`] : []
      throw new AppError(
        'bad_request',
        ['Nothing was imported. Errors in the list:', ...lines, ...more]
          .map(visibleText)
          .join('\n'),
        { errors },
      )
    },
  }
}

/** Without recursion, which deep nesting would overflow. */
function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : [],
    )
    if (level.length === 0) return false
  }
  return true
}
