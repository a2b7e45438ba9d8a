import { scrollInto } from '../../client/scroll-into.ts'
import { planText } from './plan-lines.ts'

/** Marks in the outline where the reader is in the plan. */
export function startPlanOutline(): void {
  let isScheduled = false
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      showCurrent()
    })
  }
  document.addEventListener('scroll', schedule, { passive: true })
  addEventListener('resize', schedule)
  document.addEventListener('refreshed', schedule)
  schedule()
}

/** The last step or heading above the middle of the window is where the reader is. */
function showCurrent(): void {
  const list = document.getElementById('step-rows')
  const found = planText()?.querySelectorAll<HTMLElement>(
    'figure.step, .markdown :is(h3, h4, h5, h6)[id]',
  )
  if (!list || !found) return
  const current = [...found]
    .filter((place) => place.getBoundingClientRect().top < innerHeight / 2)
    .at(-1)?.id
  for (const link of list.querySelectorAll('a')) {
    if (link.hash === `#${current}`) {
      if (link.getAttribute('aria-current') !== 'true') {
        link.setAttribute('aria-current', 'true')
        scrollInto(list, link, 8)
      }
    } else link.removeAttribute('aria-current')
  }
}
