import { refreshAtMostEvery, refreshFrom, refreshSoon } from './refresh.ts'
import { showTimes } from './times.ts'

/** How far from what is seen the rows are there already: some screens of them. */
const MARGIN = '1800px 0px'
/** A list may hear of every case there is. */
const REFRESH_MS = 1000

const near = new Set<HTMLElement>()
const filling = new Map<HTMLElement, Filling>()
let observer: IntersectionObserver

interface Filling {
  stop: AbortController
  done: Promise<void>
}

/**
 * Of a long list only the chunks near to what is seen have their rows; the others hold the place by
 * their height, so that the scroll bar is right. A refresh asks for the near ones alone.
 */
export function startListChunks(): void {
  observer = new IntersectionObserver(moved, { rootMargin: MARGIN })
  refreshFrom(partsAddress)
  refreshAtMostEvery(REFRESH_MS)
  document.addEventListener('refreshed', observeAll)
  observeAll()
}

/** What is near is another thing now: the next refresh begins at the top of the list. */
export function forgetNear(): void {
  near.clear()
}

export function listChunks(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('#case-list .chunk')]
}

export function isEmpty(chunk: HTMLElement): boolean {
  return chunk.childElementCount === 0
}

/** Fetches the rows of a chunk; resolves when they are there, or will come with a refresh. */
export function fill(chunk: HTMLElement): Promise<void> {
  const known = filling.get(chunk)
  if (known) return known.done
  const stop = new AbortController()
  const made: Filling = { stop, done: fetched(chunk, stop.signal) }
  filling.set(chunk, made)
  return made.done.finally(() => {
    if (filling.get(chunk) === made) filling.delete(chunk)
  })
}

function partsAddress(): string {
  const url = listUrl()
  const focused = document.activeElement?.closest<HTMLElement>('.chunk')
  const shown = [...near, ...(focused && near.size > 0 ? [focused] : [])].filter(
    (chunk) => chunk.isConnected,
  )
  if (shown.length > 0) url.searchParams.set('show', [...new Set(shown)].map(({ id }) => id).join())
  return url.href
}

function listUrl(): URL {
  const url = new URL(location.href)
  url.hash = ''
  return url
}

function observeAll(): void {
  for (const chunk of near) if (!chunk.isConnected) near.delete(chunk)
  for (const chunk of listChunks()) {
    const { count } = chunk.dataset
    if (count !== '100') chunk.style.setProperty('--count', count!)
    observer.unobserve(chunk) // observed anew, it is told of again even where nothing moved
    observer.observe(chunk)
  }
}

function moved(entries: IntersectionObserverEntry[]): void {
  for (const { target, isIntersecting } of entries) {
    const chunk = target as HTMLElement
    if (isIntersecting) {
      near.add(chunk)
      if (isEmpty(chunk)) void fill(chunk)
    } else leave(chunk)
  }
}

function leave(chunk: HTMLElement): void {
  near.delete(chunk)
  filling.get(chunk)?.stop.abort()
  filling.delete(chunk)
  if (!chunk.isConnected) observer.unobserve(chunk)
  else if (!chunk.contains(document.activeElement)) chunk.replaceChildren()
}

async function fetched(chunk: HTMLElement, signal: AbortSignal): Promise<void> {
  const url = listUrl()
  const { search } = url
  url.searchParams.delete('from')
  url.searchParams.set('chunk', chunk.id)
  let html: string
  try {
    const response = await fetch(url, { signal, headers: { accept: 'text/html' } })
    if (!response.ok) return refreshSoon() // which says what is wrong
    html = await response.text()
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof TypeError) return // the live connection is cut too, and refreshes once it is back
    throw error
  }
  if (location.search !== search || !chunk.isConnected || !isEmpty(chunk)) return
  const part = new DOMParser().parseFromString(html, 'text/html').querySelector<HTMLElement>('ul')
  const order = document.getElementById('case-list')?.dataset.order
  // of another order, it would repeat or miss cases beside what is here
  if (!part || part.dataset.order !== order) return refreshSoon()
  chunk.replaceChildren(...part.children)
  showTimes(chunk)
}
