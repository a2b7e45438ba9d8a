/** Lines with a meaning in TAP, at the margin or one level below. */
const LINES =
  /^(?:(?<version>TAP version 1[34])|1\.\.(?<plan>\d{1,9})|(?<point>(?:not )?ok)(?<number> \d+)?|(?<bail>Bail out!)|(?<below># Subtest: | {4}(?:# Subtest: |(?:not )?ok |1\.\.))|(?<block> +---)|(?<blockEnd> +\.\.\.))(?=\s|$|(?<=[ .]))/gm

/**
 * Splits a text into its TAP reports. The parser reads only one, and ignores everything after a plan at its end. A
 * report continues until it has the planned number of tests.
 */
export function tapDocuments(text: string): string[] {
  const documents: string[] = []
  let start = 0
  let planned: number | null = null
  let points = 0
  let isBlock = false
  const cut = (at: number) => {
    documents.push(text.slice(start, at))
    start = at
    planned = null
    points = 0
  }
  for (const match of text.matchAll(LINES)) {
    const { version, plan, point, number, bail, below, block } = match.groups!
    if (isBlock || block) {
      isBlock = match.groups!.blockEnd === undefined
      continue
    }
    const isOver = planned !== null && points >= planned
    const isNext = version ?? bail ?? below ?? number ?? (point === 'not ok' ? point : undefined)
    if (plan === undefined ? isOver && isNext !== undefined : planned !== null) cut(match.index)
    if (plan !== undefined) planned = Number(plan)
    if (point !== undefined) points++
  }
  documents.push(text.slice(start))
  return documents
}
