import { Idiomorph } from 'idiomorph'
import { sayBack, sayGone } from './gone.ts'
import { setDoubt } from './standing.ts'

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
let running: Promise<void> | null = null
let wanted = false
let failures = 0
let retry: number | undefined

/** Told with the new page before it is shown, in the order in which they came. */
export function beforeRefresh(listener: Refreshed): void {
  listeners.add(listener)
}

export function refreshFrom(address: () => string): void {
  addressOf = address
}

/** For a page that is told of so much that it would do nothing else. */
export function refreshAtMostEvery(milliseconds: number): void {
  pauseMs = milliseconds
}

/** Fetches the page once what is being told has been told. */
export function refreshSoon(): void {
  if (soon !== undefined) return
  const wait = Math.max(SOON_MS, lastStart + pauseMs - performance.now())
  soon = setTimeout(() => {
    soon = undefined
    void refresh()
  }, wait)
}

/** Fetches the page and brings what is shown to it; resolves when what was there at the call is shown. */
export function refresh(): Promise<void> {
  if (running) {
    wanted = true
    return running
  }
  running = work()
  return running
}

async function work(): Promise<void> {
  clearTimeout(retry)
  try {
    do {
      wanted = false
      failures = (await once()) ? 0 : failures + 1
    } while (wanted)
  } finally {
    running = null // with the last look at `wanted`: a call in between would wait for nothing
  }
  setDoubt('behind', failures > 0)
  if (failures === 0) return
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]
  retry = setTimeout(() => void refresh(), wait)
}

/** Whether the service said what is there now. */
async function once(): Promise<boolean> {
  lastStart = performance.now()
  let html: string
  try {
    const response = await fetch(addressOf(), {
      headers: { accept: 'text/html' },
      cache: 'no-cache',
    })
    if (response.status === 404) {
      sayGone()
      return true
    }
    if (!response.ok) return false
    html = await response.text()
  } catch {
    return false // the service is away, or went while it answered
  }
  sayBack()
  const next = new DOMParser().parseFromString(html, 'text/html')
  for (const listener of listeners) listener(next)
  show(next)
  return true
}

function show(next: Document): void {
  const [here, there] = [document.querySelector('main'), next.querySelector('main')]
  if (!here || !there) return
  document.title = next.title
  Idiomorph.morph(here, there, {
    ignoreActiveValue: true,
    callbacks: { beforeNodeMorphed, beforeNodeRemoved: isOurs, beforeAttributeUpdated },
  })
  document.dispatchEvent(new Event('refreshed'))
}

/** What the page itself has changed is not taken back: texts being written, and what it has filled in. */
function beforeNodeMorphed(here: Node): boolean {
  if (!(here instanceof HTMLElement)) return true
  return !(here.hasAttribute('data-keep') || here.hasAttribute('data-dirty'))
}

function isOurs(node: Node): boolean {
  return !(node instanceof HTMLElement && (node.hasAttribute('data-own') || isBeingWritten(node)))
}

function isBeingWritten(node: HTMLElement): boolean {
  return node.hasAttribute('data-dirty') || node.querySelector('[data-dirty]') !== null
}

/** Whether details are open, and a dialog, is the reader's choice; whether a form is being sent, its own. */
function beforeAttributeUpdated(name: string, node: Element): boolean {
  if (name === 'data-busy') return false
  if (name === 'readonly') return node.closest('form[data-busy]') === null
  return !(
    name === 'open' &&
    (node instanceof HTMLDetailsElement || node instanceof HTMLDialogElement)
  )
}
