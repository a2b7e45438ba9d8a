import { closesFence, OPENING } from '../markdown/outline.ts'
import { listItems } from './criteria.ts'

/** The body of a Backlog.md task. */
export interface BacklogBody {
  /** Without the comments, and without lists that became criteria. */
  description: string
  criteria: string[]
  /** The lists that became criteria, as they are. */
  checklists: string
  comments: string
}

interface Block {
  heading: string
  lines: string[]
}

const MARKER = /^<!-- (?:SECTION:[A-Z_]+|AC|DOD):(?:BEGIN|END) -->\s*$/
const CHECKLIST = /^## (?:Acceptance Criteria|Definition of Done)(?: \(Optional\))?\s*$/i

export function readBacklogBody(text: string): BacklogBody {
  const { blocks, comments } = splitBody(text)
  const criteria: string[] = []
  const checklists: string[] = []
  const others: string[] = []
  for (const { heading, lines } of blocks) {
    const content = lines.join('\n').trim()
    const items = CHECKLIST.test(heading) ? listItems(content) : null
    if (items) {
      criteria.push(...items)
      if (items.length > 0) checklists.push(`${heading}\n\n${content}`)
    } else if (/^## Description\s*$/i.test(heading) && others.length === 0) others.push(content)
    else others.push(`${heading}\n\n${content}`.trim())
  }
  return {
    description: others.filter((each) => each !== '').join('\n\n'),
    criteria,
    checklists: checklists.join('\n\n'),
    comments: comments.join('\n').trim(),
  }
}

/** The parts under headings of level 2. Markers and headings in code blocks are text. */
function splitBody(text: string): { blocks: Block[]; comments: string[] } {
  const blocks: Block[] = [{ heading: '', lines: [] }]
  const comments: string[] = []
  let fence: string | null = null
  let isComment = false
  for (const line of text.split('\n')) {
    const block = blocks.at(-1)!
    if (fence !== null) {
      if (closesFence(line, fence)) fence = null
    } else if (/^<!-- COMMENTS:END -->\s*$/.test(line) && isComment) {
      isComment = false
      continue
    } else {
      fence = OPENING.exec(line)?.[1] ?? null
      if (/^<!-- COMMENTS:BEGIN -->\s*$/.test(line) && /^## Comments\s*$/i.test(block.heading)) {
        isComment = true
        continue
      }
      if (!isComment && MARKER.test(line)) continue
      if (!isComment && /^## \S/.test(line)) {
        blocks.push({ heading: line, lines: [] })
        continue
      }
    }
    if (isComment) comments.push(line)
    else block.lines.push(line)
  }
  const isEmpty = ({ heading, lines }: Block) =>
    lines.every((line) => line.trim() === '') && (heading === '' || /^## Comments/i.test(heading))
  return { blocks: blocks.filter((block) => !isEmpty(block)), comments }
}
