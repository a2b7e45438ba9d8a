import { inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must } from '../fixtures/session-client.ts'

inBrowser('a new case says what would prove it, and is planned at once', async (t, visitor) => {
  visitor.expect(/status of 500/)
  const service = await serveSample(t)
  const runbook = '```sh run id=look\nls\n```\n'
  const page = await visitor.open(`${service.url}/new`, { bypassCSP: true })
  await page.fill('#new-title', 'Login fails')
  await page.fill('#new-description', runbook)
  await page.getByRole('button', { name: 'All tests pass' }).click()
  await page.keyboard.type('Looks right on a phone\nFaster (benchmark, optional)')
  const preview = page.locator('#requirement-preview')
  t.match(await preview.innerText(), /All tests pass test-log, required[\s\S]*optional/)
  t.strictSame(await axeViolations(page), [])
  await page.click('#create-and-plan')
  await page.waitForURL('**/session/1')
  const [, id] = /case\/([^/]+)/.exec(page.url())!
  const { items } = await must(service, 'GET', `/cases/${id}/gate`)
  t.strictSame(
    items.map(({ type, required }: { type: string; required: boolean }) => [type, required]),
    [
      ['test-log', true],
      ['screenshot', true],
      ['benchmark', false],
    ],
  )

  await t.test('if planning fails to start, the case says so', async (t) => {
    await page.goto(`${service.url}/new`)
    await page.route('**/sessions', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'internal', detail: 'The disk is full.' }),
      }),
    )
    await page.fill('#new-title', 'Not planned')
    await page.fill('#new-description', runbook)
    await page.click('#create-and-plan')
    await page.waitForURL('**/case/*')
    await isLive(page)
    await page.locator('#not-planned').waitFor()
    t.match(await page.locator('#new-session-form').innerText(), 'The disk is full.')
    t.equal(await page.locator('h1').innerText(), 'Not planned')
  })

  await t.test('Ctrl Enter creates it only', async (t) => {
    await page.goto(`${service.url}/new`)
    await page.fill('#new-title', 'Later')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(/\/case\/[0-9a-f-]+$/)
    t.equal(await page.locator('.timeline > li').count(), 1)
  })
})
