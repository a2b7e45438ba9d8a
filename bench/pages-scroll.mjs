/** @import { Page } from 'playwright-core' */

const STEPS = 200

/**
 * Scrolls a page to its end in equal steps, one for each picture, and gives the times between the
 * pictures.
 * @param {Page} page
 * @returns {Promise<number[]>}
 */
export function measureScroll(page) {
  return page.evaluate(
    (steps) =>
      new Promise((resolve) => {
        /** @type {number[]} */
        const times = []
        let before = performance.now()
        let step = 0
        /** @param {number} now */
        function frame(now) {
          times.push(now - before)
          before = now
          const all = document.documentElement.scrollHeight - innerHeight
          scrollTo({ top: (all * step) / steps, behavior: 'instant' })
          if (step++ < steps) requestAnimationFrame(frame)
          else resolve(times.slice(1))
        }
        requestAnimationFrame(frame)
      }),
    STEPS,
  )
}
