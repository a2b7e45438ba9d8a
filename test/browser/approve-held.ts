import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { git, must, planned, reaches, step } from '../fixtures/session-client.ts'

const SAY = step('echo this runs', 'sh run id=say')

inBrowser('Approve is held back while an edit is not saved', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: SAY })
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  const approve = page.locator('#approve-button')
  await page.getByRole('button', { name: 'Edit the plan' }).click()
  t.equal(await approve.isEnabled(), true, 'nothing is written yet')
  await page.getByLabel('Plan', { exact: true }).fill(SAY.replace('this', 'that'))
  t.equal(await approve.isEnabled(), false)
  await page.getByText('You have an unsaved edit').waitFor()
  await must(service, 'PUT', `/cases/${ref.case_id}`, { title: 'Told anew' })
  await page.getByText('Told anew').first().waitFor()
  t.equal(await approve.isEnabled(), false, 'another page does not lift it')
  await page.getByRole('button', { name: 'Discard' }).click()
  t.equal(await approve.isEnabled(), true)
  t.equal(await page.locator('.unsaved-warning').count(), 0)

  await page.locator('#approve').getByRole('button', { name: 'Comment' }).click()
  await page.locator('#comment-text').fill('More')
  await page.getByText('You have an unsaved comment').waitFor()
  t.equal(await approve.isEnabled(), false)
  await page.locator('#comment-text').fill('')
  t.equal(await approve.isEnabled(), true)

  await page.getByRole('button', { name: 'Edit the plan' }).click()
  await page.getByLabel('Plan', { exact: true }).fill(SAY.replace('this', 'that'))
  await page.getByRole('button', { name: 'Save the plan' }).click()
  await page.locator('#plan-text').getByText('echo that runs').waitFor()
  await eventually(() => approve.isEnabled())

  await page.goto(`${page.url()}?view=diff`)
  t.equal(await approve.count(), 0, 'where a part of the text is shown nothing is approved')
  await page.getByRole('link', { name: 'Read the whole plan' }).click()
  await page.locator('#plan-text').getByText('echo that runs').waitFor()
  t.equal(await approve.isEnabled(), true)
})

inBrowser('Enter that is pressed twice approves once', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: SAY })
  const address = `${service.url}/case/${ref.case_id}/session/1`
  const page = await visitor.open(address)
  await isLive(page)
  let sent = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/approve')) sent++
  })
  await page.route(address, (route) => route.abort())
  visitor.expect(/ERR_FAILED/)
  await page.keyboard.press('a')
  const answer = page.waitForResponse(/\/approve$/)
  await page.keyboard.press('Enter')
  await (await answer).finished()
  await eventually(async () => !(await page.locator('#approve-button').isEnabled()))
  await page.keyboard.press('Enter')
  await page.unroute(address)
  await page.locator('#session-head .badge[data-state=complete]').waitFor()
  t.equal(sent, 1)
})

inBrowser('what was said goes once it does not hold any more', async (t, visitor) => {
  visitor.expect(/status of 409|ERR_FAILED/)
  const service = await serveSample(t)
  rmSync(join(service.root, '.git'), { recursive: true, force: true }) // without git it cannot wait in line
  const go = join(service.root, 'go')
  const wait = step(`until [ -e '${go}' ]; do sleep 0.05; done`, 'sh run id=wait')
  const [one, other] = [
    await planned(service, { runbook: wait }),
    await planned(service, { runbook: SAY }),
  ]
  const page = await visitor.open(`${service.url}/case/${other.case_id}/session/1`)
  await isLive(page)
  await page.route('**/approve', (route) => route.abort())
  await page.locator('#approve-button').click()
  // "isn't responding", or, where the page was just being fetched, "it does now"
  await page.locator('.form-error.unreachable').waitFor()
  await page.unroute('**/approve')
  await must(service, 'PUT', `/cases/${other.case_id}`, { title: 'Told anew' })
  await page.getByText("Casefile didn't answer, but it does now").waitFor()

  await must(service, 'POST', `${one.path}/approve`)
  await page.locator('#approve-button').click()
  await page.getByRole('link', { name: 'Show that session' }).waitFor()
  writeFileSync(go, '')
  await page.locator('.form-error').waitFor({ state: 'detached' })
  t.equal(await page.locator('#approve-button').isEnabled(), true)
})

inBrowser('a plan whose folder is not free waits in line', async (t, visitor) => {
  const service = await serveSample(t)
  git(service.root, 'init', '-q')
  writeFileSync(join(service.root, '.git/info/exclude'), 'go\n')
  const go = join(service.root, 'go')
  const wait = step(`until [ -e '${go}' ]; do sleep 0.05; done`, 'sh run id=wait')
  const one = await planned(service, { runbook: wait, fields: { title: 'The first' } })
  const other = await planned(service, { runbook: SAY })
  const page = await visitor.open(`${service.url}/case/${other.case_id}/session/1`)
  await isLive(page)
  await must(service, 'POST', `${one.path}/approve`)
  await reaches(service, one, 'executing')
  await must(service, 'PUT', `/cases/${other.case_id}`, { title: 'The second' })
  const queue = page.getByRole('button', { name: 'Approve, and wait in line' })
  await queue.click()
  await page.getByText('Waits in line (next), after session 1 of “The first”.').waitFor()
  await page.locator('#leave-line').click()
  await page.getByText('This plan needs your approval again.').waitFor()
  await queue.click()
  await page.locator('#leave-line').waitFor()
  writeFileSync(go, '')
  await page.locator('#session-head .badge[data-state=complete]').waitFor()
})
