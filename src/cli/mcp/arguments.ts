import * as z from 'zod'
import { Refusal } from '../../model/refusal.ts'

export const caseArgument = {
  case: z
    .string()
    .min(1)
    .max(500)
    .describe('Its id, the beginning of its id, or a part of its title that no other case has'),
}

export const sessionArgument = (otherwise: string) => ({
  session: z
    .union([z.string().min(1).max(100), z.number().int().min(1)])
    .optional()
    .describe(`Its number, its id, or latest; ${otherwise} if not given`),
})

/** A word, as a number may come as either. */
export function wordOf(session: string | number | undefined): string | undefined {
  return session === undefined ? undefined : String(session)
}

/** Half of a character would be saved as another one. */
export function mustBeWhole(name: string, text: string): void {
  if (text.isWellFormed()) return
  throw new Refusal(
    'bad_request',
    `${name} has half of a character (a lone surrogate), which no file can hold. Send it whole, or leave it out.`,
  )
}
