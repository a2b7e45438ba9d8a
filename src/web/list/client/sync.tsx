import { showError } from '../../client/forms.tsx'
import { type Sent, send } from '../../client/send.ts'
import { store, stored } from '../../client/tab-storage.ts'
import { showTimes } from '../../client/times.ts'
import {
  type BriefStatus,
  obstacleView,
  resultView,
  type SyncResult,
  type SyncStatus,
  stateView,
} from './sync-words.tsx'

/** `GET /sync` starts git several times, so a page that stays open asks again only this often. */
const ASK_MS = 60_000
const NAME = 'sync'
/** The service checks these each time it is asked: the last sync may have stopped for one that is mended since. */
const CHECKED = ['no_repository', 'no_remote', 'detached_head', 'unfinished_merge']
const TRY_AGAIN = 'Sync again if something is left to send.'
const PRESSED = 'pressed'

let askedAt = Number.NEGATIVE_INFINITY
let timer: ReturnType<typeof setTimeout> | undefined
/** Only the answer to the last question counts. */
let questions = 0
/** What the result on the page was made from; `PRESSED` until the service is asked after a press. */
let shown: string | null = null

/** On the list of cases: how the record compares with the remote, and what a sync did. */
export function startSync(): void {
  if (document.getElementById('sync') === null) return
  const before = stored(NAME)
  if (before !== null) showState(JSON.parse(before) as BriefStatus) // so that the list does not move later
  void ask()
  document.addEventListener('refreshed', askLater)
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target as HTMLFormElement
      if (form.id === 'sync' && !form.hasAttribute('data-busy')) begin(form)
    },
    true,
  )
  document.addEventListener('sent', (event) => {
    const form = event.target as HTMLFormElement
    if (form.id !== 'sync') return
    event.preventDefault()
    void end(form, (event as CustomEvent<Sent>).detail)
  })
}

async function ask(): Promise<void> {
  askedAt = performance.now()
  const number = ++questions
  const sent = await send('GET', '/sync')
  if (!sent.ok || number !== questions) return
  const status = sent.body as unknown as SyncStatus
  showState(status)
  const { reason, last } = status
  store(NAME, JSON.stringify({ ...status, last: last && { at: last.at, state: last.state } }))
  const key = JSON.stringify([reason, last?.at])
  if (key !== shown && shown !== PRESSED) showResult(standing(status))
  shown = key
}

/** The page has changed: what is to send may have, too. */
function askLater(): void {
  if (timer !== undefined) return
  const wait = Math.max(0, askedAt + ASK_MS - performance.now())
  timer = setTimeout(() => {
    timer = undefined
    if (!document.hidden) void ask()
  }, wait)
}

function showState(status: BriefStatus): void {
  const form = document.getElementById('sync')
  if (!form) return
  form.hidden = !isShared(status)
  document.getElementById('sync-state')?.replaceChildren(stateView(status))
  showTimes()
}

/** Git stores the record, and there is a remote, or was at the last sync: HEAD may be detached for a moment. */
function isShared({ kind, upstream, last }: BriefStatus): boolean {
  return kind !== null && (upstream !== null || last !== null)
}

/** What a person still has to know of the last sync, also of one that was started in a terminal. */
function standing(status: SyncStatus): HTMLElement | null {
  const { reason, last } = status
  if (!isShared(status)) return null
  if (reason !== null) return obstacleView(reason)
  if (last === null || last.state === 'in_sync') return null
  return last.code !== null && CHECKED.includes(last.code) ? null : resultView(last)
}

function showResult(view: HTMLElement | null): void {
  const place = document.getElementById('sync-result')
  if (!place) return
  place.replaceChildren(...(view ? [view] : []))
  place.hidden = view === null
}

function begin(form: HTMLFormElement): void {
  questions++ // an answer that is on its way is about the time before
  showResult(null)
  form.querySelector('button')!.textContent = 'Syncing…'
}

async function end(form: HTMLFormElement, sent: Sent): Promise<void> {
  form.querySelector('button')!.textContent = 'Sync'
  shown = PRESSED
  if (sent.ok) showResult(resultView(sent.body as unknown as SyncResult))
  else {
    const place = document.getElementById('sync-result')!
    place.hidden = false
    showError(place, sent.problem, TRY_AGAIN)
  }
  await ask()
}
