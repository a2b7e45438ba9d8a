import { checksum } from '../../../model/checksum.ts'
import { planText } from './plan-lines.ts'

/** A step counts as read once its end has been in sight for that long. */
const READ_MS = 700
const STORED = 'casefile.read.'
const MAX_STORED = 2_000

/**
 * Marks in the outline where the reader is, and which steps they have read. The marks are kept by the text of a step,
 * so a new revision asks again only for what changed.
 */
export function startPlanOutline(): void {
  const session = document.querySelector<HTMLElement>('#session-head')?.dataset.session ?? ''
  const read = new Set(stored(session))
  /** When the end of a step came into sight. */
  const seenAt = new Map<string, number>()
  let isScheduled = false

  function look(): void {
    isScheduled = false
    const steps = stepsOfPlan()
    if (steps.length === 0) return
    const now = performance.now()
    const bottom = document.getElementById('approve')?.getBoundingClientRect().top ?? innerHeight
    let isNew = false
    let areAllInSight = true
    for (const step of steps) {
      const print = printOf(step)
      const { top, bottom: end } = step.getBoundingClientRect()
      areAllInSight &&= top >= 0 && end <= bottom + 1
      const isInSight = end > 0 && end <= bottom + 1
      if (!isInSight) seenAt.delete(print)
      else if (!seenAt.has(print)) seenAt.set(print, now)
      else if (now - seenAt.get(print)! >= READ_MS && !read.has(print)) {
        read.add(print)
        isNew = true
      }
    }
    if (isNew) store(session, read)
    show(steps, areAllInSight)
  }

  function show(steps: readonly HTMLElement[], areAllInSight: boolean): void {
    let count = 0
    for (const step of steps) {
      const isRead = read.has(printOf(step))
      if (isRead) count++
      outlineItem(step.id)?.classList.toggle('is-read', isRead)
    }
    const counter = document.getElementById('read-count')
    // of what is in sight as a whole, no step waits to be found
    const text =
      count < steps.length && areAllInSight ? '' : `${count} of ${steps.length} steps read`
    if (counter && counter.textContent !== text) counter.textContent = text
    showCurrent(steps)
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(look)
  }

  document.addEventListener('scroll', schedule, { passive: true })
  addEventListener('resize', schedule)
  document.addEventListener('refreshed', schedule)
  setInterval(() => {
    if (!document.hidden) schedule()
  }, READ_MS)
  schedule()
}

function stepsOfPlan(): HTMLElement[] {
  return [...(planText()?.querySelectorAll<HTMLElement>('figure.step') ?? [])]
}

function outlineItem(id: string): HTMLElement | null {
  const link = document.querySelector(`#step-rows a[href="#${CSS.escape(id)}"]`)
  return link?.closest<HTMLElement>('li') ?? null
}

/** The last step or heading above the middle of the window is where the reader is. */
function showCurrent(steps: readonly HTMLElement[]): void {
  const headings = planText()?.querySelectorAll<HTMLElement>('.markdown :is(h3, h4, h5, h6)[id]')
  const places = [...steps, ...(headings ?? [])]
    .map((place) => ({ place, top: place.getBoundingClientRect().top }))
    .filter(({ top }) => top < innerHeight / 2)
    .sort((a, b) => a.top - b.top)
  const current = places.at(-1)?.place.id
  const list = document.getElementById('step-rows')
  if (!list) return
  for (const link of list.querySelectorAll('a')) {
    if (link.hash === `#${current}`) {
      if (link.getAttribute('aria-current') !== 'true') {
        link.setAttribute('aria-current', 'true')
        keepInSight(list, link)
      }
    } else link.removeAttribute('aria-current')
  }
}

function keepInSight(list: HTMLElement, link: HTMLElement): void {
  const [box, item] = [list.getBoundingClientRect(), link.getBoundingClientRect()]
  if (item.top < box.top) list.scrollTop -= box.top - item.top + 8
  else if (item.bottom > box.bottom) list.scrollTop += item.bottom - box.bottom + 8
}

/** Short, and different for different texts: enough to tell whether a step was changed. */
function printOf(step: HTMLElement): string {
  const text = `${step.dataset.step} ${step.querySelector('.step-facts')?.textContent} ${step.querySelector('pre')?.textContent}`
  return checksum(text)
}

function stored(session: string): string[] {
  try {
    return (localStorage.getItem(STORED + session) ?? '').split(' ').filter((print) => print !== '')
  } catch {
    return []
  }
}

function store(session: string, read: ReadonlySet<string>): void {
  try {
    localStorage.setItem(STORED + session, [...read].slice(-MAX_STORED).join(' '))
  } catch {
    // then they last as long as the page
  }
}
