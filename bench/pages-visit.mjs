import { setTimeout as delay } from 'node:timers/promises'

/** @import { Browser, Page } from 'playwright-core' */

const POLL_MS = 20
const PATIENCE_MS = 60_000

/**
 * Opens an address in a browser context of its own, so with nothing cached, and says how long it took
 * from the beginning of the navigation.
 * @param {Browser} browser
 * @param {string} url
 * @param {(page: Page) => unknown} [look] What is done with the page before it is closed.
 */
export async function visit(browser, url, look) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const page = await context.newPage()
    await page.goto(url)
    const times = await eventually(() => page.evaluate(timesOf))
    await look?.(page)
    return times
  } finally {
    await context.close()
  }
}

/** In the page. Its script is a module, and has run when DOMContentLoaded has been told. */
function timesOf() {
  const paint = performance.getEntriesByName('first-contentful-paint')[0]
  const navigation = /** @type {PerformanceNavigationTiming | undefined} */ (
    performance.getEntriesByType('navigation')[0]
  )
  if (!paint || !navigation?.loadEventEnd) return null
  return {
    answer: navigation.responseEnd,
    paint: paint.startTime,
    interactive: navigation.domContentLoadedEventEnd,
  }
}

/**
 * @template Value
 * @param {() => Promise<Value | null | undefined | false>} look
 * @returns {Promise<Value>}
 */
export async function eventually(look) {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const value = await look()
    if (value) return value
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${look}`)
    await delay(POLL_MS)
  }
}

/** @param {readonly number[]} values @param {number} [part] From 0 to 1; the median if it is left out. */
export function quantile(values, part = 0.5) {
  const sorted = [...values].sort((a, b) => a - b)
  return /** @type {number} */ (
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]
  )
}
