/** Converts the CRLF of web forms to LF; a single carriage return stays. */
export function plainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Joins lines and replaces characters that a single line cannot have. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()
}
