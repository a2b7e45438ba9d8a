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
  await page.fill('#proof-content', 'ok 1\n1..1')
  await page.click('#attach-form button[type=submit]')
  await focused('[id^=proof-] a')
  await page.click('.verify-form button')
  await focused('[id^=proof-] a')
  await page.click('#resolve button')
  await focused('#state-title')

  await page.click('#edit-case > summary')
  await service.request('PUT', `/cases/${id}`, { title: 'Renamed' })
  const title = page.locator('#edit-title')
  await eventually(
    () => title.inputValue(),
    (value) => value === 'Renamed',
  )
  await title.fill('Mine')
  await service.request('PUT', `/cases/${id}`, { title: 'Renamed again' })
  await page.getByText('The case changed while you were editing').waitFor()
  t.equal(await title.inputValue(), 'Mine', 'what is written stays')

  const away = `${service.file(id)}-away`
  renameSync(service.file(id), away)
  await page.locator('#gone').waitFor()
  t.equal(await page.locator('main [type=submit]:not(:disabled)').count(), 0)
  renameSync(away, service.file(id))
  await page.locator('#gone').waitFor({ state: 'detached' })
  t.equal(await page.locator('main [type=submit]:disabled').count(), 0)
})

inBrowser(
  'a page fetched before the work was done leaves the focus to the next',
  async (t, visitor) => {
    const service = await serveSample(t)
    const { id } = await must(service, 'POST', '/cases', { title: 'Late page' })
    const note = { type: 'note', content: 'Seen' }
    const proof = await must(service, 'POST', `/cases/${id}/proof`, note)
    await must(service, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
    const page = await visitor.open(`${service.url}/case/${id}`)
    await isLive(page)
    await page.evaluate(() => {
      document.addEventListener('sent', () => document.body.setAttribute('data-sent', ''))
    })

    let fetched = () => {}
    let release = () => {}
    const isFetched = new Promise<void>((resolve) => {
      fetched = resolve
    })
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(
      page.url(),
      async (route) => {
        const response = await route.fetch()
        fetched()
        await isReleased
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await must(service, 'POST', `/cases/${id}/proof`, { ...note, content: 'Seen again' })
    await isFetched
    await page.click('#resolve button')
    await page.locator('body[data-sent]').waitFor()
    release()
    await page.locator('#resolve').waitFor({ state: 'detached' })
    t.equal(await page.evaluate(() => document.activeElement?.id), 'state-title')
  },
)
