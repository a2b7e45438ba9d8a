import { decorate } from './decorate.ts'
import type { Patch } from './patch.ts'
import type { FileDiff } from './shape.ts'
import { buildTree, filesInOrder, type TreeFolder } from './tree.ts'

export type DiffLayout = 'unified' | 'split'

export interface ShownFile {
  file: FileDiff
  /** Outside the scope of the plan. */
  isOutside: boolean
  /**
   * `here`: the page has its lines. `auto`: the page would be too long, so the script loads them when the reader comes
   * near. `asked`: a large file, whose lines are loaded if the reader asks for them.
   */
  lines: 'here' | 'auto' | 'asked'
  lineCount: number
}

/** A diff, ready to be rendered. */
export interface ShownDiff {
  /** Those outside the scope first, then in the order of the tree. */
  files: ShownFile[]
  outside: ShownFile[]
  tree: TreeFolder<ShownFile>
  notes: string[]
  layout: DiffLayout
}

interface ShowOptions {
  layout: DiffLayout
  /** Names of files outside the scope of the plan. */
  outside?: ReadonlySet<string>
  /** How many lines the page has at most. */
  maxLines?: number
}

const MAX_LINES = 1200
/** A file with more lines is large. */
const LARGE_FILE = 400
const CHARACTERS_PER_LINE = 200

export async function showDiff(patch: Patch, options: ShowOptions): Promise<ShownDiff> {
  const { layout, outside = new Set(), maxLines = MAX_LINES } = options
  const isOutside = ({ file, from }: FileDiff) => outside.has(file) || outside.has(from ?? '')
  const pathOf = ({ file }: FileDiff) => file
  const first = filesInOrder(buildTree(patch.files.filter(isOutside), pathOf))
  const others = buildTree(
    patch.files.filter((file) => !isOutside(file)),
    pathOf,
  )
  let left = maxLines
  const files: ShownFile[] = []
  for (const file of [...first, ...filesInOrder(others)]) {
    const cost = costOf(file)
    const lines = cost > LARGE_FILE ? 'asked' : cost > left ? 'auto' : 'here'
    if (lines === 'here') left -= cost
    files.push({
      file: lines === 'here' ? await decorate(file) : file,
      isOutside: isOutside(file),
      lines,
      lineCount: countLines(file),
    })
  }
  return {
    files,
    outside: files.slice(0, first.length),
    tree: buildTree(files.slice(first.length), ({ file }) => file.file),
    notes: patch.notes,
    layout,
  }
}

/** One file with all of its lines; null if the patch does not have it. */
export async function showFile(patch: Patch, id: string): Promise<ShownFile | null> {
  const file = patch.files.find((each) => each.id === id)
  if (!file) return null
  return {
    file: await decorate(file),
    isOutside: false,
    lines: 'here',
    lineCount: countLines(file),
  }
}

function countLines({ hunks, unread = 0 }: FileDiff): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, unread)
}

/** Its lines; a long line counts as several. */
function costOf({ hunks, unread = 0 }: FileDiff): number {
  let cost = unread
  for (const { header, lines } of hunks) {
    cost += Math.ceil(header.length / CHARACTERS_PER_LINE)
    for (const { text } of lines) cost += 1 + Math.floor(text.length / CHARACTERS_PER_LINE)
  }
  return cost
}
