import { createWorkerPool } from '../../markdown/worker-pool.ts'
import type { PlanStep } from '../../model/plan-step.ts'
import { workerFile } from '../../package-files.ts'

export interface MarkdownOptions {
  /** The path of the case’s memory files, as `/case/<id>/memory/`. Without it, links to them lead nowhere. */
  base?: string
  /** How many levels headings go down, so that the page has one h1. */
  headingShift?: number
  /** Prefix of each id in the text. A page that shows several texts gives each its own. */
  idPrefix?: string
  /** Steps that will run; the fence that opens at the line of each is marked. */
  steps?: readonly MarkedStep[]
  /** Also shows what is usually invisible, such as addresses of links. For a text that somebody approves. */
  everything?: boolean
  /** Marks each block and list item with the lines of its source, as `data-lines="12-14"`. */
  lines?: boolean
  /** Places where the page inserts something into the HTML (`slotted`). */
  slots?: readonly Slot[]
}

export type MarkedStep = Omit<PlanStep, 'script'>

/** A place after the block or list item that has this line. */
export interface Slot {
  line: number
  /** Letters, digits and `-`. */
  name: string
}

/** A heading of a text, as it is on the page. */
export interface Heading {
  id: string
  text: string
  /** From 1 to 6, as in the source. */
  level: number
  line: number
}

export interface Rendered {
  html: string
  headings: Heading[]
  /** With `everything`: words of the text that the page still does not show. Should be empty. */
  hidden: string[]
}

const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024

const renderer = createWorkerPool<Rendered>(workerFile('rendering/markdown/markdown-worker.ts'), {
  weigh: (rendered) => (rendered?.html.length ?? 0) + 1,
  max: MAX_CACHED_CHARACTERS,
})

/**
 * Safe HTML of a markdown text. Nothing in it loads, runs or submits anything, and all of the text is visible: raw
 * HTML as text, images as links. Null if the text takes more than 2 s or is nested too deep: show it as plain text
 * then. Rejects if a step has no fence at its line.
 */
export async function renderMarkdown(
  text: string,
  options: MarkdownOptions = {},
): Promise<string | null> {
  if (isNestedTooDeep(text)) return null
  const rendered = await renderer.ask(JSON.stringify([text, options]))
  return rendered?.html ?? null
}

/** Like `renderMarkdown`, with option `everything`, and also returns the words that stay hidden. */
export async function renderEverything(
  text: string,
  options: MarkdownOptions = {},
): Promise<Rendered | null> {
  if (isNestedTooDeep(text)) return null
  return renderer.ask(JSON.stringify([text, { ...options, everything: true }]))
}

/**
 * Whether a line opens more than 100 nested quotes or lists: its HTML would take seconds, and no real text needs it. A
 * line of only dashes or stars is a rule.
 */
function isNestedTooDeep(text: string): boolean {
  const opening = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){100}.*$/gm
  return [...text.matchAll(opening)].some(([line]) => !/^[- \t]*$|^[* \t]*$/.test(line))
}
