import { Idiomorph } from 'idiomorph'
import { hideDeleted, setStale, showDeleted } from './page-status.tsx'

/** Events come in bursts; a page need not show each of them by itself. */
const SOON_MS = 120
/** When a page that could not be fetched is tried again; later each time. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000] as const

type Refreshed = (next: Document) => void
const listeners = new Set<Refreshed>()
/** Where a page is fetched from, if not from its own address. */
let addressOf = () => location.href.replace(/#.*/, '')
/** The least time between the starts of two refreshes that events ask for. */
let pauseMs = 0
let lastStart = Number.NEGATIVE_INFINITY
let soon: number | undefined
let running: Promise<boolean> | null = null
let isRequested = false
let failures = 0
let retry: number | undefined

/** Called with the new page before it is shown. */
export function beforeRefresh(listener: Refreshed): void {
  listeners.add(listener)
}

export function refreshFrom(address: () => string): void {
  addressOf = address
}

/** For a page that gets many events. */
export function refreshAtMostEvery(milliseconds: number): void {
  pauseMs = milliseconds
}

/** Fetches the page once a burst of events is over. */
export function refreshSoon(): void {
  if (soon !== undefined) return
  const wait = Math.max(SOON_MS, lastStart + pauseMs - performance.now())
  soon = setTimeout(() => {
    soon = undefined
    void refresh()
  }, wait)
}

/**
 * Fetches the page and updates what is shown. Resolves once it shows at least what the service had at the call; to
 * false if the service did not answer.
 */
export function refresh(): Promise<boolean> {
  if (running) {
    isRequested = true
    return running
  }
  running = work()
  return running
}

async function work(): Promise<boolean> {
  clearTimeout(retry)
  try {
    do {
      isRequested = false
      failures = (await once()) ? 0 : failures + 1
    } while (isRequested)
  } finally {
    running = null // in the same turn as the last check of `wanted`
  }
  setStale('behind', failures > 0)
  if (failures === 0) return true
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]
  retry = setTimeout(() => void refresh(), wait)
  return false
}

/** Whether the service answered. */
async function once(): Promise<boolean> {
  lastStart = performance.now()
  const { page: next, status } = await fetchPage(addressOf())
  if (status === 404) {
    showDeleted()
    return true
  }
  if (!next) return false
  hideDeleted()
  for (const listener of listeners) listener(next)
  show(next)
  return true
}

/** Null for a page with an error; status 0 if the service is away, or went while it answered. */
export async function fetchPage(
  address: string,
): Promise<{ page: Document | null; status: number }> {
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' }, cache: 'no-cache' })
    const { ok, status } = response
    const html = await response.text()
    return { page: ok ? new DOMParser().parseFromString(html, 'text/html') : null, status }
  } catch {
    return { page: null, status: 0 }
  }
}

function show(next: Document): void {
  const [here, there] = [document.querySelector('main'), next.querySelector('main')]
  if (!here || !there) return
  document.title = next.title
  const putBack = placeOfFocus(here)
  Idiomorph.morph(here, there, {
    ignoreActiveValue: true,
    callbacks: { beforeNodeMorphed, beforeNodeRemoved, beforeAttributeUpdated },
  })
  putBack()
  document.dispatchEvent(new Event('refreshed'))
}

/**
 * The morph looks for no match behind the element with the focus, and so moves all that comes after it in front of it. The
 * result undoes that for what the page has added itself, such as the form of a comment. It moves the others, as a form that
 * is moved loses the focus.
 */
function placeOfFocus(here: Element): () => void {
  const around = here.contains(document.activeElement) ? document.activeElement : null
  let own = around?.closest('[data-own]')
  for (let outer = own; outer; outer = outer.parentElement?.closest('[data-own]')) own = outer
  const before = own?.previousSibling
  return () => {
    if (!own || !before || before.parentNode !== own.parentNode) return
    const between: ChildNode[] = []
    for (let node = before.nextSibling; node !== own; node = node.nextSibling) {
      if (node === null) return // it is behind it now
      between.push(node)
    }
    own.after(...between)
  }
}

/** Leaves alone what the page has changed itself, forms that are open, and forms with unsaved text. */
function beforeNodeMorphed(here: Node): boolean {
  if (!(here instanceof HTMLElement)) return true
  return !here.matches('[data-keep], [data-dirty], details.disclosure[open] form')
}

function beforeNodeRemoved(node: Node): boolean {
  if (!(node instanceof HTMLElement)) return true
  return !(node.matches('[data-own], [data-dirty]') || node.querySelector('[data-dirty]') !== null)
}

/** The reader opens and closes details and dialogs; a form itself says whether it is being sent. */
function beforeAttributeUpdated(name: string, node: Element): boolean {
  if (name === 'data-busy') return false
  if (name === 'readonly') return node.closest('form[data-busy]') === null
  return !(
    name === 'open' &&
    (node instanceof HTMLDetailsElement || node instanceof HTMLDialogElement)
  )
}
