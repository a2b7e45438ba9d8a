import { fill, isEmpty } from './list-chunks.ts'
import { keep, kept } from './tab-memory.ts'

/** The row by which the list was left. */
interface Place {
  /** The address of the list then. */
  address: string
  row: string
  chunk: string
  /** Its number in the chunk: where the reader goes on if the case has moved away meanwhile. */
  at: number
}

const PLACE = 'list-place'
const RETURN = 'list-return'
/** Together longer than the refresh takes that a list of another order waits for. */
const [TRIES, RETRY_MS] = [30, 100]

/**
 * Who comes back from a case finds the focus where the list was left, so that j and k go on from there:
 * with Back by what the history keeps, with a link that returns by what the tab keeps.
 */
export function startListPlace(): void {
  document.addEventListener('click', ({ target }) => {
    const row = (target as Element).closest<HTMLElement>('.case-row')
    if (row && (target as Element).closest('a:not([data-filter])')) remember(row)
  })
  const place = placeToTake()
  keep(RETURN, null)
  if (place) whenLoaded(() => void take(place))
}

/** Called as a link leads back to the list. */
export function willReturn(): void {
  keep(RETURN, 'yes')
}

function remember(row: HTMLElement): void {
  const chunk = row.parentElement!
  const at = [...chunk.children].indexOf(row)
  const address = location.pathname + location.search
  const place: Place = { address, row: row.id, chunk: chunk.id, at }
  history.replaceState({ place }, '')
  keep(PLACE, JSON.stringify(place))
}

function placeToTake(): Place | null {
  const ofHistory = (history.state as { place?: Place } | null)?.place
  if (ofHistory) return ofHistory
  if (kept(RETURN) === null) return null
  const place = JSON.parse(kept(PLACE) ?? 'null') as Place | null
  return place?.address === location.pathname + location.search ? place : null
}

/** The browser scrolls to where Back leads before that, and goes on from the focus only after it. */
function whenLoaded(then: () => void): void {
  if (document.readyState === 'complete') then()
  else addEventListener('load', () => requestAnimationFrame(then), { once: true })
}

async function take({ row, chunk: id, at }: Place): Promise<void> {
  const chunk = await filled(id)
  if (!chunk || document.activeElement !== document.body) return // the reader is elsewhere already
  const same = document.getElementById(row)
  const found = same?.parentElement === chunk ? same : chunk.children[at]
  found?.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
  found?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
}

/** A chunk that is let go of as it is not near yet, or that a refresh puts another in place of, is asked for again. */
async function filled(id: string): Promise<HTMLElement | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    const chunk = document.getElementById(id)
    if (!chunk || document.activeElement !== document.body) return null
    if (isEmpty(chunk)) await fill(chunk)
    if (chunk.isConnected && !isEmpty(chunk)) return chunk
  }
  return null
}
