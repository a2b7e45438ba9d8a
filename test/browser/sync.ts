import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { git, must } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

inBrowser('the list of cases shares the record', async (t, visitor) => {
  const dir = makeOrigin(t)
  const other = await openSyncedClone(t, { dir, name: 'other' })
  const { id } = await must(other, 'POST', '/cases', { title: 'Sign-in <b>fails</b>' })
  await other.sync()
  const clone = await openSyncedClone(t, { dir, name: 'own' })
  await clone.close()
  const { root, stateDir } = clone
  const service = await startBuilt(t, { root, stateDir })

  const page = await visitor.open(service.url, { bypassCSP: true })
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().endsWith('/sync')) asked.push(request.url())
  })
  const state = page.locator('#sync-state')
  const result = page.locator('#sync-result')
  const button = page.getByRole('button', { name: 'Sync' })
  const says = (expected: RegExp | string) =>
    eventually(
      () => state.innerText(),
      (text) => (typeof expected === 'string' ? text.includes(expected) : expected.test(text)),
    )
  const press = async () => {
    const answer = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/sync'),
    )
    await button.press('Enter')
    await answer
    await result.locator('.notice, .form-error').waitFor()
    await page.getByRole('button', { name: 'Sync', exact: true }).waitFor()
    return result.innerText()
  }

  await t.test('says what is to send', async (t) => {
    await says('Nothing to send · no sync yet')
    t.notOk(await result.isVisible())
    await must(service, 'PUT', `/cases/${id}`, { type: 'feature' })
    await page.reload()
    await says(/^\d changed files to send/)
  })

  await t.test('asks again a minute after the list has changed, not at each change', async (t) => {
    await page.clock.install()
    await page.reload()
    await says(/changed files to send/)
    await isLive(page)
    asked.length = 0
    for (const title of ['One', 'Two', 'Three']) {
      await must(service, 'POST', '/cases', { title })
      await page.locator('#case-list').getByText(title, { exact: true }).waitFor()
    }
    t.equal(asked.length, 0)
    await page.clock.fastForward(60_000)
    await says('8 changed files to send')
    t.equal(asked.length, 1)
  })

  await t.test('a press sends and receives, and says what', async (t) => {
    await must(other, 'PUT', `/cases/${id}`, { title: 'Sign-in <b>fails</b> again' })
    await other.sync()
    const text = await press()
    t.match(text, 'In sync with origin/main.')
    t.match(text, /Sent 2 commits: .*One.*\n/)
    t.match(text, 'Received 1 commit: Sign-in <b>fails</b> again')
    await result.getByRole('link', { name: 'Sign-in <b>fails</b> again' }).last().waitFor()
    await says(/^Nothing to send · last sync .*(now|ago)/)
    t.ok(await button.evaluate((each) => each === document.activeElement), 'keeps the focus')
    t.match(await must(service, 'GET', `/cases/${id}`), { type: 'feature', title: / again$/ })
    t.strictSame(await axeViolations(page), [])
    t.match(await press(), 'Nothing was new on either side.')
  })

  await t.test('a conflict names the file and leads to the case', async (t) => {
    await other.sync()
    await must(other, 'PUT', `/cases/${id}`, { title: 'By the other' })
    await must(service, 'PUT', `/cases/${id}`, { title: 'By me' })
    await other.sync()
    const text = await press()
    t.match(text, 'In sync with origin/main, but something needs you.')
    t.match(text, /By me: case\.md could not be merged\. Yours stays.*case\.conflict-/s)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      t.strictSame(await axeViolations(page), [], colorScheme)
    }
    await page.setViewportSize({ width: 390, height: 740 })
    t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.reload()
    await eventually(
      () => result.innerText(),
      (text) => text.includes('case.md could not be merged'),
    )
    await result.getByRole('link', { name: 'By me' }).first().click()
    await page.waitForURL(`**/case/${id}`)
    for (const copy of copiesIn(clone)) rmSync(join(clone.memory, copy))
    await page.goBack()
  })

  await t.test('what it stopped for stays until the next press', async (t) => {
    git(join(root, 'memory'), 'remote', 'set-url', 'origin', join(dir, 'missing.git'))
    await must(service, 'PUT', `/cases/${id}`, { title: 'Not sent' })
    t.match(await press(), /^Nothing was sent\. .*missing/)
    await says('1 commit to send · last tried ')
    await page.locator('#case-list').getByText('Not sent', { exact: true }).waitFor()
    t.match(await result.innerText(), 'Nothing was sent', 'through a refresh')
    await page.reload()
    await eventually(
      () => result.innerText(),
      (text) => text.startsWith('Nothing was sent'),
    )
    git(join(root, 'memory'), 'remote', 'set-url', 'origin', join(dir, 'origin.git'))
    t.match(await press(), /^In sync with origin\/main\.\s+Sent \d commits?/)
  })

  await t.test('a service that is away', async (t) => {
    visitor.expect(/ERR_CONNECTION_RE|ERR_INCOMPLETE|ERR_EMPTY/)
    await service.stop('SIGKILL')
    await button.press('Enter')
    t.match(await result.locator('.form-error').innerText(), "Casefile isn't responding")
  })
})

inBrowser('a record that is not shared has no such line', async (t, visitor) => {
  const dir = makeOrigin(t)
  const clone = await openSyncedClone(t, { dir, name: 'own' })
  clone.git('remote', 'remove', 'origin')
  const page = await visitor.open(clone.url)
  await isLive(page)
  const response = page.waitForResponse(/\/sync$/)
  await page.reload()
  await response
  await isLive(page)
  t.notOk(await page.locator('#sync').isVisible())
})
