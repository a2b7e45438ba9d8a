import { type AnsiLine, ansiLines } from './ansi.ts'
import { classesOf } from './ansi-look.ts'

/**
 * Pure. Terminal output as safe HTML, to stand in a `<pre>`: plain text as it is, a `<span>` for each
 * styled run, line ends as line ends, so that a copy of it is plain text.
 */
export function ansiHtml(text: string): string {
  return ansiLines(text).map(lineHtml).join('')
}

function lineHtml({ runs, wrapped }: AnsiLine): string {
  const html = runs.map(({ text, style }) => {
    const classes = classesOf(style).join(' ')
    return classes === '' ? escaped(text) : `<span class="${classes}">${escaped(text)}</span>`
  })
  return html.join('') + (wrapped ? '' : '\n')
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character]!)
}
