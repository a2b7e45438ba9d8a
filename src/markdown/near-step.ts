import type { StepError } from '../model/plan-step.ts'
import { linesOf } from './lines.ts'
import type { Parsed, ParsedFence } from './parse.ts'

/** Whether a fence is a step: `run` is the first word after its language. */
export function isStep({ meta }: ParsedFence): boolean {
  return /^run(?:\s|$)/.test(meta ?? '')
}

/** Whether a text has a fence, or a line that looks like the opening of a step. */
export function mayHaveSteps(text: string): boolean {
  return /`{3}|~{3}/.test(text) || stepOpenings(text).length > 0
}

/** Reports what looks like a step but would silently not run: a fence with similar words, a line that opens no fence. */
export function nearSteps(text: string, { fences, blocks }: Parsed): StepError[] {
  const named = fences.flatMap((fence) => {
    const info = [fence.lang, fence.meta].filter((part) => part !== null).join(' ')
    return !isStep(fence) && isNearStep(info)
      ? [{ line: fence.line, message: `"${info}" is nearly a step: ${REMEDY}` }]
      : []
  })
  const outside = stepOpenings(text)
    .filter((line) => !blocks.some(({ from, to }) => from <= line && line <= to))
    .map((line) => ({ line, message: NO_FENCE }))
  return [...named, ...outside]
}

const REMEDY = 'write ```sh run, in small letters, and the keys after it; or choose other words'
const NO_FENCE =
  'this line looks like the start of a step, but it opens no code block: write ```sh run on a line of its own, with a blank line above it and at most three spaces before it'

/** Words for programs that run code: with `run`, they mean a step, even where no step can have that language. */
const LANGUAGE =
  'sh|bash|js|shell|zsh|dash|ksh|fish|console|terminal|cmd|bat|powershell|pwsh|javascript|node|mjs|ts|typescript|py|python'
const RUNS_CODE = new RegExp(`^(?:${LANGUAGE})$`)
const JOINED = new RegExp(`^(?:${LANGUAGE})[_-]?run$`)
/** `run` with one letter wrong, missing or too many, or with two letters exchanged. Not `bun`. */
const NEARLY_RUN = /^(?:un|[etdf45]un|r[^u\d]?n|ru[^n\d]?|.run|r.un|ru.n|run.|urn|rnu)$/u
const STEP_KEY = /^(?:id|timeout|cwd|expect|continue|proof|baseline)=/i

function isNearStep(info: string): boolean {
  const words = plainWords(info)
  const [language = '', next = ''] = words
  if (words.includes('run') || JOINED.test(language)) return true
  if (!RUNS_CODE.test(language)) return false
  return NEARLY_RUN.test(next) || info.split(/[\s{},]+/).some((word) => STEP_KEY.test(word))
}

/** Lower case, without what people put around words: braces, commas, quoted values, invisible characters. */
function plainWords(info: string): string[] {
  return info
    .normalize('NFKC')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, '')
    .replace(/=\s*(?:"[^"]*"|'[^']*')/g, '=')
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter((word) => word !== '')
}

/** At least two marks, also those that keyboards and word processors make of backticks. */
const MARKS =
  /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:`{2,}|~{2,}|["'\u00b4\u2018-\u201f\uff40]{2,})/
const STEP_WORDS = new RegExp(
  `^[ \\t]*\\{?\\.?(?:${LANGUAGE})[\\s.,:_-]+\\.?run(?![\\w-])[^\`]*$`,
  'i',
)

/** The 1-based lines that look like the opening of a step, whether or not they open a fence. */
function stepOpenings(text: string): number[] {
  return [...linesOf(text)].flatMap(({ text: line }, index) => {
    const marks = MARKS.exec(line)?.[0]
    return marks !== undefined && STEP_WORDS.test(line.slice(marks.length)) ? [index + 1] : []
  })
}
