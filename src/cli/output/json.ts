/** Characters that JSON does not escape: C1 controls, and characters that reverse or hide text. */
const HIDDEN = /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** One JSON document without characters that move the cursor of a terminal. */
export function jsonText(value: unknown, indent = 2): string {
  return `${escapeHidden(JSON.stringify(value, null, indent))}\n`
}

/** The same JSON with such characters as `\u` and four digits. */
export function escapeHidden(json: string): string {
  return json.replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
