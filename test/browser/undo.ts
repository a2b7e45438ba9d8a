import type { Page } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { type BrowserService, serveSample } from '../fixtures/browser-service.ts'
import { must } from '../fixtures/session-client.ts'

type Visitor = Parameters<Parameters<typeof inBrowser>[1]>[1]

inBrowser('a resolved case is as it was after Undo, by key', async (t, visitor) => {
  const { service, id, page } = await provedCase(visitor, t)
  await page.fill('#resolve [name=reason]', 'The cause was a stale token')
  await page.click('#resolve button')
  const toast = page.locator('#notices .notice-action')
  await toast.getByText('Resolved.').waitFor()
  t.equal(await page.locator('#notices').getAttribute('role'), 'status')
  t.strictSame(await axeViolations(page), [])
  await page.keyboard.press('u')
  await page.locator('#notices').getByText('Undone.').waitFor()
  await toast.waitFor({ state: 'detached' })
  await page.locator('#resolve').waitFor()
  t.match(await must(service, 'GET', `/cases/${id}`), {
    state: 'VERIFYING',
    outcome: 'FeatureShipped',
    reason: 'Nearly there',
  })
  const history = await must(service, 'GET', `/cases/${id}/history`)
  t.match(history.slice(-2), [
    { what: /VERIFYING → RESOLVED/, text: 'The cause was a stale token' },
    { what: /RESOLVED → VERIFYING/, text: 'undone' },
  ])
  await page.keyboard.press('u')
  t.equal((await must(service, 'GET', `/cases/${id}`)).state, 'VERIFYING', 'the key is free again')
})

inBrowser('an offer to undo outlives its page, and leads the focus back', async (t, visitor) => {
  const { service, id, page } = await provedCase(visitor, t)
  await block(page)
  const button = page.getByRole('button', { name: 'Undo' })
  await page.goto(`${service.url}/`)
  await page.locator('#notices').getByText('Moved to Blocked.').waitFor()
  await page.goto(`${service.url}/case/${id}`)
  await isLive(page)
  await page.locator('body').press('Shift+Tab')
  await eventually(() => button.evaluate((each) => each === document.activeElement))
  await page.keyboard.press('Enter')
  await page.locator('#notices').getByText('Undone.').waitFor()
  await eventually(() =>
    page.evaluate(() => document.activeElement?.matches('#set-state > summary') ?? false),
  )
  t.equal((await must(service, 'GET', `/cases/${id}`)).state, 'VERIFYING')
})

inBrowser('Undo takes back nothing that somebody changed after it', async (t, visitor) => {
  visitor.expect(/status of 412/)
  const { service, id, page } = await provedCase(visitor, t)
  await block(page)
  await must(service, 'PUT', `/cases/${id}`, { title: 'By somebody else' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Not undone: it was changed after that.').waitFor()
  t.match(await must(service, 'GET', `/cases/${id}`), {
    state: 'BLOCKED',
    title: 'By somebody else',
  })
})

inBrowser(
  'an offer to undo stays for ten seconds, and while it has the focus',
  async (t, visitor) => {
    const { page } = await provedCase(visitor, t)
    await page.clock.install()
    await page.reload()
    await isLive(page)
    await block(page)
    const toast = page.locator('#notices .notice-action')
    await page.clock.runFor(9_000)
    t.equal(await toast.count(), 1)
    await toast.getByRole('button').focus()
    await page.clock.runFor(60_000)
    t.equal(await toast.count(), 1, 'it has the focus')
    await page.locator('#set-state > summary').focus()
    await page.clock.runFor(5_000)
    t.equal(await toast.count(), 0)
  },
)

interface ProvedCase {
  service: BrowserService
  id: string
  page: Page
}

/** The page of a case whose gate is open. */
async function provedCase(
  visitor: Visitor,
  t: Parameters<typeof serveSample>[0],
): Promise<ProvedCase> {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Undo' })
  const proof = await must(service, 'POST', `/cases/${id}/proof`, { type: 'note', content: 'Seen' })
  await must(service, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
  const state = { state: 'VERIFYING', outcome: 'FeatureShipped', reason: 'Nearly there' }
  await must(service, 'PUT', `/cases/${id}/state`, state)
  const page = await visitor.open(`${service.url}/case/${id}`, { bypassCSP: true })
  await isLive(page)
  return { service, id, page }
}

async function block(page: Page): Promise<void> {
  await page.click('#set-state > summary')
  await page.selectOption('#new-state', 'BLOCKED')
  await page.locator('#set-state').getByRole('button', { name: 'Save' }).click()
  await page.locator('#notices').getByText('Moved to Blocked.').waitFor()
}
