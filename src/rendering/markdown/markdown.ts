import { createWorkerPool } from '../../markdown/worker-pool.ts'
import type { PlanStep } from '../../model/plan-step.ts'
import { workerFile } from '../../package-files.ts'

export interface MarkdownOptions {
  /** Where the case's memory files are, as `/case/<id>/memory/`. Without it, links to them lead nowhere. */
  base?: string
  /** How many levels headings go down, so that the page has one h1. */
  headingShift?: number
  /** Before each id in the text; of use where a page shows several texts. */
  idPrefix?: string
  /** What will run: the fence that opens at the line of each is marked as this step. */
  steps?: readonly MarkedStep[]
  /** Also what a reader usually does not see, as addresses of links: for a text that somebody approves. */
  everything?: boolean
}

export type MarkedStep = Omit<PlanStep, 'script'>

export interface Rendered {
  html: string
  /** With `everything`: words of the text that are not in sight all the same; it should hold none. */
  hidden: string[]
}

const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024

const renderer = createWorkerPool<Rendered>(workerFile('rendering/markdown/markdown-worker.ts'), {
  weigh: (rendered) => (rendered?.html.length ?? 0) + 1,
  max: MAX_CACHED_CHARACTERS,
})

/**
 * Safe HTML of a markdown text. Nothing in it loads, runs or submits anything, whatever the text says,
 * and all of the text is in sight: raw HTML as text, images as links. Null when the text takes more
 * than 2 s or is nested too deep: show it as plain text then. Rejects when a step's fence is not at its line.
 */
export async function renderMarkdown(
  text: string,
  options: MarkdownOptions = {},
): Promise<string | null> {
  if (isNestedTooDeep(text)) return null
  const rendered = await renderer.ask(JSON.stringify([text, options]))
  return rendered?.html ?? null
}

/** The same with everything that the text says, and the words that stay hidden nevertheless. */
export async function renderEverything(
  text: string,
  options: MarkdownOptions = {},
): Promise<Rendered | null> {
  if (isNestedTooDeep(text)) return null
  return renderer.ask(JSON.stringify([text, { ...options, everything: true }]))
}

/**
 * Whether a line begins more than 100 quotes or lists, one in the other: its HTML would take seconds, and nobody
 * means it. A line of nothing but dashes or stars is a rule.
 */
function isNestedTooDeep(text: string): boolean {
  const opening = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){100}.*$/gm
  return [...text.matchAll(opening)].some(([line]) => !/^[- \t]*$|^[* \t]*$/.test(line))
}
