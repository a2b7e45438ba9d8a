import { type Line, linesOf, trimLines } from '../../markdown/lines.ts'
import { closesFence, headingText } from '../../markdown/outline.ts'
import type { PlanResult } from '../contract.ts'
import { clauseOf } from './agent-text.ts'

/** The prompt asks the agent to put its plan between these marks. */
export const PLAN_MARKS = { begin: '<!-- casefile:plan -->', end: '<!-- /casefile:plan -->' }

/**
 * Parses a text that should contain a plan: the last marked part, else the whole text. Headings `Hypothesis` and
 * `Plan` (levels 1 to 3) split it, and text before them is dropped; without them all of it is the plan. Null if no
 * plan is left.
 */
export function planOf(markdown: string): PlanResult | null {
  const text = withoutFence((marked(markdown) ?? markdown).toWellFormed())
  const parts = partsOf(text)
  const result = parts ?? { hypothesis: '', plan: text }
  const [hypothesis, plan] = [trimLines(result.hypothesis), trimLines(result.plan)]
  return plan === '' ? null : { hypothesis, plan }
}

/**
 * Splits the plan that an agent in a terminal presents. What stands before the headings stays in the plan, because the
 * agent carries out its whole text. Without a hypothesis, all of it is the plan.
 */
export function splitPresented(markdown: string): PlanResult {
  const parts = partsOf(markdown)
  const whole = { hypothesis: '', plan: markdown }
  if (!parts) return whole
  const { hypothesis: at, plan: planAt } = placesOf(markdown)
  const first = Math.min(at?.start ?? 0, planAt?.start ?? Number.POSITIVE_INFINITY)
  const [before, hypothesis, plan] = [markdown.slice(0, first), parts.hypothesis, parts.plan].map(
    trimLines,
  ) as [string, string, string]
  if (hypothesis === '' || plan === '') return whole
  return { hypothesis, plan: before === '' ? plan : `${before}\n\n${plan}` }
}

/**
 * Finds the plan among all messages of a turn: the marked text, else the last message with a heading `Plan`, else
 * the last one with a list or a fenced block. Other text and incomplete plans do not count.
 */
export function planAmong(messages: readonly string[]): PlanResult | null {
  const whole = messages.join('\n\n')
  if (marked(whole) !== null) return planOf(whole)
  if (isHalf(whole)) return null
  const last = [...messages].reverse()
  const chosen = last.find((message) => hasHeading(message)) ?? last.find(hasSteps)
  return chosen === undefined ? null : planOf(chosen)
}

/** The plan of an unknown program: its whole text, unless that is an error or an incomplete plan. */
export function planOfWords(text: string): PlanResult | null {
  if (marked(text) === null && (isHalf(text) || isErrorAlone(text))) return null
  return planOf(text)
}

/** Why an agent's messages have no plan, as a predicate for a sentence about the agent. */
export function noPlan(messages: readonly string[]): string {
  const whole = messages.join('\n\n')
  if (marked(whole) === null && isHalf(whole))
    return 'ended in the middle of its plan: the end mark is missing. Try again'
  const words = clauseOf(messages.findLast((message) => message.trim() !== '') ?? '')
  if (words === '') return 'ended without a plan, and said nothing. Try again'
  return `ended without a plan. It said: "${words}". Try again`
}

/** Whether a text consists only of an error. */
export function isErrorAlone(text: string): boolean {
  return ERROR.test(text) && marked(text) === null && !hasHeading(text) && !hasSteps(text)
}

const ERROR = /^\s*(?:\[?(?:api )?error\b\s*[:\]]|fatal:|\{\s*"(?:error"|type"\s*:\s*"error"))/i

/** Whether the plan's begin mark has no end mark. */
function isHalf(text: string): boolean {
  return new RegExp(`${PLAN_MARKS.begin}[ \\t]*(?:[\\r\\n]|$)`).test(text)
}

function hasHeading(message: string): boolean {
  return placesOf(withoutFence(message)).plan !== undefined
}

/** Whether a line begins a list item or a fenced block. */
function hasSteps(message: string): boolean {
  return /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+\S|`{3,}|~{3,})/m.test(message)
}

/** The last complete pair of marks with text between them: an agent may mention the marks earlier. */
function marked(text: string): string | null {
  for (let end = text.lastIndexOf(PLAN_MARKS.end); end >= 0; ) {
    const begin = text.lastIndexOf(PLAN_MARKS.begin, end)
    if (begin < 0) return null
    const inner = text.slice(begin + PLAN_MARKS.begin.length, end)
    if (/[\r\n]/.test(inner) && inner.trim() !== '') return inner
    end = begin === 0 ? -1 : text.lastIndexOf(PLAN_MARKS.end, begin - 1)
  }
  return null
}

/** If the whole answer is one markdown fence, returns its content, including inner fences. */
function withoutFence(text: string): string {
  const lines = [...linesOf(trimLines(text))]
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last || !/^(?:`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*$/i.test(first.text))
    return text
  const open: string[] = []
  for (const line of lines) {
    if (line !== first && open.length === 0) return text
    const fence = fenceOf(line.text)
    if (!fence) continue
    if (open.length > 0 && closesFence(line.text.trimStart(), open.at(-1)!)) open.pop()
    else open.push(fence)
  }
  if (open.length > 0) return text
  return trimLines(text).slice(first.next, last.start)
}

function fenceOf(line: string): string | null {
  return /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? null
}

interface Heading extends Line {
  name: string
  depth: number
}

/** Splits a text at the headings. Nothing after the first of them is lost. */
function partsOf(text: string): PlanResult | null {
  const { hypothesis, plan, headings } = placesOf(text)
  if (!hypothesis) return plan ? { hypothesis: '', plan: text.slice(plan.next) } : null
  if (plan && plan.start > hypothesis.start) {
    return {
      hypothesis: text.slice(hypothesis.next, plan.start),
      plan: text.slice(plan.next),
    }
  }
  const next = headings.find(
    ({ start, depth }) => start > hypothesis.start && depth <= hypothesis.depth,
  )
  const before = plan ? text.slice(plan.next, hypothesis.start) : ''
  const behind = next ? text.slice(next.start) : ''
  const parts = { hypothesis: text.slice(hypothesis.next, next?.start), plan: before + behind }
  return plan || parts.plan.trim() !== '' ? parts : null
}

interface PlanHeadings {
  headings: Heading[]
  hypothesis: Heading | undefined
  /** The first `Plan` heading after the hypothesis, else the first one: a title may also say Plan. */
  plan: Heading | undefined
}

function placesOf(text: string): PlanHeadings {
  const headings = headingsOf(text)
  const isNamed = (name: string) => (place: Heading) => place.name === name && place.depth <= 3
  const hypothesis = headings.find(isNamed('hypothesis'))
  const plans = headings.filter(isNamed('plan'))
  const plan = plans.find(({ start }) => hypothesis && start > hypothesis.start) ?? plans[0]
  return { headings, hypothesis, plan }
}

function headingsOf(text: string): Heading[] {
  const headings: Heading[] = []
  let open: string | null = null
  for (const line of linesOf(text)) {
    if (open !== null) {
      if (closesFence(line.text.trimStart(), open)) open = null
      continue
    }
    open = fenceOf(line.text)
    const hashes = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line.text)?.[1]
    if (hashes) headings.push({ ...line, depth: hashes.length, name: nameOf(line.text) })
  }
  return headings
}

/** A heading's text without the emphasis and colon that people add. */
function nameOf(heading: string): string {
  const text = headingText(heading)
  return text.length > 40 ? '' : text.replace(/^[*_]+|(?<![*_:])[*_:]+$/g, '').toLowerCase()
}
