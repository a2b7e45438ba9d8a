import type { Code, Nodes, Root, RootContent } from 'mdast'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { type Line, linesOf } from './lines.ts'

/** What the service needs to know about a markdown text, as plain values that can cross a worker boundary. */
export interface Parsed {
  headings: ParsedHeading[]
  items: ParsedItem[]
  /** Top-level paragraphs and rows of tables. */
  lines: ParsedLines[]
  fences: ParsedFence[]
  /** The first and last line of each block of code, indented or fenced, and of each HTML comment. */
  blocks: { from: number; to: number }[]
  /** Where each list at top level begins. */
  topLevelLists: number[]
}

export interface ParsedHeading {
  depth: number
  /** ATX (`## x`), not underlined. */
  atx: boolean
  start: number
  /** Offset after the heading's line ending. */
  next: number
}

/** An item of any list, with the source of its first paragraph. */
export interface ParsedItem {
  /** Null without a checkbox. */
  checked: boolean | null
  /** The text after the checkbox. */
  text: string
  /** Whether it is in a block quote. */
  quoted: boolean
  start: number
  end: number
}

export interface ParsedLines {
  text: string
  start: number
}

export interface ParsedFence {
  lang: string | null
  meta: string | null
  value: string
  /** 1-based line of the opening fence. */
  line: number
  topLevel: boolean
  /** Without a closing fence, it ends with what it is in: the list item, or the whole text. */
  closed: boolean
}

const processor = remark().use(remarkGfm)

/**
 * Parses with remark. Slow (about 5 ms per KB), and very slow on hostile input. Call it only in a
 * worker (`parser-pool.ts`), and in the tests that compare the fast paths with it.
 */
export function parseMarkdown(text: string): Parsed {
  // remark drops the BOM, which would shift the offsets by one
  const bom = text.startsWith('\ufeff') ? 1 : 0
  const root = processor.parse(text.slice(bom)) as Root
  const at = (offset: number | undefined) => (offset ?? 0) + bom
  const parsed: Parsed = {
    headings: [],
    items: [],
    lines: [],
    fences: [],
    blocks: [],
    topLevelLists: [],
  }
  const lines = [...linesOf(text, bom)]
  for (const node of root.children) {
    if (node.type === 'heading') parsed.headings.push(headingOf(text, node, at))
    if (node.type === 'list') parsed.topLevelLists.push(at(node.position?.start.offset))
    if (node.type === 'paragraph' || node.type === 'table') {
      const start = at(node.position?.start.offset)
      parsed.lines.push({ text: text.slice(start, at(node.position?.end.offset)), start })
    }
  }
  walk(root, { topLevel: true, quoted: false }, (node, { topLevel, quoted }) => {
    if (node.type === 'code' || (node.type === 'html' && node.value.startsWith('<!--'))) {
      const { start, end } = node.position!
      parsed.blocks.push({ from: start.line, to: end.line })
    }
    if (node.type === 'code' && isFenced(text, at(node.position?.start.offset))) {
      parsed.fences.push({
        lang: node.lang ?? null,
        meta: node.meta ?? null,
        value: node.value,
        line: node.position!.start.line,
        topLevel,
        closed: isClosed(node, lines),
      })
    }
    if (node.type === 'listItem') {
      const first = node.children[0]
      const start = at(node.position?.start.offset)
      const inner = first?.type === 'paragraph' ? first.position : undefined
      const source = inner ? text.slice(at(inner.start.offset), at(inner.end.offset)) : ''
      const checked = node.checked ?? null
      parsed.items.push({
        checked,
        quoted,
        text: checked === null ? source : source.replace(/^\[[ xX\t]\][ \t]*/, ''),
        start,
        end: at(node.position?.end.offset),
      })
    }
  })
  return parsed
}

function headingOf(
  text: string,
  node: Extract<RootContent, { type: 'heading' }>,
  at: (offset: number | undefined) => number,
): ParsedHeading {
  const start = at(node.position?.start.offset)
  const end = at(node.position?.end.offset)
  const last = linesOf(text, end).next().value
  return {
    depth: node.depth,
    atx: text[start] === '#' && !/[\r\n]/.test(text.slice(start, end)),
    start,
    next: last ? last.next : text.length,
  }
}

function isFenced(text: string, offset: number): boolean {
  return text.startsWith('```', offset) || text.startsWith('~~~', offset)
}

/** The last line may look like a closing fence and be the last of the code: so the lines are counted. */
function isClosed({ value, position }: Code, lines: readonly Line[]): boolean {
  const { start, end } = position!
  const opening = lines[start.line - 1]!.text.slice(start.column - 1)
  const mark = /^(?:`+|~+)/.exec(opening)?.[0] ?? ''
  const last = (lines[end.line - 1]?.text ?? '').replace(/^[ \t>]+/, '')
  const closing = /^(`+|~+)[ \t]*$/.exec(last)?.[1] ?? ''
  const ofCode = value === '' ? 0 : [...linesOf(`${value}\n`)].length
  return end.line - start.line > ofCode && closing !== '' && closing.startsWith(mark)
}

interface Nesting {
  topLevel: boolean
  quoted: boolean
}

function walk(node: Nodes, place: Nesting, visit: (node: Nodes, place: Nesting) => void): void {
  if (!('children' in node)) return
  for (const child of node.children) {
    visit(child, place)
    walk(child, { topLevel: false, quoted: place.quoted || child.type === 'blockquote' }, visit)
  }
}
