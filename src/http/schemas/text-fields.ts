import * as z from 'zod'
import { TAG, TAG_RULE } from '../../model/name-patterns.ts'
import { capital, isUpTo, lineFault } from '../../model/one-line.ts'

/**
 * Texts of requests with rules beyond a length. Clients in every language read the patterns from the API's
 * description, so they have no `\p`, no `\u` and no lookaround, and each schema has only one. Where a pattern is
 * looser than the rule (U+2028 in a line, symbols in a tag), the rule decides.
 */

const CONTROLS = '\\x00-\\x1f\\x7f-\\x9f'
const VISIBLE = `[^\\s${CONTROLS}]`
const LINE = `^[^\\S${CONTROLS}]*${VISIBLE}[^${CONTROLS}]*$`
const TRIMMED_LINE = `^${VISIBLE}(?:[^${CONTROLS}]*${VISIBLE})?$`
/** The ASCII characters that no tag may contain. */
const NOT_IN_TAGS = '\\x00-\\x2a,;-@\\[-^`{-\\x7f'
const TAG_PATTERN = `^[^${NOT_IN_TAGS}+./:_-][^${NOT_IN_TAGS}]{0,63}$`

const NOT_BLANK = new RegExp(VISIBLE)

export function upTo(max: number) {
  return z
    .string()
    .refine((text) => isUpTo(max, text), {
      error: `expected at most ${max} characters`,
    })
    .meta({ maxLength: max })
}

/** A text that is more than white space and control characters; `what` names it in the error. */
export function notBlank(what: string, max?: number) {
  const text = max === undefined ? z.string() : upTo(max)
  return text.regex(NOT_BLANK, `expected ${what}, not only white space`)
}

export const planHash = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'expected the 64 hex digits of plan_sha256')
  .toLowerCase()

export function oneLine(max: number) {
  return z
    .string()
    .refine((text) => lineFault(text, max) === null, {
      error: ({ input }) => lineFault(String(input), max) ?? undefined,
    })
    .meta({ maxLength: max, pattern: LINE, description: 'One line, not only white space.' })
}

export function trimmedLine(max: number) {
  return oneLine(max)
    .refine((text) => text === text.trim(), 'expected no white space at the ends')
    .meta({
      maxLength: max,
      pattern: TRIMMED_LINE,
      description: 'One line, without white space at its ends.',
    })
}

export const tag = z
  .string()
  .refine((text) => TAG.test(text), `expected ${TAG_RULE}`)
  .meta({ pattern: TAG_PATTERN, description: `${capital(TAG_RULE)}.` })
