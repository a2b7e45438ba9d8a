import { eventually, inBrowser } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'

function patchOf(name: string, lines: number): string {
  const added = Array.from({ length: lines }, (_, at) => `+let ${name}${at} = ${at} // "x"\n`)
  return [
    `diff --git a/src/${name}.js b/src/${name}.js\n--- a/src/${name}.js\n+++ b/src/${name}.js\n`,
    `@@ -1,2 +1,${lines + 1} @@\n let first\n-let old = 1\n`,
    ...added,
  ].join('')
}

const PATCH = ['a', 'b', 'c'].map((name) => patchOf(name, 30)).join('') + patchOf('large', 1800)

inBrowser('a diff is read file by file', async (t, visitor) => {
  const service = await serveSample(t)
  const { json: made } = await service.request('POST', '/cases', { title: 'A diff' })
  const { json: proof } = await service.request('POST', `/cases/${made.id}/proof`, {
    type: 'diff',
    content: PATCH,
  })
  const address = `${service.url}/case/${made.id}/proof/${proof.id}`
  const page = await visitor.open(address, { bypassCSP: true })
  const file = (name: string) => page.locator(`.file[data-file="src/${name}.js"]`)
  await file('a').waitFor()

  await t.test('the keys lead along the files', async (t) => {
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest<HTMLElement>('.file')?.dataset.file)
    t.equal(await focused(), 'src/b.js')
  })

  await t.test('the tree leads to a file, and shows which one is read', async (t) => {
    await page.locator('.tree-file', { hasText: 'b.js' }).click()
    t.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY')
    await page.locator('.tree-file[aria-current]', { hasText: 'b.js' }).waitFor()
  })

  await t.test('a large file is loaded when the reader asks, and stays', async (t) => {
    t.equal(await file('large').locator('td.code').count(), 0)
    await file('large').getByRole('link', { name: 'Load 1,802 lines' }).click()
    await eventually(async () => (await file('large').locator('td.code').count()) === 1802)
    // a change of the case refreshes the page
    await service.request('PUT', `/cases/${made.id}/proof/${proof.id}/verify`)
    await page.getByText('verified').first().waitFor()
    t.equal(await file('large').locator('td.code').count(), 1802)
  })

  await t.test('a line has an address, also in a file that is not loaded', async (t) => {
    const id = await file('large').getAttribute('id')
    await page.goto('about:blank')
    await page.goto(`${address}#${id}-R700`)
    const line = file('large').locator('td.code[data-side=new][data-line="700"]')
    await line.waitFor()
    await eventually(() => page.locator(`#${id}-R700:target`).count())
    await page.locator(`#${id}-R700 a`).focus()
    await page.keyboard.press('ArrowDown')
    t.equal(await page.evaluate(() => document.activeElement?.textContent), '701')
  })

  await t.test('side by side, which this browser remembers', async (t) => {
    await page.goto(address)
    await page.getByRole('link', { name: 'Split' }).click()
    await page.locator('table.split').first().waitFor()
    await page.goto(address)
    await page.locator('table.split').first().waitFor()
    t.match(page.url(), 'diff=split')
    t.strictSame(await axeViolations(page), [])
    await page.getByRole('link', { name: 'Unified' }).click()
    await page.locator('table.diff:not(.split)').first().waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    t.strictSame(await axeViolations(page), [])
    await page.setViewportSize({ width: 390, height: 844 })
    const isWide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return scrollWidth > clientWidth
    })
    t.equal(isWide, false, 'a phone does not scroll it sideways')
  })

  await t.test('without the script all of it can be read', async (t) => {
    const plain = await visitor.open(address, { javaScriptEnabled: false })
    t.equal(await plain.locator('td.code').count(), 3 * 32)
    await plain.getByRole('link', { name: 'Load 1,802 lines' }).click()
    await eventually(async () => (await plain.locator('td.code').count()) === 1802)
  })
})
