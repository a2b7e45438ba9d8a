import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must } from '../fixtures/session-client.ts'

const COUNT = 5000
/** The sample's own. */
const OTHERS = 12
const ALL = (COUNT + OTHERS).toLocaleString('en')
const STATES = ['OPEN', 'INVESTIGATING', 'IMPLEMENTING', 'WATCHLIST']
/** On a busy machine as well. */
const PAGE_MS = 1500

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

function addCases(root: string): void {
  for (let number = 1; number <= COUNT; number++) {
    const folder = join(root, 'memory', 'cases', idOf(number))
    mkdirSync(folder)
    const minutes = String(number % 60).padStart(2, '0')
    writeFileSync(
      join(folder, 'case.md'),
      `---\nid: ${idOf(number)}\ntitle: Case number ${number}\ncreated_at: 2026-01-05T08:${minutes}:00.000Z\nstate: ${STATES[number % STATES.length]}\ntype: bug\ntags: [many]\n---\n\nOne of many.\n`,
    )
  }
}

inBrowser('5,000 cases: counted, paged, walked and searched without lag', async (t, visitor) => {
  const service = await serveSample(t, addCases)
  const page = await visitor.open(service.url)
  await isLive(page)
  const result = page.locator('#filter-result')
  const rows = page.locator('[data-row]')

  const all = page.getByRole('link', { name: `All ${ALL}` })
  await all.waitFor()
  t.equal(await rows.count(), 100, 'a page of them')

  const focused = () => page.evaluate(() => document.activeElement?.textContent)

  await t.test('j and k walk the rows of a page, ] and [ turn it', async (t) => {
    for (let presses = 0; presses < 30; presses++) await page.keyboard.press('j')
    const top = await page.evaluate(() => document.activeElement?.getBoundingClientRect().top ?? -1)
    t.ok(top > 0 && top < 800, 'the row that has the focus is in sight')
    t.ok(await page.evaluate(() => document.activeElement?.matches('[data-row]')))
    const before = await focused()
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    t.equal(await focused(), before)
    const first = await rows.first().textContent()
    await page.keyboard.press(']')
    await page.getByText('page 2 of 51').waitFor()
    t.match(page.url(), /\/\?page=2$/)
    await eventually(focused, (text) => text !== first && text !== before)
    t.equal(await focused(), await rows.first().textContent(), 'its first row has the focus')
    t.equal(await page.evaluate(() => scrollY), 0)
    await page.keyboard.press('[')
    await page.getByText('page 1 of 51').waitFor()
    t.equal(await rows.first().textContent(), first)
  })

  await t.test('a page turns fast', async (t) => {
    // what the page itself takes long for, it does each time; the rest of the machine does not
    const took: number[] = []
    while (took.length < 3 && !took.some((ms) => ms < PAGE_MS)) {
      const number = took.length + 2
      const began = performance.now()
      await page.keyboard.press(']')
      await page.getByText(`page ${number} of 51`).waitFor()
      took.push(performance.now() - began)
    }
    t.ok(Math.min(...took) < PAGE_MS, `within ${PAGE_MS} ms`, { took })
  })

  await t.test('Back, and the key of the list, lead to the row that was left', async (t) => {
    await page.goto(`${service.url}/?page=2`)
    await isLive(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const left = await focused()
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: left! }).waitFor()
    await page.goBack()
    await page.getByText('page 2 of 51').waitFor()
    await eventually(focused, (text) => text === left)
    await isLive(page)
    await page.keyboard.press('j')
    await eventually(focused, (text) => text !== left)
    await page.keyboard.press('k')
    await eventually(focused, (text) => text === left)

    await page.goto(`${service.url}/?state=WATCHLIST`)
    await isLive(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const second = await focused()
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: second! }).waitFor()
    await page.keyboard.press('g')
    await page.waitForURL('**/?state=WATCHLIST')
    await eventually(focused, (text) => text === second)
    await page.keyboard.press('n')
    await page.waitForURL('**/new')
    await eventually(
      () => page.evaluate(() => document.activeElement?.id),
      (id) => id === 'new-title',
    )
    await page.getByRole('link', { name: 'Casefile' }).click()
    await all.waitFor()
    t.equal(new URL(page.url()).search, '', 'the brand leads to the whole list')
    await isLive(page)
  })

  await t.test(
    'keys can be turned off, in every tab, until they are turned on again',
    async (t) => {
      const field = page.locator('#filter-q')
      t.equal(await field.getAttribute('aria-keyshortcuts'), '/')
      const turn = async () => {
        await page.getByRole('button', { name: 'Keys' }).click()
        await page.getByRole('checkbox', { name: /Use single keys/ }).click()
        await page.getByRole('button', { name: 'Close' }).click()
      }
      await turn()
      t.equal(await field.getAttribute('aria-keyshortcuts'), null)
      await page.reload()
      await isLive(page)
      await page.keyboard.press('n')
      await page.keyboard.press('/')
      t.equal(new URL(page.url()).pathname, '/')
      t.notOk(await field.evaluate((element) => element === document.activeElement))
      await turn()
      await page.keyboard.press('/')
      t.ok(await field.evaluate((element) => element === document.activeElement))
      await page.keyboard.press('Escape')
    },
  )

  await t.test('Escape ends the search', async (t) => {
    await page.keyboard.press('/')
    await page.keyboard.type('number 43')
    await eventually(
      () => page.url(),
      (url) => url.includes('?q=number%2043'),
    )
    await eventually(
      () => result.innerText(),
      (text) => /^\d+ of /.test(text),
    )
    await page.keyboard.press('Escape')
    await eventually(
      () => page.url(),
      (url) => !url.includes('?q='),
    )
    await eventually(
      () => result.innerText(),
      (text) => text.trim() === '',
    )
    await all.waitFor()
    t.equal(await page.locator('#filter-q').inputValue(), '')
    await page.keyboard.press('Escape')
    t.notOk(await page.evaluate(() => document.activeElement?.matches('#filter-q')), 'left')
  })

  await t.test('a search finds the one', async (t) => {
    await page.keyboard.press('Home')
    await page.keyboard.press('/')
    await page.keyboard.type('number 4321')
    await eventually(
      () => rows.allInnerTexts(),
      (titles) => titles.length === 1 && titles[0] === 'Case number 4321',
    )
    t.match(page.url(), /q=number(\+|%20)4321/, 'which stands in the address')
    t.match(await result.innerText(), `1 of ${ALL} cases`)
    await page.goBack()
    await all.waitFor()
  })

  await t.test('a change of one case is shown', async () => {
    await page.evaluate(() => scrollTo(0, 0))
    const first = await rows.first().getAttribute('href')
    await must(service, 'PUT', `/cases/${first?.split('/').at(2)}`, { title: 'Changed meanwhile' })
    await page.getByText('Changed meanwhile').waitFor()
  })
})
