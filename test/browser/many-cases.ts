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
/** What may lie between two pictures; on a busy machine as well. */
const FRAME_MS = 700

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

inBrowser('5,000 cases: counted, walked, searched and scrolled without lag', async (t, visitor) => {
  const service = await serveSample(t, addCases)
  const page = await visitor.open(service.url)
  await isLive(page)
  const result = page.locator('#filter-result')
  const rows = page.locator('[data-row]')

  const all = page.getByRole('link', { name: `All ${ALL}` })
  await all.waitFor()
  t.ok((await rows.count()) <= 1300, 'only what is near is there')

  await t.test('j goes over the border of what was there', async (t) => {
    for (let presses = 0; presses < 130; presses++) await page.keyboard.press('j')
    const place = await eventually(
      () => page.evaluate(() => document.activeElement?.getBoundingClientRect().top ?? -1),
      (top) => top > 0 && top < 800,
    )
    t.ok(place, 'the row that has the focus is in sight')
    t.ok(await page.evaluate(() => document.activeElement?.matches('[data-row]')))
    const before = await page.evaluate(() => document.activeElement?.textContent)
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    await eventually(
      () => page.evaluate(() => document.activeElement?.textContent),
      (text) => text === before,
    )
  })

  await t.test('Back, and the key of the list, lead to the row that was left', async (t) => {
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    const left = await focused()
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: left! }).waitFor()
    let isOld = false // as where cases moved meanwhile: its rows do not come at once
    await page.route('**/*chunk=*', (route) => {
      if (isOld) return route.continue()
      isOld = true
      return route.fulfill({ contentType: 'text/html', body: '<ul data-order="another"></ul>' })
    })
    await page.goBack()
    await all.waitFor()
    await eventually(focused, (text) => text === left)
    t.ok(isOld, 'its rows were asked for twice')
    await page.unroute('**/*chunk=*')
    t.ok(await page.evaluate(() => document.activeElement?.matches('[data-row]')))
    await isLive(page)
    await page.keyboard.press('j')
    const next = await eventually(focused, (text) => text !== left)
    await page.keyboard.press('k')
    await eventually(focused, (text) => text === left)

    await page.goto(`${service.url}/?state=WATCHLIST`)
    await isLive(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const second = await focused()
    t.not(second, next)
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

  await t.test('it scrolls to its end, and the last rows are there', async (t) => {
    // what the page itself takes long for, it does each time; the rest of the machine does not
    const longest: number[] = []
    while (longest.length < 3 && !longest.some((ms) => ms < FRAME_MS)) {
      longest.push(await page.evaluate(scrolledDown))
    }
    t.ok(Math.min(...longest) < FRAME_MS, `no picture took ${FRAME_MS} ms`, { longest })
    await page.keyboard.press('End')
    await eventually(
      () =>
        rows.last().evaluate((row) => {
          const { top } = row.getBoundingClientRect()
          return top > 0 && top < innerHeight
        }),
      Boolean,
    )
    t.ok((await rows.count()) <= 1300, 'still only what is near')
  })

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

/** In the page: goes from the top to the end in 120 pictures, and gives the longest time between two. */
function scrolledDown(): Promise<number> {
  return new Promise((resolve) => {
    const times: number[] = []
    let before = performance.now()
    function frame(now: number) {
      times.push(now - before)
      before = now
      const all = document.documentElement.scrollHeight - innerHeight
      scrollTo({ top: (all * times.length) / 120, behavior: 'instant' })
      if (times.length < 120) requestAnimationFrame(frame)
      else resolve(Math.max(...times))
    }
    requestAnimationFrame(frame)
  })
}
