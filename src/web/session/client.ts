import { spanText } from '../../model/amounts.ts'
import { startComposers } from './client/comment-composer.tsx'
import { startDiffComments } from './client/diff-comments.tsx'
import { startOutput } from './client/output.ts'
import { startOutputTools } from './client/output-tools.ts'
import { startApproval } from './client/plan-approval.tsx'
import { startPlanComments } from './client/plan-comments.tsx'
import { startPlanOutline } from './client/plan-outline.ts'

/** What only the page of a session has. */
export function start(): void {
  if (document.body.dataset.page !== 'session') return
  startOutput()
  startOutputTools()
  startApproval()
  startComposers()
  startPlanComments()
  startDiffComments()
  startPlanOutline()
  startClock()
  followSteps()
}

/** Shows how long a step has been running. */
function startClock(): void {
  showClock()
  document.addEventListener('refreshed', showClock)
  setInterval(showClock, 1000)
}

function showClock(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time.clock')) {
    const ms = Date.now() - Date.parse(time.dateTime)
    const text = spanText(Math.max(0, Math.floor(ms / 1000) * 1000))
    if (time.textContent !== text) time.textContent = text
  }
}

/**
 * Keeps the running step in sight within the list, which scrolls in itself, until the reader scrolls it; once the
 * running step is in sight again, it is followed again.
 */
function followSteps(): void {
  let isFollowing = true
  let shown: string | null = null
  /** Where this scrolled the list: that event is not the reader's. */
  let ownScroll = -1
  show()
  document.addEventListener('refreshed', show)
  document.addEventListener('scroll', onScroll, { capture: true, passive: true })

  function show(): void {
    const { list, row } = runningStep()
    if (!list || !row || row.id === shown) return
    shown = row.id
    if (!isFollowing) return
    // scrollIntoView would scroll the page, too
    list.scrollTop = row.offsetTop - (list.clientHeight - row.offsetHeight) / 2
    ownScroll = list.scrollTop
  }

  function onScroll({ target }: Event): void {
    const { list, row } = runningStep()
    if (!list || !row || target !== list || list.scrollTop === ownScroll) return
    const top = row.offsetTop - list.scrollTop
    isFollowing = top >= 0 && top + row.offsetHeight <= list.clientHeight
  }
}

function runningStep(): { list: HTMLElement | null; row: HTMLElement | null } {
  const list = document.getElementById('step-rows')
  return { list, row: list?.querySelector<HTMLElement>('.step-row.running') ?? null }
}
