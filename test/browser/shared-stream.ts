import type { Request } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { planned, step } from '../fixtures/session-client.ts'

const TABS = 8

inBrowser('eight tabs share one stream, and all of them count', async (t, visitor) => {
  const service = await serveSample(t)
  const first = await visitor.open(`${service.url}/`)
  const context = first.context()
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

  const before = Number(await first.locator('#waiting-count').getAttribute('data-count'))
  const ref = await planned(service, { runbook: step('true') })
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
  for (const page of rest) {
    await eventually(
      async () =>
        Number(await page.locator('#waiting-count').getAttribute('data-count')) === before + 2,
    )
  }
})
