import { UnifiedLines } from './lines.tsx'
import type { DiffHunk } from './shape.ts'

const MAX_LINES = 2000
const CHARACTERS_PER_LINE = 200

interface HunksViewProps {
  hunks: readonly DiffHunk[]
  label: string
  /** The most lines to show; a line of more than 200 characters counts as several. */
  maxLines?: number
}

/** A diff without a file, such as between two revisions of a plan. Runs in the browser, too. */
export function HunksView({ hunks: all, label, maxLines = MAX_LINES }: HunksViewProps) {
  const { hunks, leftOut } = fitHunks(all, maxLines)
  return (
    <>
      <UnifiedLines hunks={hunks} label={label} />
      {leftOut > 0 && <LeftOut lines={leftOut} />}
    </>
  )
}

export function LeftOut({ lines }: { lines: number }) {
  const count = lines === 1 ? '1 more line is' : `${lines.toLocaleString('en-US')} more lines are`
  return <p class="diff-note left-out">{`${count} left out here.`}</p>
}

/** The lines that fit. A long line is shown whole or not at all, so that the count of those left out is exact. */
function fitHunks(
  hunks: readonly DiffHunk[],
  maxLines: number,
): { hunks: DiffHunk[]; leftOut: number } {
  const fitting: DiffHunk[] = []
  let shown = 0
  let left = maxLines
  for (const { header, lines: all } of hunks) {
    let count = 0
    while (count < all.length && lineCost(all[count]!.text) <= left) {
      left -= lineCost(all[count]!.text)
      count++
    }
    if (count > 0) fitting.push({ header, lines: all.slice(0, count) })
    shown += count
    if (count < all.length) break
  }
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  return { hunks: fitting, leftOut: total - shown }
}

function lineCost(text: string): number {
  return 1 + Math.floor(text.length / CHARACTERS_PER_LINE)
}
