import { beginsErrors, markLines, onNumberClick, showFragment } from '../client/log-view.ts'

/** The page of a log: `#L3777` and `#L10-L20` mark lines, also if they are on another page of the log. */
export function start(): void {
  if (!document.getElementById('log-lines')) return
  let first: number | null = null

  onNumberClick((line, event) => {
    const number = Number(line.dataset.line)
    if (event.shiftKey && first !== null && first !== number) {
      getSelection()?.removeAllRanges()
      const [from, to] = first < number ? [first, number] : [number, first]
      showFragment(`L${from}-L${to}`)
    } else {
      first = number
      showFragment(`L${number}`)
    }
    markRange()
  })
  addEventListener('hashchange', goTo)

  const link = document.getElementById('next-error') as HTMLAnchorElement | null
  link?.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    const next = errorAfter(marked() ?? Number(lines()[0]?.dataset.line ?? 1) - 1)
    if (!next) return // the service looks on the pages that follow
    event.preventDefault()
    showFragment(next.id)
    goTo()
  })

  const { searchParams } = new URL(location.href)
  const asked = searchParams.get('line')
  if (location.hash === '' && asked && document.getElementById(`L${asked}`))
    showFragment(`L${asked}`)
  goTo()

  function goTo(): void {
    const range = readRange()
    if (!range) return
    first = range.from
    const line = document.getElementById(`L${range.from}`)
    if (line) {
      markRange()
      line.scrollIntoView({ block: 'center', behavior: 'instant' })
    } else if (asked !== String(range.from)) {
      const address = new URL(location.href)
      address.search = `?view=raw&line=${range.from}`
      location.replace(address)
    }
  }

  function markRange(): void {
    const range = readRange()
    const inside = range
      ? lines().filter(({ dataset }) => {
          const number = Number(dataset.line)
          return number >= range.from && number <= range.to
        })
      : []
    markLines(inside)
    const last = marked()
    if (link && last !== null)
      link.href = link.href.replace(/error-after=\d+/, `error-after=${last}`)
  }
}

function lines(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('#log-lines > .line[data-line]')]
}

function marked(): number | null {
  return readRange()?.from ?? null
}

function errorAfter(number: number): Element | undefined {
  return lines().find((line) => Number(line.dataset.line) > number && beginsErrors(line))
}

function readRange(): { from: number; to: number } | null {
  const [, first, second] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(location.hash) ?? []
  if (first === undefined) return null
  const [a, b] = [Number(first), Number(second ?? first)]
  return { from: Math.min(a, b), to: Math.max(a, b) }
}
