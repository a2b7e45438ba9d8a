/** More matches than this are not counted, nor highlighted. */
const MAX_MATCHES = 5000
const LIVE_MS = 400

/**
 * The search in the output of a session: it counts and highlights what is on the page, also as output comes. The
 * highlights change no element, so the output stays as fast as it is.
 */
export function startOutputSearch(reveal: (line: HTMLElement) => void): void {
  const field = document.getElementById('output-search') as HTMLInputElement | null
  const terminal = document.getElementById('terminal')
  if (!field || !terminal) {
    // the output has not begun
    document.addEventListener('refreshed', () => startOutputSearch(reveal), { once: true })
    return
  }
  let matches: Match[] = []
  /** Its place in `matches`; -1 before the first one was visited. */
  let current = -1
  let timer: number | undefined

  field.addEventListener('input', () => {
    current = -1
    find()
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    go(event.shiftKey ? -1 : 1)
  })
  document.addEventListener('click', (event) => {
    const id = (event.target as Element).closest('button')?.id
    if (id === 'found-next') go(1)
    if (id === 'found-before') go(-1)
  })
  new MutationObserver(() => {
    if (field.value === '' || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      find()
    }, LIVE_MS)
  }).observe(terminal, { childList: true, subtree: true })

  function find(): void {
    const line = matches[current]?.line
    matches = field!.value === '' ? [] : matchesIn(terminal!, field!.value)
    if (current >= 0) {
      const same = matches.findIndex((match) => match.line === line)
      current = same >= 0 ? same : Math.min(current, matches.length - 1)
    }
    show()
  }

  function go(step: 1 | -1): void {
    if (matches.length === 0) return
    if (current < 0) current = step > 0 ? 0 : matches.length - 1
    else current = (current + step + matches.length) % matches.length
    reveal(matches[current]!.line)
    show()
  }

  function show(): void {
    const count = matches.length >= MAX_MATCHES ? `${MAX_MATCHES}+` : String(matches.length)
    const place = current < 0 ? '' : `${current + 1} of `
    const text = field!.value === '' ? '' : matches.length === 0 ? 'No matches' : place + count
    document.getElementById('output-found')!.textContent =
      current < 0 && matches.length > 0
        ? `${text} ${matches.length === 1 ? 'match' : 'matches'}`
        : text
    for (const id of ['found-before', 'found-next'])
      document.getElementById(id)?.toggleAttribute('hidden', matches.length === 0)
    highlight('output-match', matches)
    highlight('output-current', matches.slice(Math.max(0, current), current + 1))
  }
}

interface Match {
  line: HTMLElement
  range: Range
}

function matchesIn(terminal: HTMLElement, text: string): Match[] {
  const wanted = text.toLowerCase()
  const matches: Match[] = []
  for (const line of terminal.querySelectorAll<HTMLElement>('.line')) {
    // a letter whose lower case is longer would shift all that follows
    const content = line.textContent ?? ''
    const lower = content.toLowerCase()
    if (lower.length !== content.length && !content.includes(text)) continue
    const searched = lower.length === content.length ? lower : content
    const sought = lower.length === content.length ? wanted : text
    for (
      let at = searched.indexOf(sought);
      at >= 0;
      at = searched.indexOf(sought, at + sought.length)
    ) {
      matches.push({ line, range: rangeIn(line, at, at + sought.length) })
      if (matches.length >= MAX_MATCHES) return matches
    }
  }
  return matches
}

/** The characters of an element from `start` to `end`, in whichever text nodes they are. */
function rangeIn(element: HTMLElement, start: number, end: number): Range {
  const range = document.createRange()
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  let passed = 0
  let isStarted = false
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent!.length
    if (!isStarted && start < passed + length) {
      range.setStart(node, start - passed)
      isStarted = true
    }
    if (isStarted && end <= passed + length) {
      range.setEnd(node, end - passed)
      break
    }
    passed += length
  }
  return range
}

function highlight(name: string, matches: readonly Match[]): void {
  if (!('highlights' in CSS)) return
  if (matches.length === 0) CSS.highlights.delete(name)
  else CSS.highlights.set(name, new Highlight(...matches.map(({ range }) => range)))
}
