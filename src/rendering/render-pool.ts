import { createWorkerPool } from '../markdown/worker-pool.ts'
import { workerFile } from '../package-files.ts'
import type { Language } from './highlight/languages.ts'
import type { Token } from './highlight/tokens.ts'
import type { MarkdownOptions, Rendered } from './markdown/options.ts'

/** What one worker does for all pages, because a hostile text can make it slow. */
export type RenderRequest = MarkdownRequest | SourceRequest
export type RenderAnswer = Rendered | Highlighted

interface MarkdownRequest {
  kind: 'markdown'
  text: string
  options: MarkdownOptions
}

interface SourceRequest {
  kind: 'sources'
  sources: readonly string[]
  language: Language
}

export interface Highlighted {
  /** The tokens of each line of each source; null for one that could not be highlighted. */
  sources: (Token[][] | null)[]
}

const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024
const CHARACTERS_OF_TOKEN = 30

const pool = createWorkerPool<RenderAnswer>(workerFile('rendering/render-worker.ts'), {
  weigh: sizeOf,
  max: MAX_CACHED_CHARACTERS,
})

function sizeOf(answer: RenderAnswer | null): number {
  if (answer === null) return 1
  if ('html' in answer) return answer.html.length + 1
  const tokens = answer.sources.flat(2).filter((token) => token !== null)
  return tokens.reduce((sum, { text }) => sum + text.length + CHARACTERS_OF_TOKEN, 1)
}

/** Null if the worker takes more than 2 s. */
export async function render(request: MarkdownRequest): Promise<Rendered | null>
export async function render(request: SourceRequest): Promise<Highlighted | null>
export async function render(request: RenderRequest): Promise<RenderAnswer | null> {
  return pool.ask(JSON.stringify(request))
}
