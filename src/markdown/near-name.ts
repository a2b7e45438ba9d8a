/** Reserved names are short: a longer heading is none, and is not looked at any further. */
const MAX_LENGTH = 80

/** What a heading says without what people write in different ways: case, colon, emphasis, spacing. */
export function plainName(text: string): string {
  if (text.length > MAX_LENGTH) return text
  return text
    .toLowerCase()
    .replace(/[\s_*`:.#-]+/g, ' ')
    .trim()
}

/** The reserved name that a heading of this depth means, and whether it is written exactly so; null for any other. */
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
