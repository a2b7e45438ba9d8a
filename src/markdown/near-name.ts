/** Reserved names are short, so longer headings are skipped. */
const MAX_LENGTH = 80

/** Normalizes a heading: case, colon, emphasis, spacing. */
export function plainName(text: string): string {
  if (text.length > MAX_LENGTH) return text
  return text
    .toLowerCase()
    .replace(/[\s_*`:.#-]+/g, ' ')
    .trim()
}

/**
 * Returns the reserved name that a heading of this depth means, and whether it is written exactly so; null for other
 * headings.
 */
export function reservedName(
  depth: number,
  text: string,
  names: readonly string[],
): { name: string; exact: boolean } | null {
  if (depth === 2 && names.includes(text)) return { name: text, exact: true }
  if (depth < 2) return null // the title of the file
  const plain = plainName(text)
  const name = names.find((each) => plainName(each) === plain)
  return name === undefined ? null : { name, exact: false }
}
