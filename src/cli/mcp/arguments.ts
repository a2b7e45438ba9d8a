import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import { AppError } from '../../model/app-error.ts'
import { resolveCase } from '../resolve/case.ts'

export const caseArgument = {
  case: z
    .string()
    .min(1)
    .max(500)
    .describe('Its id, the start of its id, or a part of its title that no other case has'),
}

/** The id of the case that the argument names. */
export function caseIn(client: ApiReader, name: string): Promise<string> {
  return resolveCase(client, name, 'list_cases')
}

export const sessionArgument = (otherwise: string) => ({
  session: z
    .union([z.string().min(1).max(100), z.number().int().min(1)])
    .optional()
    .describe(`Its number, its id, or latest; ${otherwise} if not given`),
})

/** The session as a word; models send numbers and strings. */
export function wordOf(session: string | number | undefined): string | undefined {
  return session === undefined ? undefined : String(session)
}

/** Throws for a lone surrogate: a file would save it as another character. */
export function mustBeWhole(name: string, text: string): void {
  if (text.isWellFormed()) return
  throw new AppError(
    'bad_request',
    `${name} contains half of a character (a lone surrogate), which cannot be saved. Send the whole character, or leave it out.`,
  )
}
