import { beginsErrors, markLines, onNumberClick, showFragment } from '../../client/log-view.ts'

/** Errors, links to lines and full screen for the output of a session. */
export function startOutputTools(): void {
  onNumberClick((line) => {
    showFragment(line.id)
    markLines([line])
  })
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest('button')
    if (button?.id === 'next-error') toNextError()
    if (button?.id === 'full-screen') setFullScreen(!isFullScreen())
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || !isFullScreen()) return
    if (document.querySelector('dialog[open]')) return
    setFullScreen(false)
  })
  addEventListener('hashchange', goToFragment)
  goToFragment()
}

/** Opens the step of a line, shows the line, and makes it the one that the address names. */
function reveal(line: HTMLElement): void {
  openFold(line)
  line.scrollIntoView({ block: 'center', behavior: 'instant' })
  markLines([line])
  if (line.id) showFragment(line.id)
}

function openFold(line: HTMLElement): void {
  const fold = line.closest('details')
  if (!fold || fold.open) return
  fold.open = true
  fold.classList.add('opened')
}

function toNextError(): void {
  const errors = [...document.querySelectorAll<HTMLElement>('#terminal .line')].filter(beginsErrors)
  const current = document.querySelector('#terminal .line.marked')
  const isAfter = (line: HTMLElement) =>
    !current || (current.compareDocumentPosition(line) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
  const next = errors.find(isAfter) ?? errors[0]
  const found = document.getElementById('output-found')
  if (found) {
    found.textContent = next
      ? `Error ${errors.indexOf(next) + 1} of ${errors.length}`
      : 'No line looks like an error'
  }
  if (next) reveal(next)
}

/** `#L1-test-3777` shows a line of a step. A line that is not on this page is in the full log. */
function goToFragment(): void {
  const fragment = decodeURIComponent(location.hash.slice(1))
  const [, pane, number] = /^L(.+)-(\d{1,9})$/.exec(fragment) ?? []
  if (pane === undefined) return
  const line = document.getElementById(fragment)
  if (line) {
    reveal(line)
    return
  }
  const full = document
    .getElementById(`pane-${pane}`)
    ?.querySelector<HTMLAnchorElement>('.left-out:not([hidden]) a')
  if (full) location.replace(`${full.href}?view=raw&line=${number}#L${number}`)
}

function isFullScreen(): boolean {
  return document.documentElement.classList.contains('output-full')
}

function setFullScreen(on: boolean): void {
  document.documentElement.classList.toggle('output-full', on)
  const button = document.getElementById('full-screen')
  button?.setAttribute('aria-pressed', String(on))
  if (!on) document.getElementById('output')?.scrollIntoView({ block: 'nearest' })
  document.getElementById('terminal')?.focus({ preventScroll: true })
}
