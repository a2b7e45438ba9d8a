import * as z from 'zod'
import { TAG, TAG_RULE } from '../../model/words.ts'

/**
 * Texts of requests whose rules are more than a length. The pattern of each is for the API's description, which
 * clients in every language read: so it has no `\p`, no `\u`, nothing that looks ahead or behind, and there is one
 * for each text. Where it says less than the rule (U+2028 in a line, what is no letter in a tag), the rule counts.
 */

const CONTROLS = '\\x00-\\x1f\\x7f-\\x9f'
const VISIBLE = `[^\\s${CONTROLS}]`
const LINE = `^[^\\S${CONTROLS}]*${VISIBLE}[^${CONTROLS}]*$`
const TRIMMED_LINE = `^${VISIBLE}(?:[^${CONTROLS}]*${VISIBLE})?$`
/** What of ASCII no tag has. */
const NOT_IN_TAGS = '\\x00-\\x2a,;-@\\[-^`{-\\x7f'
const TAG_PATTERN = `^[^${NOT_IN_TAGS}+./:_-][^${NOT_IN_TAGS}]{0,63}$`

/** A character that is no white space. */
export const WORDS = /\S/

/** Characters are counted as JSON Schema does it: one that takes two UTF-16 units is one. */
export function upTo(max: number) {
  return z
    .string()
    .refine((text) => text.length <= max || [...text].length <= max, {
      error: `expected at most ${max} characters`,
    })
    .meta({ maxLength: max })
}

export function oneLine(max: number) {
  return upTo(max)
    .refine((text) => WORDS.test(text), 'expected a text that says something')
    .refine(
      (text) => !/[\p{Cc}\u2028\u2029]/u.test(text),
      'expected one line without control characters',
    )
    .meta({ maxLength: max, pattern: LINE, description: 'One line that says something.' })
}

export function trimmedLine(max: number) {
  return oneLine(max)
    .refine((text) => text === text.trim(), 'expected no blanks at the ends')
    .meta({
      maxLength: max,
      pattern: TRIMMED_LINE,
      description: 'One line that says something, without blanks at its ends.',
    })
}

export const tag = z
  .string()
  .refine((text) => TAG.test(text), `expected ${TAG_RULE}`)
  .meta({ pattern: TAG_PATTERN, description: `As ${TAG_RULE}.` })
