import { visibleText } from '../hidden-characters.ts'
import type { DiffHunk, DiffLine, FileDiff } from './shape.ts'

export interface DiffViewProps {
  files: readonly FileDiff[]
  /** Notes about the whole diff, such as that it was cut. */
  notes?: readonly string[]
  /** The most lines to show; a line of more than 200 characters counts as several. */
  maxLines?: number
  /** Files are open until this many lines are visible. */
  openLines?: number
}

const MAX_LINES = 2000
const OPEN_LINES = 400
/** A file with more changed lines than this starts folded. */
const MAX_LINES_OF_OPEN_FILE = 300
const CHARACTERS_PER_LINE = 200

/** Changed files, each in its `<details>`. Lines over the limit are left out and counted. */
export function DiffView({
  files,
  notes = [],
  maxLines = MAX_LINES,
  openLines = OPEN_LINES,
}: DiffViewProps) {
  let remaining = maxLines
  let openedLines = 0
  return (
    <div class="diff-files">
      {notes.map((note) => (
        <p class="diff-note">{note}</p>
      ))}
      {files.map((file) => {
        const { hunks, shown, cost, leftOut } = fitHunks(file.hunks, remaining)
        const open = shown + leftOut <= MAX_LINES_OF_OPEN_FILE && openedLines + shown <= openLines
        remaining -= cost
        if (open) openedLines += shown
        const omitted = leftOut + (file.unread ?? 0)
        return <FileView file={file} hunks={hunks} leftOut={omitted} open={open} />
      })}
    </div>
  )
}

/** A diff without a file, such as between two revisions of a plan. */
export function HunksView(props: { hunks: readonly DiffHunk[]; label: string; maxLines?: number }) {
  const { hunks, leftOut } = fitHunks(props.hunks, props.maxLines ?? MAX_LINES)
  return (
    <>
      <HunkTable hunks={hunks} label={props.label} />
      <LeftOut lines={leftOut} />
    </>
  )
}

function FileView(props: {
  file: FileDiff
  hunks: readonly DiffHunk[]
  leftOut: number
  open: boolean
}) {
  const { file, hunks, leftOut, open } = props
  const name = visibleText(file.file)
  const notes = file.binary
    ? ['A binary file: its content is not shown.', ...file.notes]
    : file.notes
  return (
    <details class="file" open={open} data-file={name}>
      <summary>
        <span class="file-name">
          {file.from !== null && <span class="file-from">{`${visibleText(file.from)} → `}</span>}
          {name}
        </span>{' '}
        {file.status !== 'changed' && (
          <>
            <span class={`file-status ${file.status}`}>{file.status}</span>{' '}
          </>
        )}
        <span class="additions">{`+${file.additions}`}</span>{' '}
        <span class="deletions">{`−${file.deletions}`}</span>
      </summary>
      {notes.map((note) => (
        <p class="diff-note">{note}</p>
      ))}
      {hunks.length > 0 && (
        <section class="diff-scroll" tabindex={0} aria-label={`Changes in ${name}`}>
          <HunkTable hunks={hunks} label={`Lines of ${name}`} />
        </section>
      )}
      <LeftOut lines={leftOut} />
    </details>
  )
}

function LeftOut({ lines }: { lines: number }) {
  if (lines === 0) return null
  const count = lines === 1 ? '1 more line is' : `${lines} more lines are`
  return <p class="diff-note left-out">{`${count} left out here.`}</p>
}

function HunkTable({ hunks, label }: { hunks: readonly DiffHunk[]; label: string }) {
  return (
    <table class="diff" aria-label={label}>
      {hunks.map(({ header, lines }) => (
        <tbody>
          <tr class="hunk">
            <td colspan={4}>{visibleText(header)}</td>
          </tr>
          {lines.map((line) => (
            <LineRow line={line} />
          ))}
        </tbody>
      ))}
    </table>
  )
}

const KINDS = { ' ': 'same', '+': 'added', '-': 'removed' }

function LineRow({ line }: { line: DiffLine }) {
  return (
    <tr class={KINDS[line.kind]}>
      <td class="line-number">{line.old}</td>
      <td class="line-number">{line.new}</td>
      <td class="sign">{line.kind}</td>
      <td class="code">
        {line.parts?.map(({ text, changed }) =>
          changed ? <mark>{visibleText(text)}</mark> : visibleText(text),
        ) ?? visibleText(line.text)}
        {line.noNewline && <span class="no-newline"> (no line end)</span>}
      </td>
    </tr>
  )
}

/** Returns the lines that fit into `maxCost`, and how many are left out. */
function fitHunks(
  hunks: readonly DiffHunk[],
  maxCost: number,
): { hunks: DiffHunk[]; shown: number; cost: number; leftOut: number } {
  let shown = 0
  let cost = 0
  const fitting: DiffHunk[] = []
  for (const { header, lines: all } of hunks) {
    const costBefore = cost
    const lines: DiffLine[] = []
    cost += lineCost(header) - 1
    for (const line of all) {
      if (cost + lineCost(line.text) > maxCost) break
      cost += lineCost(line.text)
      lines.push(line)
    }
    shown += lines.length
    if (lines.length > 0) fitting.push({ header, lines })
    else cost = costBefore
    if (lines.length < all.length) break
  }
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  return { hunks: fitting, shown, cost, leftOut: total - shown }
}

/**
 * How many lines a line counts as. A long line counts as several, but is shown whole or not at all, so that the count
 * of lines left out is exact.
 */
function lineCost(text: string): number {
  return 1 + Math.floor(text.length / CHARACTERS_PER_LINE)
}
