import { isTyping } from './keys.ts'
import { fill, isEmpty, listChunks } from './list-chunks.ts'

/** j and k on the list: from the row in sight, and over the border of a chunk that is not there yet. */
export function startListKeys(): void {
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'j' && event.key !== 'k') return
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault() // and so keys.ts leaves it alone
      void step(event.key === 'j' ? 'next' : 'before')
    },
    { capture: true },
  )
}

async function step(way: 'next' | 'before'): Promise<void> {
  const here = document.activeElement?.closest<HTMLElement>('.case-row')
  const row = here ? await neighbour(here, way) : firstInSight()
  const link = row?.querySelector<HTMLElement>('[data-row]')
  link?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
}

async function neighbour(row: HTMLElement, way: 'next' | 'before'): Promise<Element | null> {
  const beside = way === 'next' ? row.nextElementSibling : row.previousElementSibling
  if (beside) return beside
  const chunks = listChunks()
  const chunk = chunks[chunks.indexOf(row.parentElement!) + (way === 'next' ? 1 : -1)]
  if (!chunk) return null
  if (isEmpty(chunk)) await fill(chunk)
  return way === 'next' ? chunk.firstElementChild : chunk.lastElementChild
}

/** Below the heading of the site, which stays at the top. */
function firstInSight(): Element | undefined {
  const top = document.querySelector('.site')?.getBoundingClientRect().bottom ?? 0
  const rows = [...document.querySelectorAll('.case-row')]
  return rows.find((row) => row.getBoundingClientRect().top >= top)
}
