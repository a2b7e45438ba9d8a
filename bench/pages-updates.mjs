import { setTimeout as delay } from 'node:timers/promises'

/** @import { Page } from 'playwright-core' */

const CHANGES = 20
/** A page that was just brought up to date may wait a while before it is again. */
const REST_MS = 1500

/**
 * Changes the title of a case, again and again, and says how long after the request was sent the page
 * shows it, and how long after it an EventSource of the same page is told.
 * @param {Page} page
 * @param {string} url
 * @param {string} id
 */
export async function measureUpdates(page, url, id) {
  await page.locator('#live[data-state=live]').waitFor({ state: 'attached' })
  await page.evaluate(watchTitles)
  const shown = []
  const told = []
  for (let change = 0; change < CHANGES; change++) {
    await delay(REST_MS)
    const title = `Changed for the ${change + 1}th time`
    const seen = page.evaluate(/** @type {any} */ (waitFor), title)
    const began = Date.now()
    const answer = await fetch(`${url}/cases/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    })
    if (!answer.ok) throw new Error(`PUT title: ${answer.status} ${await answer.text()}`)
    const times = /** @type {{ shown: number, told: number }} */ (await seen)
    shown.push(times.shown - began)
    told.push(times.told - began)
  }
  return { shown, told }
}

/** In the page. */
function watchTitles() {
  const source = new EventSource('/events?after=now')
  const pages = /** @type {any} */ (globalThis)
  pages.told = 0
  source.addEventListener('case_updated', () => {
    pages.told = Date.now()
  })
}

/** In the page: resolves once it shows a text. @param {string} text */
function waitFor(text) {
  return new Promise((resolve) => {
    const main = /** @type {HTMLElement} */ (document.querySelector('main'))
    const observer = new MutationObserver(look)
    function look() {
      if (!main.textContent?.includes(text)) return
      observer.disconnect()
      resolve({ shown: Date.now(), told: /** @type {any} */ (globalThis).told })
    }
    observer.observe(main, { subtree: true, childList: true, characterData: true })
    look()
  })
}
