import { sizeText } from '../../model/amounts.ts'
import { AnsiBox } from '../shell/text-box.tsx'

/** A longer content is shown in part: its beginning, and its end, where reports sum up. */
const [FIRST, LAST] = [64 * 1024, 32 * 1024]

interface TextContentProps {
  content: string
  /** The URL of the content as plain text. */
  plainText: string
}

/** The text of a proof, or of a log, on its own page. */
export function TextContent({ content, plainText }: TextContentProps) {
  if (content.length <= FIRST + LAST) return <AnsiBox label="Content" text={content} />
  const left = Buffer.byteLength(content.slice(FIRST, -LAST))
  return (
    <>
      <AnsiBox label="Beginning of the content" text={content.slice(0, FIRST).toWellFormed()} />
      <p class="notice">
        {sizeText(left)} in the middle are not shown. <a href={plainText}>Show all</a> as plain
        text.
      </p>
      <AnsiBox label="End of the content" text={content.slice(-LAST).toWellFormed()} />
    </>
  )
}

/** The first and last lines of a text: the end of a report matters most. */
export interface TextExcerpt {
  first: string
  /** The number of lines left out between them. */
  left: number
  last: string
  isComplete: boolean
}

const MAX_LINES = 14
const [FIRST_LINES, LAST_LINES] = [6, 6]
const MAX_LINE = 240

/** Makes no string for each line, as there may be millions. */
export function cutToExcerpt(text: string): TextExcerpt {
  const whole = text.trimEnd()
  let count = 1
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) count++
  if (count <= MAX_LINES) {
    const isComplete = linesOf(whole).every((line) => line.length <= MAX_LINE)
    return { first: cutLines(whole), left: 0, last: '', isComplete }
  }
  let [end, start] = [-1, whole.length]
  for (let n = 0; n < FIRST_LINES; n++) end = whole.indexOf('\n', end + 1)
  for (let n = 0; n < LAST_LINES; n++) start = whole.lastIndexOf('\n', start - 1)
  return {
    first: cutLines(whole.slice(0, end)),
    left: count - FIRST_LINES - LAST_LINES,
    last: cutLines(whole.slice(start + 1)),
    isComplete: false,
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/\r$/, ''))
}

function cutLines(text: string): string {
  const cut = (line: string) => `${line.slice(0, MAX_LINE).toWellFormed()} …`
  return linesOf(text)
    .map((line) => (line.length > MAX_LINE ? cut(line) : line))
    .join('\n')
}
