import type { Locator, Page } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, step } from '../fixtures/session-client.ts'

const RUNBOOK = [
  'Say hello in green, and write a file. Then report one test.',
  step(`printf '\\033[32mhello from the step\\033[0m\\n'\necho made > made.txt`, 'sh run id=hello'),
  step(`printf 'TAP version 13\\nok 1 - it works\\n1..1\\n'`, 'sh run id=test proof=tap'),
].join('\n\n')

inBrowser('by mouse: from a new case to RESOLVED', async (t, visitor) => {
  const service = await serveSample(t)
  const page = await visitor.open(service.url)
  await page.getByRole('main').getByRole('link', { name: 'New case' }).click()
  await page.getByLabel('Title').fill('It does not say hello')
  await page.getByLabel('Description').fill('It **must** say hello.')
  await page.getByLabel('Tags').fill('hello, world')
  await page.getByRole('button', { name: 'Create case' }).click()

  await page.getByRole('heading', { level: 1, name: 'It does not say hello' }).waitFor()
  const casePage = page.url()
  const id = casePage.split('/').at(-1)!
  t.equal(await page.locator('strong', { hasText: 'must' }).count(), 1, 'markdown is rendered')
  t.match(await page.locator('#gate').innerText(), /At least one verified proof/)

  await page.getByText('Add a requirement', { exact: true }).click()
  await page.getByLabel('What has to be proved?').fill('The tests pass')
  await page.locator('#add-item').getByRole('button', { name: 'Add' }).click()
  await page.locator('#gate').getByText('Missing: The tests pass').waitFor()

  await page.getByText('New file', { exact: true }).click()
  await page.getByLabel('Name').fill('runbook.md')
  await page.getByRole('button', { name: 'Create file' }).click()
  await page.waitForURL('**/memory/runbook.md')
  await page.getByRole('textbox').fill(RUNBOOK)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('#memory-text').getByText('Say hello in green').waitFor()
  t.equal((await service.request('GET', `/cases/${id}/memory/runbook.md`)).text, RUNBOOK)

  await page.goto(casePage)
  await page.getByText('New session', { exact: true }).click()
  await page.getByRole('button', { name: 'Start planning' }).click()
  await page.waitForURL('**/session/1')
  const approve = page.getByRole('button', { name: 'Approve and run 2 steps' })
  await approve.click()

  // what succeeded may be folded by now
  await page.locator('#terminal').getByText('hello from the step').waitFor({ state: 'attached' })
  const attach = page.getByRole('button', { name: 'Attach as test-log (1-test.tap)' })
  await attach.waitFor()
  await page.locator('#terminal .pane details').evaluateAll((all) => {
    for (const details of all) (details as HTMLDetailsElement).open = true
  })
  t.equal(
    await page.locator('#terminal .fg-2').first().textContent(),
    'hello from the step',
    'in green',
  )
  t.strictSame(
    await page
      .locator('#steps .step-row')
      .evaluateAll((rows) => rows.map((row) => row.className.replace('step-row ', ''))),
    ['ok', 'ok'],
    'the steps say how they ended',
  )
  t.match(await page.locator('#changes').innerText(), /made\.txt/, 'and what changed')
  await attach.click()
  await page.locator('#evidence').getByText('not verified').waitFor()

  await page.goto(casePage)
  await page.locator('#proof').getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('combobox', { name: 'Outcome' }).first().fill('ConfirmedCodeBug')
  await page.getByRole('button', { name: 'Resolve this case' }).click()
  await page.locator('#state .badge[data-state=RESOLVED]').waitFor()
  const found = await must(service, 'GET', `/cases/${id}`)
  t.match(found, { state: 'RESOLVED', outcome: 'ConfirmedCodeBug', tags: ['hello', 'world'] })
})

inBrowser('by keyboard alone: from a new case to RESOLVED', async (t, visitor) => {
  const service = await serveSample(t)
  const page = await visitor.open(service.url)
  await isLive(page)
  await page.keyboard.press('n')
  await page.waitForURL('**/new')
  await page.getByLabel('Title').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Typed without a mouse')
  await page.keyboard.press('Control+Enter')
  await page.waitForURL('**/case/*')
  await isLive(page)
  const id = page.url().split('/').at(-1)!
  await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, RUNBOOK)

  await page.keyboard.press('s')
  await tabTo(page, page.getByRole('radio', { name: 'Make the change implementing' }))
  await tabTo(page, page.getByRole('button', { name: 'Start planning' }))
  await page.keyboard.press('Enter')
  await page.waitForURL('**/session/1')
  await page.getByRole('button', { name: 'Approve and run 2 steps' }).waitFor()

  await page.keyboard.press('a')
  const approve = page.getByRole('button', { name: 'Approve and run 2 steps' })
  await eventually(() => isFocused(approve))
  t.equal((await sessionOf()).state, 'plan_ready', 'the key alone approves nothing')
  await page.keyboard.press('Enter')
  const attach = page.getByRole('button', { name: 'Attach as test-log (1-test.tap)' })
  await attach.waitFor()
  await tabTo(page, attach)
  await page.keyboard.press('Enter')
  await page.locator('#evidence').getByText('not verified').waitFor()

  await tabTo(page, page.getByRole('link', { name: 'Typed without a mouse' }).first())
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/case/${id}`)
  await isLive(page)
  await tabTo(page, page.locator('.verify-form').getByRole('button', { name: 'Verify' }))
  await page.keyboard.press('Enter')
  await page.locator('#proof').getByText('✓ verified').waitFor()
  await tabTo(page, page.getByRole('combobox', { name: 'Outcome' }).first())
  await page.keyboard.type('FeatureShipped')
  await page.keyboard.press('Enter')
  await page.locator('#state .badge[data-state=RESOLVED]').waitFor()

  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.waitForURL(service.url)
  await isLive(page)
  await page.keyboard.press('/')
  await page.keyboard.type('without a mouse')
  const row = page.getByRole('link', { name: 'Typed without a mouse' })
  await eventually(() => page.locator('[data-row]').count(), isOne)
  await page.keyboard.press('Enter')
  await eventually(() => isFocused(row))
  await page.keyboard.press('j')
  t.ok(await isFocused(row), 'there is no other row')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/case/${id}`)

  async function sessionOf() {
    return (await must(service, 'GET', `/cases/${id}/sessions`))[0]
  }
})

const isOne = (count: number) => count === 1

/** Goes on with Tab until an element has the focus, as it has to get it within one way around the page. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor()
  for (let presses = 0; presses < 120; presses++) {
    if (await isFocused(wanted)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${wanted}`)
}

function isFocused(wanted: Locator): Promise<boolean> {
  return wanted.evaluate((element) => element === document.activeElement)
}
