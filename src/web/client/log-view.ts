import { remember, remembered } from './storage.ts'

/** What the output of a session and the page of a log have in common: wrapping, numbers that are links, a marked line. */

const WRAP = 'wrap'

/** Lines wrap unless the reader has turned that off, for all pages of this browser. */
export function startWrapping(): void {
  const show = (wraps: boolean) => {
    document.documentElement.classList.toggle('no-wrap', !wraps)
    document.getElementById('wrap')?.setAttribute('aria-pressed', String(wraps))
  }
  const showChosen = () => show(remembered(WRAP) !== 'off')
  showChosen()
  document.addEventListener('refreshed', showChosen)
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest('#wrap')
    if (!button) return
    const wraps = button.getAttribute('aria-pressed') !== 'true'
    remember(WRAP, wraps ? 'on' : 'off')
    show(wraps)
  })
}

/** A click on a number of these lines. The numbers are drawn by the style sheet: a click left of the text. */
export function onNumberClick(listener: (line: HTMLElement, event: MouseEvent) => void): void {
  document.addEventListener('click', (event) => {
    const line = (event.target as Element).closest<HTMLElement>('.log-lines .line[data-line]')
    if (!line || event.button !== 0) return
    const gutter = Number.parseFloat(getComputedStyle(line).paddingLeft)
    if (event.clientX - line.getBoundingClientRect().left > gutter) return
    listener(line, event)
  })
}

/** Marks these lines, and no others. */
export function markLines(lines: readonly Element[]): void {
  for (const line of document.querySelectorAll('.line.marked'))
    if (!lines.includes(line)) line.classList.remove('marked')
  for (const line of lines) line.classList.add('marked')
}

/** Whether a line is one of the errors that "Next error" stops at: the first of those that follow each other. */
export function beginsErrors(line: Element): boolean {
  return isError(line) && !(line.previousElementSibling && isError(line.previousElementSibling))
}

function isError(line: Element): boolean {
  return line.matches('.error, .suspect')
}

/** Changes the fragment of the address without a scroll or an entry in the history. */
export function showFragment(fragment: string): void {
  history.replaceState(history.state, '', `#${fragment}`)
}
