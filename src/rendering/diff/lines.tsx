import { visibleText } from '../hidden-characters.ts'
import { Code } from '../highlight/code-view.tsx'
import type { Token } from '../highlight/tokens.ts'
import type { DiffHunk, DiffLine, DiffPart } from './shape.ts'

interface LinesProps {
  hunks: readonly DiffHunk[]
  label: string
  /** The prefix of the anchors of lines; without it, line numbers are no links. */
  anchor?: string
}

/** Removed and added lines in one column. Runs in the browser, too. */
export function UnifiedLines({ hunks, label, anchor }: LinesProps) {
  return (
    <table class="diff" aria-label={label}>
      {hunks.map(({ header, lines }) => (
        <tbody>
          <HunkHeader header={header} columns={3} />
          {lines.map((line) => (
            <tr class={KINDS[line.kind]}>
              <NumberCell anchor={anchor} side="old" number={line.old} />
              <NumberCell anchor={anchor} side="new" number={line.new} />
              <CodeCell line={line} side={line.kind === '-' ? 'old' : 'new'} />
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}

/** The old text on the left, the new one on the right. */
export function SplitLines({ hunks, label, anchor }: LinesProps) {
  return (
    <table class="diff split" aria-label={label}>
      <colgroup>
        <col class="number-column" />
        <col />
        <col class="number-column" />
        <col />
      </colgroup>
      {hunks.map(({ header, lines }) => (
        <tbody>
          <HunkHeader header={header} columns={4} />
          {pairLines(lines).map(({ before, after }) => (
            <tr>
              <NumberCell anchor={anchor} side="old" number={before?.old ?? null} />
              <CodeCell line={before} side="old" isSplit />
              <NumberCell anchor={anchor} side="new" number={after?.new ?? null} />
              <CodeCell line={after} side="new" isSplit />
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}

const KINDS = {
  ' ': undefined,
  '+': 'added',
  '-': 'removed',
}

function HunkHeader({ header, columns }: { header: string; columns: number }) {
  return (
    <tr class="hunk">
      <td colspan={columns}>{visibleText(header)}</td>
    </tr>
  )
}

type Side = 'old' | 'new'

interface NumberCellProps {
  anchor: string | undefined
  side: Side
  number: number | null
}

function NumberCell({ anchor, side, number }: NumberCellProps) {
  if (number === null || anchor === undefined) return <td class="line-number">{number}</td>
  const id = `${anchor}-${side === 'old' ? 'L' : 'R'}${number}`
  return (
    <td class="line-number" id={id}>
      <a href={`#${id}`} tabindex={-1}>
        {number}
      </a>
    </td>
  )
}

interface CodeCellProps {
  line: DiffLine | undefined
  side: Side
  isSplit?: boolean
}

function CodeCell({ line, side, isSplit = false }: CodeCellProps) {
  if (!line) return <td class="code none" />
  const kind = isSplit ? KINDS[line.kind] : undefined
  return (
    <td
      class={kind ? `code ${kind}` : 'code'}
      data-side={side}
      data-line={side === 'old' ? line.old : line.new}
    >
      {piecesOf(line).map(({ changed, tokens }) =>
        changed ? (
          <mark>
            <Code tokens={tokens} />
          </mark>
        ) : (
          <Code tokens={tokens} />
        ),
      )}
      {line.noNewline && <span class="no-newline"> (no line end)</span>}
    </td>
  )
}

interface Piece {
  changed: boolean
  tokens: readonly Token[]
}

/** Pure. The line cut where a word begins or ends that changed, each piece in its colours. */
export function piecesOf({ text, parts, tokens }: DiffLine): Piece[] {
  const whole = visibleText(text)
  const pieces = visibleParts(parts ?? [], whole)
  const rest = tokens ? tokens.map((token) => ({ ...token })) : [{ text: whole }]
  return pieces.map(({ text, changed }) => {
    const taken: Token[] = []
    let left = text.length
    while (left > 0) {
      const token = rest[0]!
      if (token.text.length <= left) {
        taken.push(rest.shift()!)
      } else {
        taken.push({ ...token, text: token.text.slice(0, left) })
        token.text = token.text.slice(left)
      }
      left -= taken.at(-1)!.text.length
    }
    return { changed, tokens: taken }
  })
}

/** Cut in parts, a character may look different: the line is then one part. */
function visibleParts(parts: readonly DiffPart[], whole: string): DiffPart[] {
  const visible = parts.map(({ text, changed }) => ({ text: visibleText(text), changed }))
  const isSame = visible.map(({ text }) => text).join('') === whole
  return isSame ? visible : [{ text: whole, changed: false }]
}

interface LinePair {
  before?: DiffLine
  after?: DiffLine
}

/** Pure. The lines side by side: of each change, the removed lines beside the added ones. */
export function pairLines(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    const length = Math.max(removed.length, added.length)
    for (let at = 0; at < length; at++) {
      const [before, after] = [removed[at], added[at]]
      pairs.push({ ...(before && { before }), ...(after && { after }) })
    }
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === '+') added.push(line)
    else {
      if (line.kind === ' ' || added.length > 0) flush()
      if (line.kind === '-') removed.push(line)
      else pairs.push({ before: line, after: line })
    }
  }
  flush()
  return pairs
}
