import { refresh } from '../../client/refresh.ts'
import { send } from '../../client/send.ts'

/** Comparing starts git several times, so a page that stays open asks again only this often. */
const ASK_MS = 60_000

let askedAt = Number.NEGATIVE_INFINITY
let timer: ReturnType<typeof setTimeout> | undefined
let answer = ''

/** The list shows what the service found last: this makes it look how the record compares with the remote. */
export function startSync(): void {
  void ask()
  document.addEventListener('refreshed', askLater)
  document.addEventListener('sent', ({ target }) => {
    if ((target as Element).id === 'sync') void ask()
  })
}

async function ask(): Promise<void> {
  askedAt = performance.now()
  const sent = await send('GET', '/sync/compared')
  const before = answer
  if (sent.ok) answer = JSON.stringify(sent.body)
  if (answer !== before) await refresh()
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
