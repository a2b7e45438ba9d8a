import type { Page, Request } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { planned, step } from '../fixtures/session-client.ts'

const TABS = 8

/** In place of the browser's own, which nobody sees here. */
function recordNotifications(): void {
  const shown: unknown[] = []
  Object.assign(window, { shown })
  class Recorded {
    static permission = 'granted'
    static requestPermission = async () => 'granted'
    onclick: (() => void) | null = null
    constructor(title: string, options: NotificationOptions) {
      shown.push({ title, body: options.body, tag: options.tag })
      Object.assign(window, { last: this })
    }
    close(): void {}
  }
  Object.assign(window, { Notification: Recorded })
}

const shownIn = (page: Page) =>
  page.evaluate(() => (window as unknown as { shown: { title: string; body: string }[] }).shown)

inBrowser('eight tabs share one stream, and one of them notifies', async (t, visitor) => {
  const service = await serveSample(t)
  const first = await visitor.open(`${service.url}/`)
  const context = first.context()
  await context.addInitScript(recordNotifications)
  await first.reload()
  let open = 0
  let most = 0
  context.on('request', (request) => {
    if (!request.url().includes('/events?')) return
    most = Math.max(most, ++open)
  })
  const ended = (request: Request) => {
    if (request.url().includes('/events?')) open--
  }
  context.on('requestfailed', ended)
  context.on('requestfinished', ended)
  const addresses = ['/docs', '/new', '/find?q=token', '/', '/', '/docs', '/']
  const pages = [first]
  for (const address of addresses) {
    const page = await context.newPage()
    await page.goto(service.url + address)
    pages.push(page)
  }
  t.equal(pages.length, TABS)
  for (const page of pages) if (new URL(page.url()).pathname === '/') await isLive(page)
  t.ok(most <= 1, `tabs opened since have ${most} connections of their own`)

  const button = first.locator('#notify')
  t.equal(await button.getAttribute('aria-pressed'), 'false', 'nothing before a click')
  await button.click()
  t.equal(await button.getAttribute('aria-pressed'), 'true')
  await eventually(() => pages[1]!.locator('#notify[aria-pressed=true]').count())

  const before = Number(await first.locator('#waiting-count').getAttribute('data-count'))
  const ref = await planned(service, { runbook: step('true') })
  const all = await eventually(
    async () => (await Promise.all(pages.map(shownIn))).flat(),
    (list) => list.length > 0,
  )
  await first.waitForTimeout(500)
  const later = (await Promise.all(pages.map(shownIn))).flat()
  t.strictSame(later, all)
  t.match(all, [{ body: 'The plan of session 1 is ready' }])
  for (const page of pages) {
    await eventually(
      async () =>
        Number(await page.locator('#waiting-count').getAttribute('data-count')) === before + 1,
    )
  }
  const docs = pages[1]!
  t.match(await docs.locator('link[rel=icon]').getAttribute('href'), /favicon-other/)

  // the tab with the connection goes; another takes over
  await first.close()
  const rest = pages.slice(1)
  const session = rest.at(-1)!
  await session.goto(`${service.url}/case/${ref.case_id}/session/1`)
  t.match(await session.title(), /^● plan ready · Session 1: /)
  t.match(await session.locator('link[rel=icon]').getAttribute('href'), /favicon-waits/)
  await session.goto(`${service.url}/docs`)
  await planned(service, { runbook: step('true') })
  await eventually(
    async () => (await Promise.all(rest.map(shownIn))).flat(),
    (list) => list.length === 1,
  )
})
