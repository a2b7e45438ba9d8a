import { readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, planned, step } from '../fixtures/session-client.ts'

const SAY = step('echo the first text runs', 'sh run id=say')

inBrowser('what one approves, another one sees without a reload', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: SAY, fields: { title: 'For two' } })
  const of = `${service.url}/case/${ref.case_id}`
  const [ada, grace, list] = await Promise.all([
    visitor.open(`${of}/session/1`),
    visitor.open(`${of}/session/1`),
    visitor.open(service.url),
  ])
  for (const page of [ada, grace, list]) {
    await isLive(page)
    await page.evaluate(() => Object.assign(window, { sameDocument: true }))
  }
  t.match(await list.locator(`#case-${ref.case_id}`).innerText(), /plan/i)
  await grace.locator('.step-edit-button').click()
  await grace.locator('.step-edit textarea').fill('what Grace wants')
  await ada.getByRole('button', { name: 'Approve and run 1 step' }).dblclick()
  for (const page of [ada, grace]) {
    await page.locator('#session-head .badge[data-state=complete]').waitFor()
    await page.locator('#terminal').getByText('the first text runs').waitFor()
    t.equal(await page.locator('#approve-button').count(), 0)
    t.equal(await page.locator('.step-actions').count(), 0, 'the plan is over')
  }
  await grace.getByRole('button', { name: 'Save step' }).click()
  await grace.getByText('The plan no longer waits for approval').waitFor()
  t.equal(await grace.locator('.step-edit textarea').inputValue(), 'what Grace wants')
  await eventually(
    () => list.locator(`#case-${ref.case_id}`).innerText(),
    (text) => !/plan/i.test(text),
  )
  for (const page of [grace, list])
    t.equal(await page.evaluate(() => 'sameDocument' in window), true, 'the same document')
  const { trail } = await trailOf(service.file(ref.case_id, 'sessions', '1.md'))
  t.equal(trail.match(/ plan_approved /g)?.length, 1, 'a double click approves once')
})

inBrowser(
  'a plan that changes on the disk disarms Approve until it is read',
  async (t, visitor) => {
    const service = await serveSample(t)
    const ref = await planned(service, { runbook: SAY })
    const file = service.file(ref.case_id, 'sessions', '1.md')
    const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
    await isLive(page)
    const button = page.locator('#approve-button')
    t.equal(await button.isEnabled(), true)

    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('echo the first text runs', 'echo the second text runs'))
    await page.locator('#plan-text').getByText('echo the second text runs').waitFor()
    await eventually(async () => !(await isArmed(page)))
    await page.keyboard.press('a')
    t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready', 'nothing has run')

    await page.getByRole('button', { name: "I've reviewed the changes" }).click()
    await eventually(() => isArmed(page))
    await button.click()
    await page.locator('#terminal').getByText('the second text runs').waitFor()
    const session = await must(service, 'GET', ref.path)
    t.match(session.plan, /the second text runs/)
    t.notMatch(session.output, /the first text runs/)
  },
)

inBrowser(
  'what was read is the text that was there, not one that came since',
  async (t, visitor) => {
    const service = await serveSample(t)
    const ref = await planned(service, { runbook: SAY })
    const file = service.file(ref.case_id, 'sessions', '1.md')
    const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
    await isLive(page)
    const shows = (text: string) => page.locator('#plan-text').getByText(text).waitFor()
    const change = (from: string, to: string) =>
      writeFileSync(file, readFileSync(file, 'utf8').replace(`echo the ${from}`, `echo the ${to}`))

    change('first', 'second')
    await shows('echo the second text runs')
    const notice = page.locator('#plan-changed')
    t.match(await notice.innerText(), /just changed/)
    const early = await page
      .getByRole('button', { name: "I've reviewed the changes" })
      .elementHandle()

    change('second', 'third')
    await shows('echo the third text runs')
    t.match(await notice.innerText(), /changed again/)
    t.equal(await notice.count(), 1)
    await early!.evaluate((button: HTMLElement) => button.click())
    t.equal(await isArmed(page), false, 'the button that stood by the second text arms nothing')
    await page.getByRole('button', { name: "I've reviewed the changes" }).click()
    await eventually(() => isArmed(page))
    t.equal(await notice.count(), 0)

    change('third', 'second')
    await shows('echo the second text runs')
    await eventually(async () => !(await isArmed(page)))
    change('second', 'third')
    await shows('echo the third text runs')
    await eventually(() => isArmed(page))
    t.equal(await notice.count(), 0, 'what was read is back')
    t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready', 'nothing has run')
  },
)

inBrowser('a click that lost the race against a change runs nothing', async (t, visitor) => {
  visitor.expect(/status of 409/)
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: SAY })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const address = `${service.url}/case/${ref.case_id}/session/1`
  const page = await visitor.open(address)
  await isLive(page)
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route(address, async (route) => {
    await held
    await route.continue()
  })
  const before = (await must(service, 'GET', ref.path)).plan_sha256
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('echo the first text runs', 'echo the second text runs'))
  await eventually(
    async () => (await must(service, 'GET', ref.path)).plan_sha256,
    (hash) => hash !== before,
  )
  const answer = page.waitForResponse(/\/approve$/)
  await page.locator('#approve-button').click()
  t.equal((await answer).status(), 409)
  goOn()
  await page.locator('#plan-text').getByText('echo the second text runs').waitFor()
  await eventually(async () => !(await isArmed(page)))
  t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready', 'nothing has run')
})

inBrowser(
  'two who edit one file: the second is warned, and nothing is lost',
  async (t, visitor) => {
    visitor.expect(/status of 412/)
    const service = await serveSample(t)
    const { id } = await must(service, 'POST', '/cases', { title: 'Two write' })
    const api = `/cases/${id}/memory/notes.md`
    await must(service, 'PUT', api, 'What both know.\r\n')
    const [ada, grace] = await Promise.all([
      visitor.open(`${service.url}/case/${id}/memory/notes.md`),
      visitor.open(`${service.url}/case/${id}/memory/notes.md`),
    ])
    for (const page of [ada, grace]) {
      await isLive(page)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('textbox').waitFor()
    }
    await ada.getByRole('textbox').fill('What both know.\nWhat Ada adds.\n')
    await grace.getByRole('textbox').fill('What both know.\nWhat Grace adds.\n')
    await ada.getByRole('button', { name: 'Save' }).click()
    await eventually(
      async () => (await service.request('GET', api)).text,
      (text) => text === 'What both know.\r\nWhat Ada adds.\r\n',
    )
    await grace.locator('#memory-editor').getByText('What Ada adds.').first().waitFor()
    t.match(await grace.getByRole('textbox').first().inputValue(), /What Grace adds/)
    await grace.getByRole('button', { name: 'Overwrite with mine' }).click()
    await eventually(
      async () => (await service.request('GET', api)).text,
      (text) => /What Grace adds/.test(text),
    )
  },
)

/** Whether a click on Approve would approve. */
async function isArmed(page: Page): Promise<boolean> {
  const button = page.locator('#approve-button')
  return (await button.isVisible()) && (await button.isEnabled())
}

async function trailOf(file: string) {
  const text = readFileSync(file, 'utf8')
  return { trail: text.slice(text.indexOf('## Audit trail')) }
}
