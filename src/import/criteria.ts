const ITEM = /^\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?:#\d+\s+)?(\S.*)$/

/** The items of a list; null if the text has anything else. */
export function listItems(text: string): string[] | null {
  const lines = text.split(/\r\n|[\r\n]/).filter((line) => line.trim() !== '')
  const items = lines.map((line) => ITEM.exec(line)?.[1]?.trim())
  return items.every((item) => item !== undefined) ? items : null
}
