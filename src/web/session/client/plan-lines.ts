/** Where the lines of a plan are on its page. */

export interface Lines {
  from: number
  to: number
}

/** A place in the plan: its lines, and the element that a form about them comes after, or at the end of. */
export interface SelectedLines {
  lines: Lines
  block: HTMLElement
}

export function planText(): HTMLElement | null {
  return document.querySelector<HTMLElement>('#plan-text[data-comments]')
}

/** How much of the width of the plan a step has to have. */
const MIN_WIDTH = 0.6

/** A step of the plan that the page does not show as a whole; null if it shows all, or only changes of the plan. */
export function hiddenStep(): string | null {
  const plan = document.getElementById('plan-text')
  const shown = [...(plan?.querySelectorAll<HTMLElement>('[data-step]') ?? [])]
  if (!plan || document.getElementById('read-whole')) return null
  const count = new Set(shown.map(({ dataset }) => dataset.step)).size
  if (count < Number(plan.dataset.steps))
    return `${Number(plan.dataset.steps) - count} of the steps`
  const hidden = shown.find((step) => !isWhole(step, plan))
  return hidden ? `step ${hidden.dataset.step}` : null
}

function isWhole(step: HTMLElement, plan: HTMLElement): boolean {
  const code = step.querySelector('pre') ?? step.closest('pre')
  return (
    step.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    step.clientWidth >= MIN_WIDTH * plan.clientWidth &&
    code !== null &&
    code.scrollWidth <= code.clientWidth + 1 &&
    code.scrollHeight <= code.clientHeight + 1 &&
    step.scrollHeight <= step.clientHeight + 1
  )
}

/** The source of the plan that the page shows, and its hash. */
export function presentPlan(): { source: string; hash: string } {
  const source = document.querySelector<HTMLTextAreaElement>('#edit-plan')?.defaultValue ?? ''
  const hash = document.querySelector('#approve-form input[name=plan_sha256]')
  return { source, hash: hash?.getAttribute('value') ?? '' }
}

export function linesOf(element: HTMLElement): Lines {
  const [from = 1, to = from] = (element.dataset.lines ?? '').split('-').map(Number)
  return { from, to }
}

/** The lines of what is selected; null if nothing in the plan is. */
export function selectedPlace(): SelectedLines | null {
  const selection = getSelection()
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  const start = placeOf(range.startContainer, range.startOffset)
  const end = placeOf(range.endContainer, range.endOffset)
  if (!start || !end) return null
  const lines = { from: start.lines.from, to: Math.max(start.lines.to, end.lines.to) }
  return { lines, block: end.block }
}

/** The place under a point of the window. */
export function placeAt(x: number, y: number): SelectedLines | null {
  const target = document.elementFromPoint(x, y)
  if (!target || !planText()?.contains(target) || target.closest('.comment, form')) return null
  const caret = caretAt(x, y)
  const isInside = caret !== null && target.contains(caret.node)
  return isInside ? placeOf(caret.node, caret.offset) : placeOf(target, 0)
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y)
    return found && { node: found.offsetNode, offset: found.offset }
  }
  // Safari
  const range = document.caretRangeFromPoint?.(x, y)
  return range ? { node: range.startContainer, offset: range.startOffset } : null
}

/** The line of a position in the document; in code each line is a place, in other text each block. */
export function placeOf(node: Node, offset: number): SelectedLines | null {
  const element = node instanceof HTMLElement ? node : node.parentElement
  if (!element || !planText()?.contains(element)) return null
  const numbered = element.closest<HTMLElement>('.source-line')
  if (numbered) {
    const line = Number(numbered.id.slice(1))
    return { lines: { from: line, to: line }, block: numbered }
  }
  const marked = element.closest<HTMLElement>('[data-lines]')
  if (!marked) return null
  const block = marked.closest<HTMLElement>('figure.step, .table-scroll') ?? marked
  const code = element.closest('pre')
  if (!code) return { lines: linesOf(marked), block }
  const line = codeLine(code, linesOf(marked), node, offset)
  return { lines: { from: line, to: line }, block }
}

/** A fence adds a line before its code. */
function codeLine(code: HTMLElement, block: Lines, node: Node, offset: number): number {
  const count = (code.textContent ?? '').replace(/\n$/, '').split('\n').length
  const isFenced = block.to - block.from + 1 > count
  const before = document.createRange()
  before.setStart(code, 0)
  before.setEnd(node, Math.min(offset, node.textContent?.length ?? 0))
  const index = before.toString().split('\n').length - 1
  return Math.min(block.to, block.from + (isFenced ? 1 : 0) + Math.min(index, count - 1))
}

/** Where a form about the place goes: into a list item, else after the block. */
export function insertAt({ block }: SelectedLines, form: HTMLElement): void {
  if (block.tagName === 'LI') block.append(form)
  else block.after(form)
}

export function linesText({ from, to }: Lines): string {
  return from === to ? `line ${from}` : `lines ${from}–${to}`
}
