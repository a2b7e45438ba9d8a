import { stateLabel } from '../../model/state-groups.ts'
import type { Undo } from '../shell/undo.ts'
import { element } from './dom.ts'
import { areOn } from './keys.ts'
import { notify } from './notices.ts'
import { refresh } from './refresh.ts'
import { type Sent, send } from './send.ts'
import { store, stored } from './tab-storage.ts'

/** What can still be undone. It is stored in the tab, so that it survives a change of the page. */
interface Offer extends Undo {
  /** Of what the change answered: the undo overwrites nothing that came after. */
  etag: string
  /** When the offer ends, as in `Date.now()`. */
  until: number
  /** What gets the focus after it: a selector. */
  focus: string | null
}

const NAME = 'undo'
const OFFER_MS = 10_000
/** How long the offer stays after the pointer or the focus has left it. */
const LEFT_MS = 4_000
const LOOK_MS = 250

let shown: { toast: HTMLElement; looking: number } | null = null

/** For ten seconds after a form with `data-undo` has worked, a notice offers to take it back. */
export function startUndo(): void {
  document.addEventListener('sent', (event) => {
    const { target: form, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (!detail.ok) return
    withdraw()
    const { undo, ifMatch, focus } = form.dataset
    if (undo === undefined || detail.etag === null || detail.etag === ifMatch) return
    const parsed = JSON.parse(undo) as Undo
    const disclosure = form.closest('details.disclosure')
    const offer: Offer = {
      ...parsed,
      said: parsed.said.replace('{state}', stateLabel(String(detail.body.state))),
      etag: detail.etag,
      until: Date.now() + OFFER_MS,
      focus: focus ?? (disclosure ? `#${CSS.escape(disclosure.id)} > summary` : null),
    }
    store(NAME, JSON.stringify(offer))
    show(offer)
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) showStored() // another page may have used or replaced it
  })
  showStored()
}

function showStored(): void {
  hide()
  const offer = JSON.parse(stored(NAME) ?? 'null') as Offer | null
  if (offer && offer.until > Date.now()) show(offer)
}

function hide(): void {
  clearInterval(shown?.looking)
  shown?.toast.remove()
  shown = null
}

function withdraw(): void {
  store(NAME, null)
  hide()
}

function show(offer: Offer): void {
  let { until } = offer
  const toast = element(
    <div class="notice-action">
      <span>{offer.said}</span>
      <button
        type="button"
        data-key="u"
        data-key-name="Undo"
        aria-keyshortcuts={areOn() ? 'u' : undefined}
      >
        Undo <kbd>u</kbd>
      </button>
    </div>,
  )
  const button = toast.querySelector('button')!
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    until = Number.POSITIVE_INFINITY
    if (await undo(offer, toast)) return
    button.removeAttribute('aria-disabled')
    until = Date.now() + OFFER_MS
  })
  document.getElementById('notices')?.append(toast)
  const looking = setInterval(() => {
    const now = Date.now()
    if (toast.matches(':hover, :focus-within')) until = Math.max(until, now + LEFT_MS)
    else if (now >= until || !toast.isConnected) withdraw()
  }, LOOK_MS)
  shown = { toast, looking }
}

/** False if the service could not be reached, so that it may be tried again. */
async function undo(offer: Offer, toast: HTMLElement): Promise<boolean> {
  const { method, action, body, etag, focus } = offer
  const sent = await send(method, action, body, { 'if-match': etag })
  if (!sent.ok && sent.status === 0) {
    notify(sent.problem.detail)
    return false
  }
  const hadFocus = toast.contains(document.activeElement)
  if (shown?.toast === toast) withdraw()
  if (sent.ok) notify('Undone.')
  else if (sent.status === 412) notify('Not undone: it was changed after that.')
  else notify(`Not undone: ${sent.problem.detail}`)
  await refresh()
  if (hadFocus) {
    const place = focus === null ? null : document.querySelector<HTMLElement>(focus)
    const target = place ?? document.getElementById('main')
    target?.focus()
  }
  return true
}
