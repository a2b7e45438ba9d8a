import { render } from '../render-pool.ts'
import type { MarkdownOptions, Rendered } from './options.ts'

/**
 * Safe HTML of a markdown text. Nothing in it loads, runs or submits anything, and all of the text is visible: raw
 * HTML as text, images as links. Null if the text takes more than 2 s or is nested too deep: show it as plain text
 * then. Rejects if a step has no fence at its line.
 */
export async function renderMarkdown(
  text: string,
  options: MarkdownOptions = {},
): Promise<string | null> {
  return (await renderText(text, options))?.html ?? null
}

/** Like `renderMarkdown`, with option `everything`, and also returns the words that stay hidden. */
export async function renderEverything(
  text: string,
  options: MarkdownOptions = {},
): Promise<Rendered | null> {
  return renderText(text, { ...options, everything: true })
}

const FENCE = /`{3}|~{3}/

/** Like `renderMarkdown`, with the headings. Without colours in code if the text takes too long with them. */
export async function renderText(text: string, options: MarkdownOptions): Promise<Rendered | null> {
  if (isNestedTooDeep(text)) return null
  const rendered = await render({
    kind: 'markdown',
    text,
    options,
  })
  if (rendered !== null || !FENCE.test(text)) return rendered
  return render({
    kind: 'markdown',
    text,
    options: { ...options, plainCode: true },
  })
}

/**
 * Whether a line opens more than 100 nested quotes or lists: its HTML would take seconds, and no real text needs it. A
 * line of only dashes or stars is a rule.
 */
function isNestedTooDeep(text: string): boolean {
  const opening = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){100}.*$/gm
  return [...text.matchAll(opening)].some(([line]) => !/^[- \t]*$|^[* \t]*$/.test(line))
}
