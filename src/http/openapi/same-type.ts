import type * as z from 'zod'

/** Without `readonly`, which no JSON knows. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<T[Key]> }
    : T

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/**
 * Gives the schema as it is. Where it does not say exactly what the type does that requests are
 * answered with, it does not compile.
 */
export function schemaOf<T>() {
  return <Schema extends z.ZodType>(
    schema: Same<Plain<z.output<Schema>>, Plain<T>> extends true ? Schema : never,
  ): Schema => schema
}
