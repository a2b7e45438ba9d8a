import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'

const RESOLVED = '/case/6802b34d-37d5-420a-afaa-e69e7f45a6ed'

inBrowser('Ctrl-K leads everywhere, by keys alone', async (t, visitor) => {
  const { url } = await serveSample(t)
  const page = await visitor.open(url + RESOLVED, { bypassCSP: true })
  await isLive(page)
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  const chosen = palette.locator('[aria-selected=true]')
  const chooses = (title: string) =>
    eventually(
      () => chosen.innerText(),
      (text) => text.includes(title),
    )

  await t.test('Esc closes it, and the focus goes back', async (t) => {
    await page.focus('#set-state > summary')
    await page.keyboard.press('Control+k')
    await palette.getByText('Recent cases').waitFor()
    await palette.getByText('Session 1: implementing').waitFor()
    t.strictSame(await axeViolations(page), [])
    await page.setViewportSize({ width: 390, height: 740 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    t.notOk(wide, 'it fits on a phone')
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    t.ok(await page.evaluate(() => document.activeElement?.matches('#set-state > summary')))
  })

  await t.test('it runs what the page can do', async (t) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('attach')
    await chooses('Attach proof')
    const input = palette.getByRole('combobox')
    t.equal(await input.getAttribute('aria-activedescendant'), await chosen.getAttribute('id'))
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    t.ok(await page.locator('#attach-form').isVisible())
    await page.keyboard.press('Escape')
  })

  await t.test('it turns the single keys off and on', async (t) => {
    for (const [words, key] of [
      ['keys off', null],
      ['keys on', 'g'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(words)
      await chooses(`Turn single ${words}`)
      await page.keyboard.press('Enter')
      await palette.waitFor({ state: 'detached' })
      t.equal(await page.locator('[data-key=g]').getAttribute('aria-keyshortcuts'), key)
    }
  })

  await t.test('it turns notifications on and off', async () => {
    await page.evaluate(() => {
      Object.defineProperty(Notification, 'permission', { get: () => 'granted' })
      Notification.requestPermission = async () => 'granted'
    })
    for (const [words, pressed] of [
      ['notifications on', 'true'],
      ['notifications off', 'false'],
    ]) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(words!)
      await chooses(`Turn ${words}`)
      await page.keyboard.press('Enter')
      await page.locator(`#notify[aria-pressed=${pressed}]`).waitFor()
    }
  })

  await t.test('it finds a case by some letters, with the arrows too', async () => {
    await page.click('[data-palette]')
    await page.keyboard.type('hw lng')
    await chooses('How long should a sign-in last?')
    await page.keyboard.press('ArrowDown')
    await chooses('')
    await page.keyboard.press('ArrowUp')
    await chooses('How long should a sign-in last?')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/case/f31d0e43-a96a-4ba5-a763-cefea030aa5e')
  })
})

inBrowser('what the arrows chose stays chosen when the service answers', async (t, visitor) => {
  const { url } = await serveSample(t)
  const page = await visitor.open(url + RESOLVED)
  await isLive(page)
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  const chosen = palette.locator('[aria-selected=true]')
  await page.keyboard.press('Control+k')
  await palette.getByText('Recent cases').waitFor()
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route('**/palette?q=sign', async (route) => {
    await held
    await route.continue()
  })
  await page.keyboard.type('sign')
  await palette.getByText('Search all content').waitFor()
  await page.keyboard.press('ArrowUp')
  t.match(await chosen.innerText(), 'Search all content')
  const answered = page.waitForResponse('**/palette?q=sign')
  goOn()
  await answered
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
  t.match(await chosen.innerText(), 'Search all content')
})
