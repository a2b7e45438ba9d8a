import { visibleProse } from '../../rendering/hidden-characters.ts'
import { onAnyEvent, onEventInOneTab } from './live.ts'
import { notify } from './notices.ts'
import { onNote, type ServiceEvent, sendNote } from './shared-events.ts'

const CHOICE = 'casefile.notify'
const SEEN = 'seen'
/** How long the tab that has the focus may take to say that it shows the case already. */
const SEEN_MS = 250

/** The button that turns desktop notifications on; the browser is asked only by a click on it. */
export function startDesktopNotifying(): void {
  const button = document.querySelector<HTMLButtonElement>('#notify')
  if (!button || !('Notification' in window) || !isSecureContext) return
  button.hidden = false
  show(button)
  button.addEventListener('click', () => void toggle(button))
  addEventListener('storage', ({ key }) => {
    if (key === CHOICE) show(button)
  })
  const seen = new Set<string>()
  onNote(SEEN, (tag) => seen.add(String(tag)))
  onAnyEvent((event) => {
    if (event.event_type !== 'attention_needed' || !isShownHere(event)) return
    seen.add(tagOf(event))
    sendNote(SEEN, tagOf(event))
  })
  onEventInOneTab((event) => {
    if (event.event_type !== 'attention_needed' || !isOn()) return
    setTimeout(() => {
      if (!seen.delete(tagOf(event))) showNotification(event)
    }, SEEN_MS)
  })
}

async function toggle(button: HTMLButtonElement): Promise<void> {
  if (isOn()) return choose('off', button)
  const permission = await Notification.requestPermission()
  if (permission === 'granted') {
    choose('on', button)
    notify('You’ll get a desktop notification when something waits for you.')
  } else if (permission === 'denied') {
    show(button)
    notify(
      'The browser blocks notifications of this page. Allow them in its settings for this site.',
    )
  }
}

function choose(choice: 'on' | 'off', button: HTMLButtonElement): void {
  try {
    localStorage.setItem(CHOICE, choice)
  } catch {
    notify('The browser doesn’t let Casefile remember this choice.')
  }
  show(button)
}

/** The choice counts only while the browser allows notifications. */
function isOn(): boolean {
  try {
    return Notification.permission === 'granted' && localStorage.getItem(CHOICE) === 'on'
  } catch {
    return false
  }
}

function show(button: HTMLButtonElement): void {
  const on = isOn()
  button.setAttribute('aria-pressed', String(on))
  button.title = on
    ? 'Desktop notifications are on'
    : 'Get a desktop notification when something waits for you'
}

function showNotification(event: ServiceEvent): void {
  const { title, text } = event.payload
  try {
    const shown = new Notification(visibleProse(String(title)), {
      body: visibleProse(String(text)),
      tag: tagOf(event), // a browser shows only one of a tag
      icon: document.querySelector<HTMLImageElement>('.brand img')?.src ?? '',
    })
    shown.onclick = () => {
      shown.close()
      const address = addressOf(event)
      window.focus()
      if (location.pathname !== address) open(address, '_blank')
    }
  } catch {
    // some browsers have the name, but show notifications only for a service worker
  }
}

function isShownHere(event: ServiceEvent): boolean {
  return document.hasFocus() && !document.hidden && location.pathname === addressOf(event)
}

function addressOf({ payload }: ServiceEvent): string {
  const page = `/case/${String(payload.case_id)}`
  return typeof payload.session === 'number' ? `${page}/session/${payload.session}` : page
}

function tagOf({ payload, id }: ServiceEvent): string {
  return `casefile ${String(payload.case_id)} ${String(payload.kind)} ${id ?? ''}`
}
