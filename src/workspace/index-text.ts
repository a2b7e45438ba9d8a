import { yieldIfBusy } from '../files/yielding.ts'
import { type IndexRow, indexLine, indexTableTop, indexTop } from '../markdown/case-index.ts'
import { CASE_STATES, type CaseState } from '../model/case-state.ts'
import { byCreation } from '../model/proof.ts'

/** So many rows are sorted, or lines put together, without a pause. */
const RUN = 200

/** The bytes of `index.md`. The rows come in any order and give the same bytes in each. */
export async function indexText(
  ids: readonly string[],
  row: (id: string) => IndexRow | undefined,
): Promise<Buffer> {
  const tables = new Map<CaseState, IndexRow[]>(CASE_STATES.map((state) => [state, []]))
  let cases = 0
  let needing = 0
  let withProblems = 0
  for (const id of ids) {
    const found = row(id)
    if (found) {
      tables.get(found.state)?.push(found)
      cases++
      if (found.needs !== '') needing++
      if (found.problems > 0) withProblems++
    }
    await yieldIfBusy()
  }
  const pieces = [Buffer.from(indexTop(cases, needing, withProblems))]
  for (const [state, rows] of tables) {
    if (rows.length === 0) continue
    pieces.push(Buffer.from(indexTableTop(state, rows.length)))
    const sorted = await newestFirst(rows)
    for (let at = 0; at < sorted.length; at += RUN) {
      pieces.push(
        Buffer.from(
          sorted
            .slice(at, at + RUN)
            .map(indexLine)
            .join(''),
        ),
      )
      await yieldIfBusy()
    }
  }
  return Buffer.concat(pieces)
}

/** Sorted in runs, which are merged: all at once would keep requests waiting. */
async function newestFirst(rows: readonly IndexRow[]): Promise<IndexRow[]> {
  let runs: IndexRow[][] = []
  for (let at = 0; at < rows.length; at += RUN) {
    runs.push(rows.slice(at, at + RUN).sort((a, b) => byCreation(b, a)))
    await yieldIfBusy()
  }
  while (runs.length > 1) {
    const merged: IndexRow[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await mergedRuns(runs[at]!, runs[at + 1] ?? []))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedRuns(one: IndexRow[], other: IndexRow[]): Promise<IndexRow[]> {
  const merged: IndexRow[] = []
  let [i, j] = [0, 0]
  while (i < one.length && j < other.length) {
    merged.push(byCreation(one[i]!, other[j]!) > 0 ? one[i++]! : other[j++]!)
    if (merged.length % RUN === 0) await yieldIfBusy()
  }
  while (i < one.length) merged.push(one[i++]!)
  while (j < other.length) merged.push(other[j++]!)
  return merged
}
