/** Patterns of ids and names. Each pattern has a rule that describes it to people. */

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Case types, proof types and provider names. */
export const SLUG = /^[a-z0-9][a-z0-9._-]{0,63}$/
export const SLUG_RULE = 'a word of lower-case letters, digits, ".", "_" and "-" (at most 64)'
export const TAG = /^[\p{L}\p{N}][\p{L}\p{N}._:/+-]{0,63}$/u
export const TAG_RULE = 'a word of letters, digits and ". _ : / + -" (at most 64)'
export const OUTCOME = /^[A-Z][A-Za-z0-9]{0,63}$/
export const OUTCOME_RULE = 'one PascalCase word, such as ConfirmedCodeBug'
export const TITLE_MAX = 500
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export const SESSION_FILE = /^([1-9][0-9]{0,5})\.md$/

/** Parses `500ms`, `120s`, `30m` or `2h` to milliseconds; null if invalid. */
export function parseDuration(text: string): number | null {
  const match = /^([1-9][0-9]{0,6})(ms|s|m|h)$/.exec(text)
  if (!match) return null
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 'ms' | 's' | 'm' | 'h']
  const milliseconds = Number(match[1]) * unit
  return milliseconds <= 86_400_000 ? milliseconds : null
}
export const DURATION_RULE = 'a duration up to 24h, such as 500ms, 90s, 10m or 2h'
