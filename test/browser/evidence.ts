import type { Page } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { openEvidence } from '../fixtures/browser-evidence.ts'
import { serveSample } from '../fixtures/browser-service.ts'

const found = (page: Page) => page.locator('#output-found')
const isFold = (page: Page, pane: string) =>
  page.locator(`#pane-${pane} > details`).evaluate((fold) => (fold as HTMLDetailsElement).open)

inBrowser('the output of a session: search, folds', async (t, visitor) => {
  const service = await serveSample(t)
  const page = await visitor.open(await openEvidence(service))
  await isLive(page)
  t.strictSame(
    [await isFold(page, '1-prepare'), await isFold(page, '2-log')],
    [false, false],
    'what succeeded is folded',
  )

  await page.keyboard.press('/')
  await page.keyboard.type('needle')
  await eventually(
    () => found(page).innerText(),
    (text) => text === '1 match',
  )
  await page.keyboard.press('Enter')
  t.ok(await isFold(page, '1-prepare'), 'a match opens its step')
  t.match(page.url(), /#L1-prepare-1$/)
  t.equal(await found(page).innerText(), '1 of 1')
  await page.locator('#output-search').fill('LINE 37')
  await eventually(
    () => found(page).innerText(),
    (text) => text === '110 matches',
  )
  await page.keyboard.press('Shift+Enter')
  t.equal(await found(page).innerText(), '110 of 110', 'backwards from the end')
  await page.locator('#output-search').fill('nowhere')
  await eventually(
    () => found(page).innerText(),
    (text) => text === 'No matches',
  )
})

inBrowser('the page of a log: a range of lines, and the next error', async (t, visitor) => {
  const service = await serveSample(t)
  const session = await openEvidence(service)
  const page = await visitor.open(`${session}/log/1-log.log`)
  const number = (line: number) =>
    page
      .locator(`#L${line}`)
      .click({ position: { x: 20, y: 8 }, modifiers: line === 10 ? [] : ['Shift'] })
  await number(10)
  t.match(page.url(), /#L10$/)
  await number(14)
  t.match(page.url(), /#L10-L14$/)
  const marked = () => page.locator('#log-lines .line.marked').count()
  t.equal(await marked(), 5)
  await page.reload()
  t.equal(await marked(), 5, 'the address keeps it')

  await page.locator('#next-error').click()
  await page.waitForURL(/line=3777#L3777$/)
  t.equal(await page.locator('.line.marked').innerText(), 'ERROR no database\n')
  await page.locator('#log-filter').fill('error')
  await page.keyboard.press('Enter')
  await page.locator('.filtered-line a').click()
  await page.waitForURL(/line=3777#L3777$/)
})

inBrowser('a report: its tests, attached from there', async (t, visitor) => {
  const service = await serveSample(t)
  const session = await openEvidence(service)
  const page = await visitor.open(session)
  await page.locator('#failed-tests').getByText('test 7').waitFor()
  const report = `${session}/log/1-test.tap`
  await page.goto(report)
  t.notOk(await page.getByText('test 8', { exact: true }).isVisible(), 'passed tests are folded')
  await page.locator('#tree > ul > li > details > summary').click()
  t.ok(await page.getByText('test 8', { exact: true }).isVisible())
  await page.getByText('Output', { exact: true }).click()
  await page.getByText('Error: no').waitFor()
  await page.getByRole('button', { name: 'Attach as test-log (1-test.tap)' }).click()
  await page.waitForURL('**/proof/*')
  t.match(await page.locator('main').innerText(), /1 of 23 tests failed/)
  await page.goto(report)
  await page.getByText('✓ attached as').waitFor()
})
