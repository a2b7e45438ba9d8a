import { linesOf } from './lines.ts'
import { parsedMarkdown } from './parser-pool.ts'

/** A reserved heading: its own line, and where the text below it begins. */
export interface Heading {
  name: string
  start: number
  next: number
}

/**
 * The first top-level `## <name>` heading of each reserved name, in the order of the text; null when
 * the text is too complex to parse. A second heading of a name is text of the section it stands in.
 */
export async function outline(body: string, names: readonly string[]): Promise<Heading[] | null> {
  return shortOutline(body, names) ?? parsedOutline(body, names)
}

/** A reserved name as an ATX heading of depth 2, closing hashes allowed. */
const RESERVED = /^( {0,3})##[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/
/** A fence that opens inside a list or quote, or indented: only the parser knows whether it is top-level. */
const INNER_FENCE = /^(?:[ \t]+|[ \t]*(?:>|[*+-]|\d{1,9}[.)])[ \t>*+\-\d.)]*)(?:`{3}|~{3})/
const HTML_START = /^[ \t>*+\-\d.)]*<[A-Za-z/!?]/
const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})/

/**
 * The outline without a parser, or null where only the parser can be sure. Sure are texts in which
 * each fence opens in column 0 and no line starts with HTML: a fence or heading in column 0 ends any
 * paragraph, list or quote before it, so only an open fence can hide it (CommonMark 0.31, §4.2, §4.5).
 */
export function shortOutline(body: string, names: readonly string[]): Heading[] | null {
  const found: Heading[] = []
  let fence: RegExp | null = null
  if (!/^ {0,3}##[ \t]/m.test(body)) return found
  for (const line of linesOf(body)) {
    if (fence) {
      if (fence.test(line.text)) fence = null
      continue
    }
    const opening = OPENING.exec(line.text)
    if (opening) {
      fence = new RegExp(`^ {0,3}\\${opening[1]![0]}{${opening[1]!.length},}[ \\t]*$`)
      continue
    }
    if (INNER_FENCE.test(line.text) || HTML_START.test(line.text)) return null
    const heading = RESERVED.exec(line.text)
    if (!heading || !names.includes(heading[2]!)) continue
    if (heading[1] !== '') return null // may belong to a list item
    if (found.some((other) => other.name === heading[2])) continue
    found.push({ name: heading[2]!, start: line.start, next: line.next })
  }
  return found
}

/** The same by remark. */
export async function parsedOutline(
  body: string,
  names: readonly string[],
): Promise<Heading[] | null> {
  const parsed = await parsedMarkdown(body)
  if (!parsed) return null
  const found: Heading[] = []
  for (const { depth, atx, start, next } of parsed.headings) {
    if (depth !== 2 || !atx) continue
    const line = linesOf(body, start).next().value!
    const name = RESERVED.exec(line.text)?.[2]
    if (name === undefined || !names.includes(name)) continue
    if (found.some((other) => other.name === name)) continue
    const lineStart = body.lastIndexOf('\n', start - 1) + 1
    found.push({ name, start: Math.max(lineStart, body.lastIndexOf('\r', start - 1) + 1), next })
  }
  return found
}
