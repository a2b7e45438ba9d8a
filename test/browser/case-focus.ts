import { renameSync } from 'node:fs'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must } from '../fixtures/session-client.ts'

inBrowser('the focus goes on with the work; a case that goes says so', async (t, visitor) => {
  visitor.expect(/status of 404/)
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Step by step' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  const focused = (selector: string) =>
    eventually(() => page.evaluate((of) => document.activeElement?.matches(of) ?? false, selector))

  await page.click('#add-item > summary')
  await page.fill('#item-description', 'All tests pass')
  await page.keyboard.press('Enter')
  await focused('#add-item > summary')
  await page.click('#attach-proof > summary')
  await page.fill('#proof-content', 'ok 1')
  await page.click('#attach-form button[type=submit]')
  await focused('[id^=proof-] a')
  await page.click('.verify-form button')
  await focused('[id^=proof-] a')
  await page.click('#resolve button')
  await focused('#state-title')

  await page.click('#edit-case > summary')
  await service.request('PUT', `/cases/${id}`, { title: 'Renamed' })
  await page.locator('.meanwhile', { hasText: 'Title: changed meanwhile' }).waitFor()

  const away = `${service.file(id)}-away`
  renameSync(service.file(id), away)
  await page.locator('#gone').waitFor()
  t.equal(await page.locator('main [type=submit]:not(:disabled)').count(), 0)
  renameSync(away, service.file(id))
  await page.locator('#gone').waitFor({ state: 'detached' })
  t.equal(await page.locator('main [type=submit]:disabled').count(), 0)
})
