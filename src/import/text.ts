/** What a web form sends at the end of a line; alone a carriage return stays what it is. */
export function plainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** On one line, where a person wrote several, or something that no line has. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()
}
